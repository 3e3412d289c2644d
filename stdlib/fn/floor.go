package fn

import (
	"math"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "floor", Group: "math", Signature: "floor(x: float) -> float",
		Text:     "The greatest whole number that is not larger.",
		Examples: []spec.Example{{Code: "floor(1.8)", Want: "1.0"}, {Code: "floor(-1.2)", Want: "-2.0"}}},
	Overloads: []spec.Overload{{Sig: sig(floatT, floatT), Kernel: map1(math.Floor)}},
})
