package fn

import (
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "bitnand", Group: "bits", Signature: "bitnand(a: int, b: int) -> int",
		Text: "The bits of a that are not set in b.", Examples: []spec.Example{{Code: "bitnand(6, 3)", Want: "4"}}},
	Overloads: []spec.Overload{{Sig: sig(intT, intT, intT), Kernel: map2(func(a, b int64) int64 { return a &^ b })}},
})
