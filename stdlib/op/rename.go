package op

import (
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Stage{
	Doc: spec.Doc{Name: "rename", Group: "columns", Signature: "rename NEW = OLD, …",
		Text: "Give columns other names; they stay where they are.",
		Examples: []spec.Example{{
			Code: "rows([{id: 7, @\"Body Mass (g)\": 3750}]) |> rename mass = @\"Body Mass (g)\"",
			Want: `{"id":7,"mass":3750}`}}},
	StageSig: types.StageSig{Items: types.Renames,
		Output: func(in []types.Stream, a *types.StageArgs) (types.Stream, error) {
			out := in[0]
			items := renamed(in[0].Schema, a)
			out.Schema = types.Schema{Fields: make([]types.Field, len(items))}
			for i, it := range items {
				out.Schema.Fields[i] = types.Field{Name: it.Name, Type: it.Expr.Type}
			}
			if d := out.Schema.Duplicate(); d != "" {
				return out, &types.StageError{Code: "N105", Message: "two columns are called `" + d + "` after `rename`", Help: "choose another name, or `drop " + types.QuoteName(d) + "` first"}
			}
			out.Windowed = out.Windowed && out.Schema.Index("window") >= 0
			return out, nil
		}},
	Steps: func(in types.Schema, a *types.StageArgs) []spec.Step {
		return []spec.Step{{Project: renamed(in, a)}}
	},
})

func renamed(in types.Schema, a *types.StageArgs) []types.Item {
	items := make([]types.Item, len(in.Fields))
	for i, f := range in.Fields {
		items[i] = types.Item{Name: f.Name, Expr: types.ColRef(in, i)}
	}
	for _, it := range a.Items {
		items[it.Expr.Col].Name = it.Name
	}
	return items
}
