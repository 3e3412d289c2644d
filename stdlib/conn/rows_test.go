package conn

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

func record(kv ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i < len(kv); i += 2 {
		m[kv[i].(string)] = kv[i+1]
	}
	return m
}

// rowsCall reads a rows call with all that the checker would say.
func rowsCall(tb testing.TB, list []any, t types.Type, declared *types.Schema) (types.Schema, string, error) {
	c := connector(tb, "rows")
	a := callArgs(c, map[string]any{"rows": list})
	if t.Kind != types.Invalid {
		a.Types["rows"] = t
	}
	info, err := c.Info(a, declared, exec.OS())
	if err != nil {
		return types.Schema{}, "", err
	}
	if !info.Bounded || info.Time != "" {
		return types.Schema{}, "", fmt.Errorf("bounded %v, time %s", info.Bounded, info.Time)
	}
	batches, err := rowsBatches(a, info.Schema)
	if err != nil || len(batches) == 0 {
		return info.Schema, "", err
	}
	return info.Schema, vec.Concat(batches).String(), nil
}

func TestRows(t *testing.T) {
	intT, strT, timeT := types.T(types.Int), types.T(types.String), types.T(types.Time)
	at := time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC).UnixNano()
	schema := func(fields ...types.Field) *types.Schema { s := types.NewSchema(fields...); return &s }
	for _, c := range []struct {
		name     string
		list     []any
		typ      types.Type
		declared *types.Schema
		schema   string
		rows     string
		err      string
	}{
		{name: "from values", list: []any{record("b", "x", "a", int64(1)), record("a", nil, "b", "y")},
			schema: "{a: int?, b: string}", rows: "1, x\n<nil>, y\n"},
		{name: "order and times from the checker", list: []any{record("z", "x", "at", at), record("z", nil, "at", at)},
			typ:    types.ListOf(types.RecordOf(types.Field{Name: "z", Type: strT.Null()}, types.Field{Name: "at", Type: timeT})),
			schema: "{z: string?, at: time}", rows: fmt.Sprintf("x, %d\n<nil>, %d\n", at, at)},
		{name: "missing fields", list: []any{record("a", int64(1)), record("b", 2.5), record("b", int64(3))},
			schema: "{a: int?, b: float?}", rows: "1, <nil>\n<nil>, 2.5\n<nil>, 3\n"},
		{name: "lists and records", list: []any{record("l", []any{int64(1), 2.5}, "r", record("x", true)), record("l", []any{}, "r", nil)},
			schema: "{l: [float?], r: {x: bool}?}", rows: "[1 2.5], map[x:true]\n[], <nil>\n"},
		{name: "nested", list: []any{record("l", []any{int64(1), 2.5}, "r", record("x", true)), record("l", []any{0.5}, "r", nil)},
			schema: "{l: [float], r: {x: bool}?}", rows: "[1 2.5], map[x:true]\n[0.5], <nil>\n"},
		{name: "a declared schema", list: []any{record("n", int64(1)), record("s", "q")},
			declared: schema(types.Field{Name: "s", Type: strT.Null()}, types.Field{Name: "n", Type: types.T(types.Float).Null()}),
			schema:   "{s: string?, n: float?}", rows: "<nil>, 1\nq, <nil>\n"},
		{name: "no rows", declared: schema(types.Field{Name: "n", Type: intT}), schema: "{n: int}"},
		{name: "no rows, no schema", err: "write `schema"},
		{name: "no record", list: []any{record("a", int64(1)), int64(5)}, err: "row 2 is 5, not a record"},
		{name: "kinds differ", list: []any{record("a", int64(1)), record("a", "x")}, err: "row 2: column a: int and string differ"},
		{name: "only nil", list: []any{record("a", nil)}, err: "column a is nil in every row"},
		{name: "nil where it may not be", list: []any{record("a", nil)}, declared: schema(types.Field{Name: "a", Type: intT}), err: "row 1: column a: nil does not go into int; int? takes it"},
		{name: "misfit", list: []any{record("a", "x")}, declared: schema(types.Field{Name: "a", Type: intT}), err: `row 1: column a: "x" is no int`},
		{name: "int is no time", list: []any{record("a", int64(3))}, typ: types.ListOf(types.RecordOf(types.Field{Name: "a", Type: intT})),
			declared: schema(types.Field{Name: "a", Type: timeT}), err: `row 1: column a: 3 is no time`},
		{name: "unknown column", list: []any{record("a", int64(3), "q", nil)}, declared: schema(types.Field{Name: "a", Type: intT}), err: `row 1: no column q in the schema; it has a`},
		{name: "record field", list: []any{record("r", record("x", int64(1), "y", int64(2)))},
			declared: schema(types.Field{Name: "r", Type: types.RecordOf(types.Field{Name: "x", Type: intT})}), err: `row 1: column r: no field y in {x: int}`},
		{name: "list element", list: []any{record("l", []any{int64(1), "x"})}, declared: schema(types.Field{Name: "l", Type: types.ListOf(intT)}), err: `element 2: "x" is no int`},
	} {
		got, rows, err := rowsCall(t, c.list, c.typ, c.declared)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %s", c.name, err, c.err)
			}
			continue
		}
		if err != nil || got.String() != c.schema || rows != c.rows {
			t.Errorf("%s: %v, %s\n%s", c.name, err, got, rows)
		}
	}
}

func TestRowsSource(t *testing.T) {
	var list []any
	for i := range int64(10_000) {
		list = append(list, record("a", i, "b", "x"))
	}
	r := newSourceRun(t, "rows", map[string]any{"rows": list}, 3)
	r.scan.Columns = []int{0}
	batches := r.run()
	if all := vec.Concat(batches); len(batches) != 3 || all.N != 10_000 || all.Cols[0].Ints[9999] != 9999 || len(all.Cols) != 1 || all.Pos[9999]&0xffffff != 9999 {
		t.Errorf("%d batches, %d rows", len(batches), all.N)
	}
	if sources := r.open(); len(sources) != 1 {
		t.Errorf("%d tasks", len(sources))
	}
}
