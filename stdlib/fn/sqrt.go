package fn

import (
	"math"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "sqrt", Group: "math", Signature: "sqrt(x: float) -> float",
		Text:     "The square root; NaN of a negative number.",
		Examples: []spec.Example{{Code: "sqrt(9)", Want: "3.0"}}},
	Overloads: []spec.Overload{{Sig: sig(floatT, floatT), Kernel: map1(math.Sqrt)}},
})
