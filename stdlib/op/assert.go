package op

import (
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Stage{
	Doc: spec.Doc{Name: "assert", Group: "rows", Signature: "assert EXPR [on_error …]",
		Text: "Demand that an expression is true of every row. A row for which it is false is a row error: it stops the run unless `on_error` says otherwise.",
		Examples: []spec.Example{{
			Code: `rows([{id: 1, t: 3}, {id: 2, t: -300}]) |> assert t > -274 on_error drop`,
			Want: "{\"id\":1,\"t\":3}"}}},
	StageSig: types.StageSig{Items: types.Condition,
		Output: func(in []types.Stream, a *types.StageArgs) (types.Stream, error) {
			if a.Items[0].Expr.Type.Nullable {
				return in[0], &types.StageError{Code: "T202", Clause: "item:0", Message: "`assert` takes a bool, and this can be null",
					Help: "say what null means: `(…) ?? false` fails the row, `(…) ?? true` lets it pass"}
			}
			return in[0], nil
		}},
	Steps: func(_ types.Schema, a *types.StageArgs) []spec.Step {
		return []spec.Step{{Assert: a.Items[0].Expr}}
	},
})
