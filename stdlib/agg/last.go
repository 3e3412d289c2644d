package agg

import (
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Agg{
	Doc: spec.Doc{Name: "last", Group: "values", Signature: "last(x) -> same",
		Text: "The value of the latest row in which it is not null: by event time where the rows have one, ties in the order of the source, else by arrival. Over nothing it is null.",
		Examples: []spec.Example{{
			Code: `rows([{a: 3}, {a: 4}, {a: nil}]) |> aggregate l = last(a)`,
			Want: `{"l":4}`}}},
	AggSig: types.AggSig{Params: []types.AggParam{{Name: "x"}}, Result: sameType, Ordered: true},
	New:    func(call *types.AggCall) (spec.Aggregate, error) { return newChosen(call, lastRow), nil },
})
