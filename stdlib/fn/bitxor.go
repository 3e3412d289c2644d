package fn

import (
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "bitxor", Group: "bits", Signature: "bitxor(a: int, b: int) -> int",
		Text: "The bits that are set in exactly one of them.", Examples: []spec.Example{{Code: "bitxor(6, 3)", Want: "5"}}},
	Overloads: []spec.Overload{{Sig: sig(intT, intT, intT), Kernel: map2(func(a, b int64) int64 { return a ^ b })}},
})
