package fn

import (
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "sum", Group: "list", Signature: "sum(xs: [int | float | duration]) -> like its elements",
		Text:     "The sum of a list, 0 if it is empty, null if an element is. As an aggregate see `sum` there; inside of `aggregate` this one is `::sum`.",
		Examples: []spec.Example{{Code: "sum([1, 2, 3])", Want: "6"}, {Code: "sum([0.5, 1.5])", Want: "2.0"}}},
	Overloads: []spec.Overload{
		{Sig: types.Sig{Params: []types.Type{types.ListOf(intT)}, Infer: nullableAs(intT)}, Kernel: sumInts},
		{Sig: types.Sig{Params: []types.Type{types.ListOf(floatT)}, Infer: nullableAs(floatT)}, Kernel: floatsOf(func(x []float64) float64 {
			s := 0.0
			for _, v := range x {
				s += v
			}
			return s
		})},
		{Sig: types.Sig{Params: []types.Type{types.ListOf(durationT)}, Infer: nullableAs(durationT)}, Kernel: sumInts},
	},
})

func sumInts(c *eval.Call) {
	a := c.Args[0].Col
	each(c, func(i int) {
		lo, hi := int(a.Offs[i]), int(a.Offs[i+1])
		if anyNull(a.Kids[0], lo, hi) {
			c.SetNull(i)
			return
		}
		s := int64(0)
		for _, v := range a.Kids[0].Ints[lo:hi] {
			s += v
		}
		c.Out.Ints[i] = s
	})
}
