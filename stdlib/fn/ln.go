package fn

import (
	"math"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "ln", Group: "math", Signature: "ln(x: float) -> float",
		Text:     "The natural logarithm; -Inf of zero, NaN of a negative number.",
		Examples: []spec.Example{{Code: "ln(1)", Want: "0.0"}}},
	Overloads: []spec.Overload{{Sig: sig(floatT, floatT), Kernel: map1(math.Log)}},
})
