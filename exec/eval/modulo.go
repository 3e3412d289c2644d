package eval

import (
	"math/bits"

	"github.com/ebb-lang/ebb/exec/vec"
)

// modulo is % over int64.
type modulo struct{ a, b operand }

func (o *modulo) kids() []*node { return operandKids(o.a, o.b) }

func (o *modulo) eval(r *run, n *node, sel []uint32) value {
	a, b := r.get(o.a, sel), r.get(o.b, sel)
	out := r.new(n.typ)
	out.Valid = vec.And(a.valid(), b.valid())
	if c := o.b.int(); o.b.n == nil && c != 0 {
		modVC(a.Ints, c, out.Ints, sel)
	} else {
		for _, i := range r.rows(sel) {
			if out.Null(int(i)) {
				continue
			}
			x, y := o.a.int(), o.b.int()
			if o.a.n != nil {
				x = a.Ints[i]
			}
			if o.b.n != nil {
				y = b.Ints[i]
			}
			if y == 0 {
				r.fail(n, int(i), errZeroModulo)
				continue
			}
			out.Ints[i] = x % y
		}
	}
	r.drop(a)
	r.drop(b)
	return out
}

// modVC computes a % c.
func modVC(a []int64, c int64, o []int64, sel []uint32) {
	d := newDivisor(c, a)
	switch {
	case d.recip != 0 && sel == nil:
		for i, x := range a[:len(o)] {
			o[i] = d.mod(x)
		}
	case d.recip != 0:
		for _, i := range sel {
			o[i] = d.mod(a[i])
		}
	case sel == nil:
		for i, x := range a[:len(o)] {
			o[i] = x % c
		}
	default:
		for _, i := range sel {
			o[i] = a[i] % c
		}
	}
}

// divisor computes remainders. Division is slow; for values and divisors of 32 bits two multiplications by a reciprocal
// of 64 bits give the same remainder.
type divisor struct{ d, recip uint64 }

// newDivisor returns the divisor for the values a; its recip is 0 if it does not serve them all.
func newDivisor(c int64, a []int64) divisor {
	if c < 0 {
		c = -c // the sign of the remainder is that of the dividend
	}
	var all int64
	for _, x := range a {
		all |= x
	}
	if uint64(all) >= 1<<32 || c < 2 || c >= 1<<32 {
		return divisor{}
	}
	return divisor{uint64(c), ^uint64(0)/uint64(c) + 1}
}

func (d divisor) mod(x int64) int64 {
	hi, _ := bits.Mul64(d.recip*uint64(x), d.d)
	return int64(hi)
}

// modIs is a % c == k and a % c != k, c not 0.
type modIs struct {
	a      *node
	c, k   int64
	differ bool
}

func (o *modIs) kids() []*node { return []*node{o.a} }

func (o *modIs) eval(r *run, n *node, sel []uint32) value {
	a := r.eval(o.a, sel)
	out := r.new(n.typ)
	v := asBytes(out.Bools)
	flip := truth(o.differ)
	in := a.Ints[:len(v)]
	if d := newDivisor(o.c, in); d.recip != 0 {
		if s := r.dense(sel); s == nil {
			for i, x := range in {
				v[i] = truth(d.mod(x) == o.k) ^ flip
			}
		} else {
			for _, i := range s {
				v[i] = truth(d.mod(in[i]) == o.k) ^ flip
			}
		}
	} else {
		for _, i := range r.rows(sel) {
			v[i] = truth(in[i]%o.c == o.k) ^ flip
		}
	}
	eachNull(a.Valid, len(v), func(i int) { v[i] = flip })
	r.free(a)
	return out
}
