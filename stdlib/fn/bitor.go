package fn

import (
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "bitor", Group: "bits", Signature: "bitor(a: int, b: int) -> int",
		Text: "The bits that are set in one of them.", Examples: []spec.Example{{Code: "bitor(6, 3)", Want: "7"}}},
	Overloads: []spec.Overload{{Sig: sig(intT, intT, intT), Kernel: map2(func(a, b int64) int64 { return a | b })}},
})
