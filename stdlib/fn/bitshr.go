package fn

import (
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "bitshr", Group: "bits", Signature: "bitshr(a: int, n: int) -> int",
		Text: "The bits n places to the right, the sign kept. A negative n is a row error.", Examples: []spec.Example{{Code: "bitshr(-16, 2)", Want: "-4"}}},
	Overloads: []spec.Overload{{Sig: rare(sig(intT, intT, intT)), Kernel: shift("bitshr", func(a int64, n uint64) int64 { return a >> n })}},
})
