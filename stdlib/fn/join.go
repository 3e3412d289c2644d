package fn

import (
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "join", Group: "text", Signature: `join(xs: [string], separator: string = "") -> string`,
		Text:     "The elements as one text with the separator between them; null where an element is null.",
		Examples: []spec.Example{{Code: `join(["a", "b"], "-")`, Want: `"a-b"`}, {Code: `join(["a", "b"])`, Want: `"ab"`}}},
	Overloads: []spec.Overload{
		{Sig: types.Sig{Params: []types.Type{stringsT}, Rare: true, Infer: nullableAs(stringT)}, Kernel: joinKernel},
		{Sig: types.Sig{Params: []types.Type{stringsT, stringT}, Rare: true, Infer: nullableAs(stringT)}, Kernel: joinKernel},
	},
})

func joinKernel(c *eval.Call) {
	a := c.Args[0].Col
	sep := arg[string]{[]string{""}, 0}
	if len(c.Args) > 1 {
		sep = of[string](c.Args[1])
	}
	build(c, func(b []byte, i int) []byte {
		lo, hi := int(a.Offs[i]), int(a.Offs[i+1])
		if anyNull(a.Kids[0], lo, hi) {
			c.SetNull(i)
			return b
		}
		// Before it is made: one text may stand in a list many times.
		if size := a.Size(i) + (len(sep.at(i))-8)*(hi-lo); size-len(sep.at(i)) > vec.MaxValue {
			c.Fail(i, vec.TooLarge("text", size))
			return b
		}
		for j := lo; j < hi; j++ {
			if j > lo {
				b = append(b, sep.at(i)...)
			}
			b = append(b, a.Kids[0].Strs[j]...)
		}
		return b
	})
}
