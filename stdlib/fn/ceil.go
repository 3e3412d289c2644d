package fn

import (
	"math"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "ceil", Group: "math", Signature: "ceil(x: float) -> float",
		Text:     "The least whole number that is not smaller.",
		Examples: []spec.Example{{Code: "ceil(1.2)", Want: "2.0"}, {Code: "ceil(-1.2)", Want: "-1.0"}}},
	Overloads: []spec.Overload{{Sig: sig(floatT, floatT), Kernel: map1(math.Ceil)}},
})
