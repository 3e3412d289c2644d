package fn

import (
	"math"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "log2", Group: "math", Signature: "log2(x: float) -> float",
		Text:     "The logarithm of base 2; -Inf of zero, NaN of a negative number.",
		Examples: []spec.Example{{Code: "log2(8)", Want: "3.0"}}},
	Overloads: []spec.Overload{{Sig: sig(floatT, floatT), Kernel: map1(math.Log2)}},
})
