package agg

import (
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Agg{
	Doc: spec.Doc{Name: "arg_min", Group: "values", Signature: "arg_min(x, by) -> type of x",
		Text: "The value of x in the row in which `by` is smallest. Rows in which either is null are left out; of equal ones the earliest counts. Over nothing it is null.",
		Examples: []spec.Example{{
			Code: `rows([{who: "ann", score: 3}, {who: "bob", score: 9}]) |> aggregate worst = arg_min(who, score)`,
			Want: `{"worst":"ann"}`}}},
	AggSig: types.AggSig{Params: []types.AggParam{{Name: "x"}, {Name: "by", Kinds: ordered}}, Result: argType, Ordered: true},
	New:    func(call *types.AggCall) (spec.Aggregate, error) { return newChosen(call, minRow), nil },
})
