package op

import (
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Stage{
	Doc: spec.Doc{Name: "where", Group: "rows", Signature: "where EXPR",
		Text: "Keep the rows for which an expression is true. Rows for which it is false or null are dropped.",
		Examples: []spec.Example{{
			Code: `rows([{city: "Oslo", t: 3}, {city: "Rome", t: 21}]) |> where t > 10`,
			Want: `{"city":"Rome","t":21}`}}},
	StageSig: types.StageSig{Items: types.Condition, Output: same},
	Steps: func(_ types.Schema, a *types.StageArgs) []spec.Step {
		return []spec.Step{{Where: a.Items[0].Expr}}
	},
})

// same is the Output of stages that keep the shape of what flows in.
func same(in []types.Stream, _ *types.StageArgs) (types.Stream, error) { return in[0], nil }
