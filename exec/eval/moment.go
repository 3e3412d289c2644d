package eval

import (
	"math"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// timeArith is time ± duration, where a result out of range fails the row, and time − time, which is cut to the longest
// duration there is, as in package time.
type timeArith struct {
	minus bool
	a, b  operand
}

func (o *timeArith) kids() []*node { return operandKids(o.a, o.b) }

func (o *timeArith) eval(r *run, n *node, sel []uint32) value {
	a, b := r.get(o.a, sel), r.get(o.b, sel)
	out := r.new(n.typ)
	out.Valid = vec.And(a.valid(), b.valid())
	x, y := arrayOf(o.a, a), arrayOf(o.b, b)
	var over int64
	if s := r.dense(sel); s == nil {
		for i := range out.Ints {
			over |= o.at(x, y, out.Ints, i)
		}
	} else {
		for _, i := range s {
			over |= o.at(x, y, out.Ints, int(i))
		}
	}
	if over < 0 { // some row is out of range, perhaps one that does not count
		for _, i := range r.rows(sel) {
			if out.Null(int(i)) || o.at(x, y, out.Ints, int(i)) >= 0 {
				continue
			}
			switch {
			case n.typ.Kind == types.Time:
				r.fail(n, int(i), errTimeRange)
			case out.Ints[i] < 0:
				out.Ints[i] = math.MaxInt64
			default:
				out.Ints[i] = math.MinInt64
			}
		}
	}
	r.drop(a)
	r.drop(b)
	return out
}

// array reads ints of a column, or one constant at every row.
type array struct {
	rows []int64
	mask int
}

func arrayOf(o operand, v value) array {
	if o.n == nil {
		return array{[]int64{o.int()}, 0}
	}
	return array{v.Ints, -1}
}

// at computes row i and returns a negative number if it overflows.
func (o *timeArith) at(x, y array, out []int64, i int) int64 {
	a, b := x.rows[i&x.mask], y.rows[i&y.mask]
	if o.minus {
		out[i] = a - b
		return (a ^ b) & (a ^ out[i])
	}
	out[i] = a + b
	return (a ^ out[i]) & (b ^ out[i])
}

// scale is duration * float, float * duration and duration / number. A result that is no duration fails the row.
type scale struct {
	a, b   operand // a is the duration
	divide bool
}

func (o *scale) kids() []*node { return operandKids(o.a, o.b) }

func (o *scale) eval(r *run, n *node, sel []uint32) value {
	a, b := r.get(o.a, sel), r.get(o.b, sel)
	out := r.new(n.typ)
	out.Valid = vec.And(a.valid(), b.valid())
	whole := o.b.isInt
	if o.b.n == nil {
		_, whole = o.b.val.(int64)
	}
	for _, i := range r.rows(sel) {
		if out.Null(int(i)) {
			continue
		}
		d := o.a.int()
		if o.a.n != nil {
			d = a.Ints[i]
		}
		if o.divide && whole {
			y := o.b.int()
			if o.b.n != nil {
				y = b.Ints[i]
			}
			if y == 0 {
				r.fail(n, int(i), errZeroDuration)
				continue
			}
			out.Ints[i] = d / y
			continue
		}
		x := float64(d)
		if f := o.b.floatAt(b, i); o.divide {
			x /= f
		} else {
			x *= f
		}
		if !(x >= -1<<63 && x < 1<<63) {
			r.fail(n, int(i), errDurationRange)
			continue
		}
		out.Ints[i] = int64(x)
	}
	r.drop(a)
	r.drop(b)
	return out
}
