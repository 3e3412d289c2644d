package op

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/lang/types"
)

// casesFile reads a file of the cases from elsewhere; the test is skipped where they are not.
func casesFile(t *testing.T, name string) []byte {
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	data, err := os.ReadFile(filepath.Join(dir, "../shared/cases/streams", name))
	if os.IsNotExist(err) {
		t.Skipf("SKIPPED: the cases are not here (../shared/cases/streams/%s)", name)
	}
	require.NoError(t, err)
	return data
}

func typeNamed(s string) types.Type {
	name, null := strings.CutSuffix(s, "?")
	for k := types.Bool; k <= types.Duration; k++ {
		if k.String() == name {
			return types.T(k).OrNull(null)
		}
	}
	panic(s)
}

func caseTime(s string) int64 {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UnixNano()
		}
	}
	panic(s)
}

// caseValue makes a value of JSON one of a column.
func caseValue(t types.Type, v any) any {
	switch x := v.(type) {
	case nil:
		return nil
	case json.Number:
		if t.Kind == types.Float {
			f, _ := x.Float64()
			return f
		}
		i, err := x.Int64()
		if err != nil {
			f, _ := x.Float64()
			return f
		}
		return i
	case string:
		if t.Kind == types.Time {
			return caseTime(x)
		}
	}
	return v
}

func decode(t *testing.T, data []byte, to any) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	require.NoError(t, d.Decode(to))
}

// add appends a row; its watermark follows from the rows before it.
func (a *aggregateTest) add(at int64, values []any) {
	mark := types.MinInstant
	for _, r := range a.rows {
		mark = max(mark, r.time-a.lag)
	}
	a.rows = append(a.rows, testRow{time: at, mark: mark, pos: uint64(len(a.rows)), values: values})
}

// gives runs the case several times and compares with the rows that must come out.
func (a *aggregateTest) gives(t *testing.T, want []string) {
	sort.Strings(want)
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 1))
		a.run(t, rng.IntN)
		require.Equal(t, want, a.out)
		own, _ := a.expect()
		require.Equal(t, want, own)
	}
}

func windowAs(start, end int64) string { return fmt.Sprintf("{end:%d start:%d }", end, start) }

func TestCasesFlink(t *testing.T) {
	var cases []struct {
		ID      string
		Sources map[string]struct {
			Columns map[string]string
			Rows    [][]any
			After   [][]any `json:"rows_after_restart"`
			Time    string
			Lag     string
		}
		Expected struct {
			Rows   [][]any
			Before [][]any `json:"rows_before_restart"`
			After  [][]any `json:"rows_after_restart"`
		}
	}
	data := casesFile(t, "flink/cases.json")
	decode(t, data, &cases)
	order := map[string][]string{"t": {"ts", "a_int", "comment", "name"}}
	ms := int64(time.Second)
	for _, c := range cases {
		var w *types.Window
		by, calls := "name", []func(a *aggregateTest){}
		count := func(a *aggregateTest) { a.call("count", nil) }
		windowed := false
		switch c.ID {
		case "window-tumble":
			w, windowed = &types.Window{Kind: types.Tumbling, Size: 5 * ms}, true
		case "window-hop":
			w, windowed = &types.Window{Kind: types.Hopping, Size: 10 * ms, Step: 5 * ms}, true
		case "window-cumulate":
			w, windowed = &types.Window{Kind: types.Cumulate, Size: 15 * ms, Step: 5 * ms}, true
		case "window-session":
			w = &types.Window{Kind: types.Session, Size: 3 * ms}
		case "group-aggregate-restart":
			by = "b"
		default:
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			src := c.Sources["t"]
			names := order["t"]
			if by == "b" {
				names = []string{"a", "b", "c"}
			}
			a := &aggregateTest{in: types.Stream{Time: src.Time != "", Bounded: true}}
			for _, n := range names {
				a.in.Schema.Fields = append(a.in.Schema.Fields, types.Field{Name: n, Type: typeNamed(src.Columns[n])})
			}
			a.args.Window = w
			if src.Lag != "" {
				d, err := time.ParseDuration(src.Lag)
				require.NoError(t, err)
				a.lag = int64(d)
			}
			if by == "b" { // a of the rows with a > 1, as a column
				a.in.Schema.Fields[0].Type = types.T(types.Int).Null()
			}
			a.by(by)
			calls = append(calls, count)
			switch {
			case windowed:
				calls = append(calls, func(a *aggregateTest) { a.call("sum", []string{"a_int"}) }, func(a *aggregateTest) { a.call("distinct", []string{"comment"}) })
			case by == "b":
				calls = append(calls, func(a *aggregateTest) { a.call("avg", []string{"a"}) }, func(a *aggregateTest) { a.call("min", []string{"c"}) })
			}
			for _, f := range calls {
				f(a)
			}
			for _, r := range append(src.Rows, src.After...) {
				var values []any
				for i, v := range r {
					values = append(values, caseValue(a.in.Schema.Fields[i].Type, v))
				}
				at := int64(0)
				if a.in.Time {
					at = values[0].(int64)
				} else if values[0].(int64) <= 1 {
					values[0] = nil
				}
				a.add(at, values)
			}
			var want []string
			rows := append(c.Expected.Before, c.Expected.After...)
			if c.Expected.Rows != nil {
				rows = c.Expected.Rows
			}
			for _, r := range rows {
				parts := []string{valueText(caseValue(types.Type{}, r[0]))}
				rest := r[1:]
				if windowed {
					parts = append(parts, windowAs(caseTime(rest[0].(string)), caseTime(rest[1].(string))))
					rest = rest[2:]
				}
				for _, v := range rest {
					parts = append(parts, valueText(caseValue(types.Type{}, v)))
				}
				want = append(want, strings.Join(parts, "|"))
			}
			if w != nil && !windowed { // the case shows no window
				a.run(t, rand.New(rand.NewPCG(1, 1)).IntN)
				for i, s := range a.out {
					parts := strings.Split(s, "|")
					a.out[i] = parts[0] + "|" + parts[2]
				}
				require.ElementsMatch(t, want, a.out)
				return
			}
			a.gives(t, want)
		})
	}
}

func TestCasesKSQL(t *testing.T) {
	var cases []struct {
		ID     string
		Inputs map[string]struct {
			Rows []struct {
				TS  int64
				Row map[string]any
			}
		}
		Final []struct {
			Key    any
			Value  any
			Window []int64
		} `json:"expected_final"`
		Closed []struct {
			Key    any
			Window []int64
			Count  int64
		} `json:"definition_based_closed_windows"`
	}
	decode(t, casesFile(t, "ksqldb/cases.json"), &cases)
	i, s := types.T(types.Int).Null(), types.T(types.String).Null()
	type use struct {
		key, value types.Type
		column     string
		by         string
		agg        string
		window     *types.Window
		lag        int64
		final      func(v any) string // the result in an expected value
	}
	field := func(name string) func(any) string {
		return func(v any) string { return valueText(caseValue(types.Type{}, v.(map[string]any)[name])) }
	}
	text := func(v any) string { parts := strings.Split(v.(string), ","); return parts[len(parts)-1] }
	day := int64(86_400_000)
	uses := map[string]use{
		"tumbling-windows-000":   {i, i, "value", "id", "max", &types.Window{Kind: types.Tumbling, Size: 30_000}, day, text},
		"hopping-windows-001":    {i, i, "value", "id", "max", &types.Window{Kind: types.Hopping, Size: 30_000, Step: 15_000}, 60_000, text},
		"hopping-windows-005":    {i, i, "rowkey", "id", "count", &types.Window{Kind: types.Hopping, Size: 5_000, Step: 1_000}, day, field("count")},
		"window-bounds-002":      {i, s, "ignored", "id", "count", &types.Window{Kind: types.Hopping, Size: 30_000, Step: 5_000}, day, text},
		"suppress-005":           {s, s, "col1", "id", "count", &types.Window{Kind: types.Tumbling, Size: 2}, 1, field("count")},
		"suppress-011":           {s, s, "col1", "id", "count", &types.Window{Kind: types.Hopping, Size: 5, Step: 2}, 1, field("count")},
		"average-udaf-000":       {s, i, "value", "id", "avg", nil, 0, field("avg")},
		"max-group-by-000":       {i, i, "value", "id", "max", nil, 0, field("value")},
		"latest-offset-udaf-006": {i, i, "f0", "id", "last", nil, 0, field("l0")},
		"latest-offset-udaf-016": {i, i, "f0", "id", "last", &types.Window{Kind: types.Session, Size: 1_000}, day, field("l0")},
	}
	seen := 0
	for _, c := range cases {
		u, ok := uses[c.ID]
		if !ok {
			continue
		}
		seen++
		t.Run(c.ID, func(t *testing.T) {
			a := &aggregateTest{in: types.Stream{Time: true, Bounded: true, Schema: types.NewSchema(types.Field{Name: u.by, Type: u.key}, types.Field{Name: u.column, Type: u.value})}, lag: u.lag}
			a.args.Window = u.window
			a.by(u.by)
			if u.agg == "count" {
				a.call("count", nil)
			} else {
				a.call(u.agg, []string{u.column})
			}
			for _, in := range c.Inputs {
				for _, r := range in.Rows {
					a.add(r.TS, []any{caseValue(u.key, r.Row[u.by]), caseValue(u.value, r.Row[u.column])})
				}
			}
			var want []string
			for _, f := range c.Final {
				if len(c.Closed) > 0 {
					break
				}
				row := valueText(caseValue(u.key, f.Key)) + "|"
				if u.window != nil {
					if u.window.Kind == types.Session {
						f.Window[1] += u.window.Size // the peer's sessions end with their last row
					}
					row += windowAs(f.Window[0], f.Window[1]) + "|"
				}
				want = append(want, row+u.final(f.Value))
			}
			a.run(t, rand.New(rand.NewPCG(1, 1)).IntN)
			out := a.out[:0]
			for _, row := range a.out {
				if !strings.Contains(row, "start:-") { // the peer makes no windows before time 0
					out = append(out, row)
				}
			}
			if len(c.Closed) > 0 { // what had closed before the end of the input
				for _, f := range c.Closed {
					require.Contains(t, out, fmt.Sprintf("%v|%s|%d", f.Key, windowAs(f.Window[0], f.Window[1]), f.Count))
				}
				return
			}
			require.ElementsMatch(t, want, out)
		})
	}
	require.Equal(t, len(uses), seen)
}
