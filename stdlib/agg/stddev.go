package agg

import (
	"math"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Agg{
	Doc: spec.Doc{Name: "stddev", Group: "numbers", Signature: "stddev(x: float) -> float?",
		Text: "The standard deviation of the sample: the square root of `variance`. It is null of fewer than two values.",
		Examples: []spec.Example{{
			Code: `rows([{a: 1}, {a: 3}, {a: 5}]) |> aggregate s = stddev(a)`,
			Want: `{"s":2}`}}},
	AggSig: types.AggSig{Params: []types.AggParam{{Name: "x", Kinds: floats}}, Result: always(types.T(types.Float).Null()), Retracts: true},
	New: func(call *types.AggCall) (spec.Aggregate, error) {
		return moments{t: call.Result, finish: math.Sqrt}, nil
	},
})
