package fn

import (
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "bitnot", Group: "bits", Signature: "bitnot(a: int) -> int",
		Text: "All bits flipped.", Examples: []spec.Example{{Code: "bitnot(0)", Want: "-1"}}},
	Overloads: []spec.Overload{{Sig: sig(intT, intT), Kernel: map1(func(a int64) int64 { return ^a })}},
})
