package fn

import (
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "abs", Group: "math", Signature: "abs(x: int | float | duration) -> like x",
		Text:     "The value without its sign.",
		Examples: []spec.Example{{Code: "abs(-3)", Want: "3"}, {Code: "abs(-2.5)", Want: "2.5"}, {Code: "abs(-5m)", Want: "5m"}}},
	Overloads: []spec.Overload{
		{Sig: sig(intT, intT), Kernel: map1(absInt)},
		{Sig: sig(floatT, floatT), Kernel: map1(func(x float64) float64 {
			if x < 0 {
				return -x
			}
			return x
		})},
		{Sig: sig(durationT, durationT), Kernel: map1(absInt)},
	},
})

func absInt(x int64) int64 {
	if x < 0 {
		return -x
	}
	return x
}
