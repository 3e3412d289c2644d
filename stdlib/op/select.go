package op

import (
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Stage{
	Doc: spec.Doc{Name: "select", Group: "columns", Signature: "select [NAME =] EXPR, …",
		Text: "Say which columns go on, and how they are made. All items see the input row. A path without a name takes its last part as name.",
		Examples: []spec.Example{{
			Code: `rows([{id: 7, at: {city: "Oslo"}, n: 2}]) |> select at.city, id, twice = 2 * n`,
			Want: `{"city":"Oslo","id":7,"twice":4}`}}},
	StageSig: types.StageSig{Items: types.Project,
		Output: func(in []types.Stream, a *types.StageArgs) (types.Stream, error) {
			out := in[0]
			out.Schema = types.Schema{Fields: make([]types.Field, len(a.Items))}
			out.Windowed = false
			for i, it := range a.Items {
				out.Schema.Fields[i] = types.Field{Name: it.Name, Type: it.Expr.Type}
				if in[0].Windowed && it.Name == "window" && it.Expr.Op == types.OpCol && it.Expr.Name == "window" {
					out.Windowed = true
				}
			}
			return out, nil
		}},
	Steps: func(_ types.Schema, a *types.StageArgs) []spec.Step {
		return []spec.Step{{Project: a.Items}}
	},
})
