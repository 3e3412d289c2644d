package fn

import (
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "get", Group: "list", Signature: "get(xs: [T], index: int) -> T? · get(x: any, name: string | index: int) -> any?",
		Text:     "An element of a list by its number from 0 (-1 is the last), or a member of JSON; null where there is none. `xs[i]` is a row error there.",
		Examples: []spec.Example{{Code: "get([1, 2], 5)", Want: "nil"}, {Code: "get([1, 2], -1)", Want: "2"}}},
	Overloads: []spec.Overload{
		{Sig: types.Sig{Params: []types.Type{listT, intT}, Infer: element}, Kernel: func(c *eval.Call) {
			a, at := c.Args[0].Col, of[int64](c.Args[1])
			elements(c, a.Kids[0], func(i int) int {
				k, n := at.at(i), int64(a.Offs[i+1]-a.Offs[i])
				if k < 0 {
					k += n
				}
				if k < 0 || k >= n {
					return -1
				}
				return int(int64(a.Offs[i]) + k)
			})
		}},
		{Sig: sig(anyT.Null(), anyT, stringT), Kernel: func(c *eval.Call) {
			in, names := c.Args[0].Col.Strs, of[string](c.Args[1])
			each(c, func(i int) {
				s, ok := eval.JSONMember(in[i], names.at(i))
				if c.Out.Strs[i] = s; !ok {
					c.SetNull(i)
				}
			})
		}},
		{Sig: sig(anyT.Null(), anyT, intT), Kernel: func(c *eval.Call) {
			in, at := c.Args[0].Col.Strs, of[int64](c.Args[1])
			each(c, func(i int) {
				s, ok := eval.JSONElement(in[i], at.at(i))
				if c.Out.Strs[i] = s; !ok {
					c.SetNull(i)
				}
			})
		}},
	},
})
