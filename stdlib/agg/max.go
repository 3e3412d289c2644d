package agg

import (
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Agg{
	Doc: spec.Doc{Name: "max", Group: "values", Signature: "max(x) -> same",
		Text: "The largest value that is not null: of numbers, strings, times, durations, bools or bytes. NaN is above all numbers; over nothing it is null.",
		Examples: []spec.Example{{
			Code: `rows([{a: 3}, {a: 11}, {a: nil}]) |> aggregate top = max(a)`,
			Want: `{"top":11}`}}},
	AggSig: types.AggSig{Params: []types.AggParam{{Name: "x", Kinds: ordered}}, Result: sameType},
	New:    func(call *types.AggCall) (spec.Aggregate, error) { return newExtreme(call, 1), nil },
})
