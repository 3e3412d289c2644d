package fn

import (
	"math"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "round", Group: "math", Signature: "round(x: float, digits: int = 0) -> float",
		Text:     "The number rounded to so many digits after the point, halves away from zero; negative digits round before the point.",
		Examples: []spec.Example{{Code: "round(2.5)", Want: "3.0"}, {Code: "round(-2.5)", Want: "-3.0"}, {Code: "round(3.14159, 2)", Want: "3.14"}, {Code: "round(1250, -2)", Want: "1300.0"}}},
	Overloads: []spec.Overload{
		{Sig: sig(floatT, floatT), Kernel: map1(math.Round)},
		{Sig: sig(floatT, floatT, intT), Kernel: map2(roundTo)},
	},
})

func roundTo(x float64, digits int64) float64 {
	if digits > 300 || math.IsInf(x, 0) {
		return x
	}
	if digits < -308 {
		return 0
	}
	scale := math.Pow(10, math.Abs(float64(digits)))
	if digits < 0 {
		return math.Round(x/scale) * scale
	}
	if y := x * scale; math.Abs(y) < 1<<52 {
		return math.Round(y) / scale
	}
	return x // has no such digits
}
