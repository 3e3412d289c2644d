package fn

import (
	"fmt"
	"slices"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "sort", Group: "list", Signature: `sort(xs: [T], order: string = "asc") -> [T]`,
		Text:     "The elements in order, \"asc\" or \"desc\"; nulls last either way.",
		Examples: []spec.Example{{Code: "sort([3, 1, 2])", Want: "[1, 2, 3]"}, {Code: `sort(["a", "b"], "desc")`, Want: `["b", "a"]`}}},
	Overloads: []spec.Overload{
		{Sig: types.Sig{Params: []types.Type{listT}, Infer: sortType}, Kernel: pick(sortPick)},
		{Sig: types.Sig{Params: []types.Type{listT, stringT}, Infer: sortType, Rare: true}, Kernel: pick(sortPick)},
	},
})

func sortType(args []*types.Expr) (types.Type, error) {
	if _, err := orderedElement(args); err != nil {
		return types.Type{}, err
	}
	if len(args) > 1 && args[1].Op == types.OpConst {
		if s, ok := args[1].Value.(string); ok && s != "asc" && s != "desc" {
			return types.Type{}, badOrder(s)
		}
	}
	return sameList(args)
}

func badOrder(s string) error {
	return fmt.Errorf("the order is \"asc\" or \"desc\", not %q", short(s))
}

func sortPick(c *eval.Call) picker {
	elems := c.Args[0].Col.Kids[0]
	orders := arg[string]{[]string{"asc"}, 0}
	if len(c.Args) > 1 {
		orders = of[string](c.Args[1])
	}
	return func(to []uint32, i, lo, hi int) []uint32 {
		order := orders.at(i)
		if order != "asc" && order != "desc" {
			c.Fail(i, badOrder(order))
			return to
		}
		start := len(to)
		for j := lo; j < hi; j++ {
			to = append(to, uint32(j))
		}
		slices.SortStableFunc(to[start:], func(a, b uint32) int {
			o := vec.Compare(elems, int(a), elems, int(b))
			if order == "desc" && !elems.Null(int(a)) && !elems.Null(int(b)) {
				return -o
			}
			return o
		})
		return to
	}
}
