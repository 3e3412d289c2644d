package op

import (
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Stage{
	Doc: spec.Doc{Name: "drop", Group: "columns", Signature: "drop COLUMN, …",
		Text: "Leave columns out.",
		Examples: []spec.Example{{
			Code: `rows([{id: 7, secret: "x", n: 2}]) |> drop secret`,
			Want: `{"id":7,"n":2}`}}},
	StageSig: types.StageSig{Items: types.ColumnList,
		Output: func(in []types.Stream, a *types.StageArgs) (types.Stream, error) {
			out := in[0]
			kept := dropKeeps(in[0].Schema, a)
			if len(kept) == 0 {
				return out, &types.StageError{Code: "C331", Message: "`drop` leaves no column", Help: "keep at least one column"}
			}
			out.Schema = types.Schema{Fields: make([]types.Field, len(kept))}
			for i, it := range kept {
				out.Schema.Fields[i] = types.Field{Name: it.Name, Type: it.Expr.Type}
			}
			out.Windowed = out.Windowed && out.Schema.Index("window") >= 0
			return out, nil
		}},
	Steps: func(in types.Schema, a *types.StageArgs) []spec.Step {
		return []spec.Step{{Project: dropKeeps(in, a)}}
	},
})

func dropKeeps(in types.Schema, a *types.StageArgs) []types.Item {
	gone := map[int]bool{}
	for _, it := range a.Items {
		gone[it.Expr.Col] = true
	}
	var kept []types.Item
	for i, f := range in.Fields {
		if !gone[i] {
			kept = append(kept, types.Item{Name: f.Name, Expr: types.ColRef(in, i)})
		}
	}
	return kept
}
