package op

import (
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Stage{
	Doc: spec.Doc{Name: "derive", Group: "columns", Signature: "derive NAME = EXPR, …",
		Text: "Add columns, or replace those of the same name. Each item sees the ones before it.",
		Examples: []spec.Example{{
			Code: `rows([{net: 10.0}]) |> derive vat = net * 0.25, gross = net + vat`,
			Want: `{"net":10,"vat":2.5,"gross":12.5}`}}},
	StageSig: types.StageSig{Items: types.Assign,
		Output: func(in []types.Stream, a *types.StageArgs) (types.Stream, error) {
			out := in[0]
			fields := append([]types.Field(nil), out.Schema.Fields...)
			for _, it := range a.Items {
				fields = assign(fields, types.Field{Name: it.Name, Type: it.Expr.Type})
			}
			out.Schema.Fields = fields
			return out, nil
		}},
	Steps: deriveSteps,
})

// assign replaces the field of the same name, or adds it.
func assign(fields []types.Field, f types.Field) []types.Field {
	for i := range fields {
		if fields[i].Name == f.Name {
			fields[i] = f
			return fields
		}
	}
	return append(fields, f)
}

// deriveSteps makes projections of the items: a new one begins where an item reads one of the projection before it.
func deriveSteps(in types.Schema, a *types.StageArgs) []spec.Step {
	n := len(in.Fields)
	fields := append([]types.Field(nil), in.Fields...)
	where := make([]int, len(a.Items)) // column that item k stands in
	var steps []spec.Step
	var project []types.Item
	since := 0 // first item of the open projection
	open := func() {
		project = make([]types.Item, len(fields))
		s := types.Schema{Fields: fields}
		for i := range fields {
			project[i] = types.Item{Name: fields[i].Name, Expr: types.ColRef(s, i)}
		}
	}
	open()
	for k, it := range a.Items {
		reads := false
		it.Expr.Walk(func(e *types.Expr) bool {
			reads = reads || e.Op == types.OpCol && e.Col >= n+since
			return true
		})
		if reads {
			steps = append(steps, spec.Step{Project: project})
			open()
			since = k
		}
		e := it.Expr.Shift(func(c int) int {
			if c >= n {
				return where[c-n]
			}
			return c
		})
		before := len(fields)
		fields = assign(fields, types.Field{Name: it.Name, Type: it.Expr.Type})
		if len(fields) > before {
			where[k] = before
			project = append(project, types.Item{Name: it.Name, Expr: e})
			continue
		}
		where[k] = types.Schema{Fields: fields}.Index(it.Name)
		project[where[k]] = types.Item{Name: it.Name, Expr: e}
	}
	return append(steps, spec.Step{Project: project})
}
