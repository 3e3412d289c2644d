package fn

import (
	"sort"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "median", Group: "list", Signature: "median(xs: [float]) -> float",
		Text:     "The middle element of a sorted list, or the mean of the two in the middle; 0 if it is empty, null if an element is. As an aggregate see `median` there.",
		Examples: []spec.Example{{Code: "median([5, 1, 2])", Want: "2.0"}, {Code: "median([1, 2])", Want: "1.5"}}},
	Overloads: []spec.Overload{{Sig: types.Sig{Params: []types.Type{types.ListOf(floatT)}, Infer: nullableAs(floatT)}, Kernel: floatsOf(func(x []float64) float64 {
		n := len(x)
		if n == 0 {
			return 0
		}
		sort.Float64s(x)
		if n%2 == 1 {
			return x[n/2]
		}
		return (x[n/2-1] + x[n/2]) / 2
	})}},
})
