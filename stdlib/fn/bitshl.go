package fn

import (
	"fmt"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "bitshl", Group: "bits", Signature: "bitshl(a: int, n: int) -> int",
		Text: "The bits n places to the left; 0 from 64 on. A negative n is a row error.", Examples: []spec.Example{{Code: "bitshl(1, 4)", Want: "16"}}},
	Overloads: []spec.Overload{{Sig: rare(sig(intT, intT, intT)), Kernel: shift("bitshl", func(a int64, n uint64) int64 { return a << n })}},
})

func shift(name string, f func(a int64, n uint64) int64) eval.Kernel {
	return try2(func(a, n int64) (int64, error) {
		if n < 0 {
			return 0, fmt.Errorf("`%s` by %d places: the number must not be negative", name, n)
		}
		return f(a, uint64(n)), nil
	})
}
