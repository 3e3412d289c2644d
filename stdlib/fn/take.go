package fn

import (
	"fmt"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "take", Group: "list", Signature: "take(xs: [T], n: int) -> [T]",
		Text:     "The first n elements, or all if there are fewer. A negative n is a row error.",
		Examples: []spec.Example{{Code: "take([1, 2, 3], 2)", Want: "[1, 2]"}}},
	Overloads: []spec.Overload{{Sig: types.Sig{Params: []types.Type{listT, intT}, Infer: sameList, Rare: true}, Kernel: pick(func(c *eval.Call) picker {
		n := of[int64](c.Args[1])
		return func(to []uint32, i, lo, hi int) []uint32 {
			k := n.at(i)
			if k < 0 {
				c.Fail(i, fmt.Errorf("`take` of %d elements: the number must not be negative", k))
				return to
			}
			for j := lo; j < hi && k > 0; j, k = j+1, k-1 {
				to = append(to, uint32(j))
			}
			return to
		}
	})}},
})
