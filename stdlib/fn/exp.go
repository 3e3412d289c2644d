package fn

import (
	"math"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "exp", Group: "math", Signature: "exp(x: float) -> float",
		Text:     "e to the power of x. `**` is the power of any base.",
		Examples: []spec.Example{{Code: "exp(0)", Want: "1.0"}}},
	Overloads: []spec.Overload{{Sig: sig(floatT, floatT), Kernel: map1(math.Exp)}},
})
