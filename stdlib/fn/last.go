package fn

import (
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "last", Group: "list", Signature: "last(xs: [T]) -> T?",
		Text:     "The last element, null if there is none. As an aggregate see `last` there; inside of `aggregate` this one is `::last`.",
		Examples: []spec.Example{{Code: "last([3, 1, 2])", Want: "2"}}},
	Overloads: []spec.Overload{{Sig: types.Sig{Params: []types.Type{listT}, Infer: element}, Kernel: func(c *eval.Call) {
		a := c.Args[0].Col
		elements(c, a.Kids[0], func(i int) int {
			if a.Offs[i] == a.Offs[i+1] {
				return -1
			}
			return int(a.Offs[i+1]) - 1
		})
	}}},
})
