package fn

import (
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "mean", Group: "list", Signature: "mean(xs: [float]) -> float",
		Text:     "The arithmetic mean of a list, 0 if it is empty, null if an element is. Over rows see the aggregate `avg`.",
		Examples: []spec.Example{{Code: "mean([1, 2, 6])", Want: "3.0"}}},
	Overloads: []spec.Overload{{Sig: types.Sig{Params: []types.Type{types.ListOf(floatT)}, Infer: nullableAs(floatT)}, Kernel: floatsOf(func(x []float64) float64 {
		s := 0.0
		for _, v := range x {
			s += v
		}
		return s / max(float64(len(x)), 1)
	})}},
})
