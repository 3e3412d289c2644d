package agg

import (
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Agg{
	Doc: spec.Doc{Name: "any", Group: "values", Signature: "any(x) -> same",
		Text: "Some value that is not null: the first that was seen, which may differ from run to run. Cheaper than `first`; over nothing it is null.",
		Examples: []spec.Example{{
			Code: `rows([{a: nil}, {a: 7}]) |> aggregate v = any(a)`,
			Want: `{"v":7}`}}},
	AggSig: types.AggSig{Params: []types.AggParam{{Name: "x"}}, Result: sameType},
	New:    func(call *types.AggCall) (spec.Aggregate, error) { return newChosen(call, seenRow), nil },
})
