package fn

import (
	"github.com/ebb-lang/ebb/exec/vec"

	"slices"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "uniq", Group: "list", Signature: "uniq(xs: [T]) -> [T]",
		Text:     "The elements without repetitions, in the order in which they first come.",
		Examples: []spec.Example{{Code: "uniq([2, 1, 2])", Want: "[2, 1]"}}},
	Overloads: []spec.Overload{{Sig: types.Sig{Params: []types.Type{listT}, Infer: sameList}, Kernel: pick(func(c *eval.Call) picker {
		elems := c.Args[0].Col.Kids[0]
		return func(to []uint32, _, lo, hi int) []uint32 { return appendUniq(to, elems, lo, hi) }
	})}},
})

func appendUniq(to []uint32, elems *vec.Column, lo, hi int) []uint32 {
	start := len(to)
	var seen map[uint64][]uint32 // of long lists, by hash
	if hi-lo > 16 {
		seen = make(map[uint64][]uint32, hi-lo)
	}
	for j := lo; j < hi; j++ {
		before := to[start:]
		var h uint64
		if seen != nil {
			h = elems.HashRow(j)
			before = seen[h]
		}
		if slices.ContainsFunc(before, func(k uint32) bool { return eval.Same(elems, int(k), elems, j) }) {
			continue
		}
		to = append(to, uint32(j))
		if seen != nil {
			seen[h] = append(seen[h], uint32(j))
		}
	}
	return to
}
