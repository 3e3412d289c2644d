package fn

import (
	"cmp"
	"fmt"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "max", Group: "math", Signature: "max(a: T, b: T, …) -> T · max(xs: [T]) -> T?",
		Text: "The largest of several values, or of a list (null if it is empty or has a null). Ints with floats become floats. " +
			"As an aggregate see `max` there; inside of `aggregate` this one is `::max`.",
		Examples: []spec.Example{{Code: "max(1, 3, 2)", Want: "3"}, {Code: "max([1.5, 0.5])", Want: "1.5"}, {Code: `max("a", "b")`, Want: `"b"`}}},
	Overloads: extremes(true),
})

// extremes are the overloads of max and min.
func extremes(largest bool) []spec.Overload {
	os := []spec.Overload{
		{Sig: types.Sig{Params: []types.Type{listT}, Infer: orderedElement}, Kernel: extremeOfList(largest)},
	}
	for _, t := range []types.Type{intT, floatT, stringT, timeT, durationT} {
		s := sig(t, t, t)
		s.Variadic = true
		o := spec.Overload{Sig: s}
		switch t.Kind {
		case types.Float:
			o.Kernel = extreme[float64](largest)
		case types.String:
			o.Kernel = extreme[string](largest)
		default:
			o.Kernel = extreme[int64](largest)
		}
		os = append(os, o)
	}
	return os
}

// orderedElement is the Infer of max and min of a list.
func orderedElement(args []*types.Expr) (types.Type, error) {
	e := *args[0].Type.Elem
	if !e.Ordered() && e.Kind != types.Null {
		return e, fmt.Errorf("values of type %s have no order", e)
	}
	return e.Null(), nil
}

// extreme keeps the first of equal values and a NaN that comes first, as the comparisons of the language have it.
func extreme[T interface {
	scalar
	cmp.Ordered
}](largest bool) eval.Kernel {
	return func(c *eval.Call) {
		out := rowsOf[T](c.Out)
		first := rowsOf[T](c.Args[0].Col)
		each(c, func(i int) { out[i] = first[i] })
		for _, a := range c.Args[1:] {
			x := of[T](a)
			each(c, func(i int) {
				if v := x.at(i); largest && out[i] < v || !largest && out[i] > v {
					out[i] = v
				}
			})
		}
	}
}

func extremeOfList(largest bool) eval.Kernel {
	return func(c *eval.Call) {
		a := c.Args[0].Col
		elems := a.Kids[0]
		elements(c, elems, func(i int) int {
			best := -1
			for j := int(a.Offs[i]); j < int(a.Offs[i+1]); j++ {
				if elems.Null(j) {
					return -1
				}
				if best >= 0 && elems.Type.Kind == types.Float {
					if x, y := elems.Floats[best], elems.Floats[j]; largest && x < y || !largest && x > y {
						best = j
					}
					continue
				}
				if best < 0 {
					best = j
				} else if o := vec.Compare(elems, j, elems, best); largest && o > 0 || !largest && o < 0 {
					best = j
				}
			}
			return best
		})
	}
}
