package conn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Conn{
	Doc: spec.Doc{
		Name:      "rows",
		Group:     "generators",
		Signature: "rows([{NAME: VALUE, …}, …])",
		Text: "Rows that stand in the script. The columns are those of the source's schema, else all that stand in a row, in the order of the first row; " +
			"what a row leaves out is null.",
		Examples: []spec.Example{
			{Code: `rows([{city: "Rome", visits: 3}, {city: "Oslo", visits: nil}]) |> where visits != nil`, Want: `{"city":"Rome","visits":3}`},
		},
	},
	ConnSig: types.ConnSig{
		Name:   "rows",
		Source: true,
		Params: []types.ConnParam{
			{Name: "rows", Type: types.ListOf(types.T(types.Any)), Required: true, Literal: true, Text: `the rows: [{a: 1, b: "x"}, …]`},
		},
	},
	Info: func(a *types.ConnArgs, declared *types.Schema, _ *exec.Env) (types.SourceInfo, error) {
		schema, err := rowsSchema(a, declared)
		if err != nil {
			return types.SourceInfo{}, misuse(err)
		}
		if _, err = rowsBatches(a, schema); err != nil {
			return types.SourceInfo{}, misuse(err)
		}
		return types.SourceInfo{Schema: schema, Bounded: true}, nil
	},
	Reached: madeReached,
	Open: func(s *spec.Scan) ([]exec.Source, error) {
		whole, err := rowsBatches(s.Args, s.Schema)
		if err != nil {
			return nil, err
		}
		total := int64(0)
		for _, b := range whole {
			total += int64(b.N)
		}
		one := *s
		one.Width = 1
		return made{ticks: total, chunk: vec.MaxRows, maker: func() maker { return &rowsMaker{whole, s.Columns} }}.open(&one)
	},
})

// rowsMaker gives the rows out, batch by batch.
type rowsMaker struct {
	whole   []*vec.Batch
	columns []int
}

func (m *rowsMaker) make(from, _ int64) ([]*vec.Column, int) {
	b := m.whole[from/vec.MaxRows]
	cols := make([]*vec.Column, len(m.columns))
	for i, c := range m.columns {
		cols[i] = b.Cols[c]
	}
	return cols, b.N
}

// rowsOf returns the rows of a call.
func rowsOf(a *types.ConnArgs) ([]any, types.Type, error) {
	t := a.Types["rows"]
	switch x := a.Args["rows"].(type) {
	case []any:
		return x, t, nil
	case map[string]any: // one row
		return []any{x}, types.ListOf(t), nil
	}
	return nil, t, fmt.Errorf(`rows takes a list of records, as in rows([{a: 1, b: "x"}])`)
}

// rowsSchema is the declared schema, or what the values say.
func rowsSchema(a *types.ConnArgs, declared *types.Schema) (types.Schema, error) {
	if declared != nil {
		return *declared, nil
	}
	list, t, err := rowsOf(a)
	if err != nil {
		return types.Schema{}, err
	}
	if len(list) == 0 {
		return types.Schema{}, fmt.Errorf("without rows the columns are not known: write `schema { … }` behind rows([])")
	}
	var schema types.Schema
	seen := make(map[string]int) // in how many rows
	for i, v := range list {
		row, ok := v.(map[string]any)
		if !ok {
			return types.Schema{}, fmt.Errorf("row %d is %s, not a record", i+1, shortValue(v))
		}
		known := types.Type{}
		if t.Kind == types.List {
			known = *t.Elem
		}
		for _, name := range orderedNames(row, known) {
			var ft types.Type
			if k := known.Field(name); k >= 0 {
				ft = known.Fields[k].Type
			} else if ft, err = typeOfValue(row[name]); err != nil {
				return types.Schema{}, fmt.Errorf("row %d: column %s: %w", i+1, name, err)
			}
			seen[name]++
			at := schema.Index(name)
			if at < 0 {
				schema.Fields = append(schema.Fields, types.Field{Name: name, Type: ft})
				continue
			}
			if schema.Fields[at].Type, err = types.Unify(schema.Fields[at].Type, ft); err != nil {
				return types.Schema{}, fmt.Errorf("row %d: column %s: %w", i+1, name, err)
			}
		}
	}
	for i, f := range schema.Fields {
		if f.Type.Kind == types.Null {
			return types.Schema{}, fmt.Errorf("column %s is nil in every row, so its type is not known: write `schema { %s: TYPE?, … }`", f.Name, types.QuoteName(f.Name))
		}
		schema.Fields[i].Type = f.Type.OrNull(seen[f.Name] < len(list))
	}
	return schema, nil
}

// rowsBatches makes the batches of a schema.
func rowsBatches(a *types.ConnArgs, schema types.Schema) ([]*vec.Batch, error) {
	list, t, err := rowsOf(a)
	if err != nil {
		return nil, err
	}
	known := types.Type{}
	if t.Kind == types.List {
		known = *t.Elem
	}
	var out []*vec.Batch
	for start := 0; start < len(list); start += vec.MaxRows {
		rows := list[start:min(start+vec.MaxRows, len(list))]
		b := &vec.Batch{N: len(rows)}
		for _, f := range schema.Fields {
			col := vec.NewBuilder(f.Type)
			for i, v := range rows {
				row, ok := v.(map[string]any)
				if !ok {
					return nil, fmt.Errorf("row %d is %s, not a record", start+i+1, shortValue(v))
				}
				var from types.Type
				if k := known.Field(f.Name); k >= 0 {
					from = known.Fields[k].Type
				}
				if err := fits(row[f.Name], from, f.Type); err != nil {
					return nil, fmt.Errorf("row %d: column %s: %w", start+i+1, f.Name, err)
				}
				col.Append(row[f.Name])
			}
			b.Cols = append(b.Cols, col.Column())
		}
		for i, v := range rows {
			for name := range v.(map[string]any) {
				if schema.Index(name) < 0 {
					return nil, fmt.Errorf("row %d: no column %s in the schema; it has %s", start+i+1, name, strings.Join(schema.Names(), ", "))
				}
			}
		}
		out = append(out, b)
	}
	return out, nil
}

// fits reports why a constant (of type from, if that is known) is no value of type t.
func fits(v any, from, t types.Type) error {
	misfit := fmt.Errorf("%s is no %s", shortValue(v), t)
	if v == nil {
		if t.Nullable || t.Kind == types.Null {
			return nil
		}
		return fmt.Errorf("nil does not go into %s; %s? takes it", t, t)
	}
	ok := false
	switch x := v.(type) {
	case bool:
		ok = t.Kind == types.Bool
	case int64:
		ok = t.Kind == types.Int || t.Kind == types.Float || t.Kind == types.Time || t.Kind == types.Duration
		if from.Kind != types.Invalid && from.Kind != t.Kind && !(from.Kind == types.Int && t.Kind == types.Float) {
			ok = false
			misfit = fmt.Errorf("%s is no %s", types.FormatConst(from, v), t)
		}
	case float64:
		ok = t.Kind == types.Float
	case string:
		ok = t.Kind == types.String || t.Kind == types.Bytes
	case []any:
		if t.Kind != types.List {
			return misfit
		}
		e := types.Type{}
		if from.Kind == types.List {
			e = *from.Elem
		}
		for i, y := range x {
			if err := fits(y, e, *t.Elem); err != nil {
				return fmt.Errorf("element %d: %w", i+1, err)
			}
		}
		return nil
	case map[string]any:
		if t.Kind != types.Record {
			return misfit
		}
		for name := range x {
			if t.Field(name) < 0 {
				return fmt.Errorf("no field %s in %s", name, t)
			}
		}
		for _, f := range t.Fields {
			e := types.Type{}
			if k := from.Field(f.Name); k >= 0 {
				e = from.Fields[k].Type
			}
			if err := fits(x[f.Name], e, f.Type); err != nil {
				return fmt.Errorf("field %s: %w", f.Name, err)
			}
		}
		return nil
	}
	if !ok {
		return misfit
	}
	return nil
}

// shortValue prints a constant for a message.
func shortValue(v any) string {
	t, err := typeOfValue(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	s := []rune(types.FormatConst(t, v))
	if len(s) > 40 {
		s = append(slices.Clip(s[:39]), '…')
	}
	return string(s)
}
