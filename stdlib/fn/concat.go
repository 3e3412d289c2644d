package fn

import (
	"fmt"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "concat", Group: "list", Signature: "concat(xs: [T], ys: [T], …) -> [T]",
		Text:     "The elements of all lists in one. Texts are joined by `+`.",
		Examples: []spec.Example{{Code: "concat([1, 2], [3])", Want: "[1, 2, 3]"}}},
	Overloads: []spec.Overload{{Sig: types.Sig{Params: []types.Type{listT}, Variadic: true, Rare: true, Infer: concatType}, Kernel: func(c *eval.Call) {
		lists := make([]*vec.Column, len(c.Args))
		for k, a := range c.Args {
			lists[k] = a.Col
			if a.Col == nil {
				lists[k] = vec.Const(c.Out.Type, a.Const, 1)
			}
		}
		b := vec.NewBuilder(*c.Out.Type.Elem)
		offsets(c, func(i int) int {
			size := 0
			for k, l := range lists {
				size += l.Size(at(c, k, i))
			}
			if size > vec.MaxValue {
				c.Fail(i, vec.TooLarge("list", size))
				return b.Len()
			}
			for k, l := range lists {
				r := at(c, k, i)
				for j := l.Offs[r]; j < l.Offs[r+1]; j++ {
					b.Append(l.Kids[0].Value(int(j)))
				}
			}
			return b.Len()
		})
		c.Out.Kids = []*vec.Column{b.Column()}
	}}},
})

// at returns the row of the k-th argument that goes with row i: a constant has one.
func at(c *eval.Call, k, i int) int {
	if c.Args[k].Col == nil {
		return 0
	}
	return i
}

func concatType(args []*types.Expr) (types.Type, error) {
	t := args[0].Type.NotNull()
	for _, a := range args[1:] {
		u, err := types.Unify(t, a.Type.NotNull())
		if err != nil {
			return t, fmt.Errorf("the lists %s and %s do not go together", t, a.Type)
		}
		t = u
	}
	return t, nil
}
