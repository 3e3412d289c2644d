package fn

import (
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "reverse", Group: "list", Signature: "reverse(xs: [T]) -> [T]",
		Text:     "The elements in the opposite order.",
		Examples: []spec.Example{{Code: "reverse([1, 2, 3])", Want: "[3, 2, 1]"}}},
	Overloads: []spec.Overload{{Sig: types.Sig{Params: []types.Type{listT}, Infer: sameList}, Kernel: pick(func(*eval.Call) picker {
		return func(to []uint32, _, lo, hi int) []uint32 {
			for j := hi - 1; j >= lo; j-- {
				to = append(to, uint32(j))
			}
			return to
		}
	})}},
})
