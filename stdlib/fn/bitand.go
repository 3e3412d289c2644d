package fn

import (
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "bitand", Group: "bits", Signature: "bitand(a: int, b: int) -> int",
		Text: "The bits that are set in both.", Examples: []spec.Example{{Code: "bitand(6, 3)", Want: "2"}}},
	Overloads: []spec.Overload{{Sig: sig(intT, intT, intT), Kernel: map2(func(a, b int64) int64 { return a & b })}},
})
