package fn

import (
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "flatten", Group: "list", Signature: "flatten(xs: [[T]]) -> [T]",
		Text:     "The elements of the lists in a list, at any depth, as one list. Null where a list in it is null.",
		Examples: []spec.Example{{Code: "flatten([[1, 2], [], [3]])", Want: "[1, 2, 3]"}}},
	Overloads: []spec.Overload{{Sig: types.Sig{Params: []types.Type{listT}, Infer: flatType}, Kernel: func(c *eval.Call) {
		a := c.Args[0].Col
		leaf, null := a.Kids[0], false
		for leaf.Type.Kind == types.List {
			leaf = leaf.Kids[0]
		}
		var idx []uint32
		var walk func(l *vec.Column, lo, hi int32)
		walk = func(l *vec.Column, lo, hi int32) {
			for j := lo; j < hi; j++ {
				switch {
				case l.Type.Kind != types.List:
					idx = append(idx, uint32(j))
				case l.Null(int(j)):
					null = true
				default:
					walk(l.Kids[0], l.Offs[j], l.Offs[j+1])
				}
			}
		}
		offsets(c, func(i int) int {
			null = false
			start := len(idx)
			if walk(a.Kids[0], a.Offs[i], a.Offs[i+1]); null {
				idx = idx[:start]
				c.SetNull(i)
			}
			return len(idx)
		})
		c.Out.Kids = []*vec.Column{leaf.Gather(idx)}
	}}},
})

func flatType(args []*types.Expr) (types.Type, error) {
	t, null := *args[0].Type.Elem, false
	for t.Kind == types.List {
		null = null || t.Nullable
		t = *t.Elem
	}
	return types.ListOf(t).OrNull(null), nil
}
