package fn

import (
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "bitushr", Group: "bits", Signature: "bitushr(a: int, n: int) -> int",
		Text: "The bits n places to the right, zeros moved in. A negative n is a row error.", Examples: []spec.Example{{Code: "bitushr(-1, 60)", Want: "15"}}},
	Overloads: []spec.Overload{{Sig: rare(sig(intT, intT, intT)), Kernel: shift("bitushr", func(a int64, n uint64) int64 { return int64(uint64(a) >> n) })}},
})
