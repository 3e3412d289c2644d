package op

import (
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Stage{
	Doc: spec.Doc{Name: "assert", Group: "rows", Signature: "assert EXPR [on_error …]",
		Text: "Demand that an expression is true of every row. A row for which it is false or null is a row error: it stops the run unless `on_error` says otherwise.",
		Examples: []spec.Example{{
			Code: `rows([{id: 1, t: 3}, {id: 2, t: -300}]) |> assert t > -274 on_error drop`,
			Want: "{\"id\":1,\"t\":3}"}}},
	StageSig: types.StageSig{Items: types.Condition, Output: same},
	Steps: func(_ types.Schema, a *types.StageArgs) []spec.Step {
		return []spec.Step{{Assert: a.Items[0].Expr}}
	},
})
