package fn

import (
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// picker appends the numbers of elements that the result of row i has; the row's own are those from lo to hi.
type picker func(to []uint32, i, lo, hi int) []uint32

// pick makes a kernel whose result is a list of elements of its first argument. f is called once a batch.
func pick(f func(c *eval.Call) picker) eval.Kernel {
	return func(c *eval.Call) {
		a := c.Args[0].Col
		pick := f(c)
		var idx []uint32
		offsets(c, func(i int) int {
			idx = pick(idx, i, int(a.Offs[i]), int(a.Offs[i+1]))
			return len(idx)
		})
		c.Out.Kids = []*vec.Column{a.Kids[0].Gather(idx)}
	}
}

// offsets fills the offsets of a list result: f adds the elements of row i to where they are gathered and returns how
// many are there now.
func offsets(c *eval.Call, f func(i int) int) {
	offs := c.Out.Offs
	next, n := 0, int32(0)
	each(c, func(i int) {
		for ; next < i; next++ {
			offs[next+1] = n
		}
		n = int32(f(i))
		next = i + 1
		offs[next] = n
	})
	for ; next < c.N; next++ {
		offs[next+1] = n
	}
}

// texts makes a kernel whose result is a list of strings. f is called once a batch; what it returns appends those of
// row i.
func texts(f func(c *eval.Call) func(to []string, i int) []string) eval.Kernel {
	return func(c *eval.Call) {
		size, _ := c.Memo.(int)
		out := make([]string, 0, size)
		row := f(c)
		offsets(c, func(i int) int {
			out = row(out, i)
			return len(out)
		})
		if len(out) > size {
			c.Memo = len(out) + len(out)/8
		}
		c.Out.Kids = []*vec.Column{{Type: *c.Out.Type.Elem, Strs: out}}
	}
}

// elements fills a result with one element of a list for each row: f gives its number among all elements of the
// argument, -1 for null.
func elements(c *eval.Call, elems *vec.Column, f func(i int) int) {
	b := vec.NewBuilder(c.Out.Type.Null())
	next := 0
	each(c, func(i int) {
		for ; next < i; next++ {
			b.AppendNull()
		}
		next++
		if k := f(i); k < 0 {
			b.AppendNull()
		} else {
			b.AppendRow(elems, k)
		}
	})
	for ; next < c.N; next++ {
		b.AppendNull()
	}
	t := c.Out.Type
	*c.Out = *b.Column()
	c.Out.Type = t
}

// floatsOf makes a kernel of a function of a list of numbers. Where an element is null the result is null.
func floatsOf(f func(x []float64) float64) eval.Kernel {
	return func(c *eval.Call) {
		a := c.Args[0].Col
		var buf []float64
		each(c, func(i int) {
			lo, hi := a.Offs[i], a.Offs[i+1]
			if anyNull(a.Kids[0], int(lo), int(hi)) {
				c.SetNull(i)
				return
			}
			buf = append(buf[:0], a.Kids[0].Floats[lo:hi]...)
			c.Out.Floats[i] = f(buf)
		})
	}
}

func anyNull(c *vec.Column, lo, hi int) bool {
	for j := lo; c.Valid != nil && j < hi; j++ {
		if c.Null(j) {
			return true
		}
	}
	return false
}

// nullableAs is the Infer of a function of a list that gives t, null where an element is.
func nullableAs(t types.Type) func(args []*types.Expr) (types.Type, error) {
	return func(args []*types.Expr) (types.Type, error) { return t.OrNull(args[0].Type.Elem.Nullable), nil }
}
