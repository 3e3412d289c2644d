package fn

import (
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "sign", Group: "math", Signature: "sign(x: int | float) -> int",
		Text:     "-1, 0 or 1 as the number is negative, zero or positive (NaN counts as zero).",
		Examples: []spec.Example{{Code: "sign(-3)", Want: "-1"}, {Code: "sign(0.0)", Want: "0"}}},
	Overloads: []spec.Overload{
		{Sig: sig(intT, intT), Kernel: map1(signOf[int64])},
		{Sig: sig(intT, floatT), Kernel: map1(signOf[float64])},
	},
})

func signOf[T int64 | float64](x T) int64 {
	switch {
	case x < 0:
		return -1
	case x > 0:
		return 1
	}
	return 0
}
