package agg

import (
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Agg{
	Doc: spec.Doc{Name: "median", Group: "numbers", Signature: "median(x: float | duration) -> float | duration",
		Text: "The value in the middle, `quantile(x, 0.5)`: of an even number of values the mean of the two in the middle. Over nothing it is null.",
		Examples: []spec.Example{{
			Code: `rows([{a: 1}, {a: 2}, {a: 10}, {a: 3}]) |> aggregate m = median(a)`,
			Want: `{"m":2.5}`}}},
	AggSig: types.AggSig{Keeps: types.KeepsRows, Instead: "approx_quantile(x, 0.5)", Params: quantileParams[:1], Result: sameType},
	New:    func(call *types.AggCall) (spec.Aggregate, error) { return newQuantile(call, 0.5), nil },
})
