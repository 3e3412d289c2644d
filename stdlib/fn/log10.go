package fn

import (
	"math"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "log10", Group: "math", Signature: "log10(x: float) -> float",
		Text:     "The logarithm of base 10; -Inf of zero, NaN of a negative number.",
		Examples: []spec.Example{{Code: "log10(1000)", Want: "3.0"}}},
	Overloads: []spec.Overload{{Sig: sig(floatT, floatT), Kernel: map1(math.Log10)}},
})
