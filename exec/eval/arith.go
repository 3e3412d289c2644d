package eval

import (
	"math"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

type number interface{ int64 | float64 }

// operand is an argument of an operator: a node, or a constant that the loop takes as a scalar. An int that is cast to
// float stays an int; the loop converts it.
type operand struct {
	n     *node // nil: constant
	val   any
	isInt bool // ints where the operator wants floats
}

func (o operand) float() float64 {
	switch x := o.val.(type) {
	case int64:
		return float64(x)
	case float64:
		return x
	}
	return 0
}

func (o operand) int() int64 {
	i, _ := o.val.(int64)
	return i
}

func operandKids(os ...operand) (ks []*node) {
	for _, o := range os {
		if o.n != nil {
			ks = append(ks, o.n)
		}
	}
	return ks
}

// get evaluates the operand; a constant gives no value.
func (r *run) get(o operand, sel []uint32) value {
	if o.n == nil {
		return value{}
	}
	return r.eval(o.n, sel)
}

func (v value) valid() vec.Bitmap {
	if v.Column == nil {
		return nil
	}
	return v.Valid
}

func (r *run) drop(v value) {
	if v.Column != nil {
		r.free(v)
	}
}

// intArith is + - * over int64: ints, durations, times.
type intArith struct {
	sign byte
	a, b operand
}

func (o *intArith) kids() []*node { return operandKids(o.a, o.b) }

func (o *intArith) eval(r *run, n *node, sel []uint32) value {
	a, b := r.get(o.a, sel), r.get(o.b, sel)
	out := r.new(n.typ)
	out.Valid = vec.And(a.valid(), b.valid())
	s := r.dense(sel)
	switch {
	case o.b.n == nil:
		intVC(o.sign, a.Ints, o.b.int(), out.Ints, s)
	case o.a.n == nil:
		intCV(o.sign, o.a.int(), b.Ints, out.Ints, s)
	default:
		intVV(o.sign, a.Ints, b.Ints, out.Ints, s)
	}
	r.drop(a)
	r.drop(b)
	return out
}

func intVV(sign byte, a, b, o []int64, sel []uint32) {
	if sel != nil {
		for _, i := range sel {
			switch sign {
			case '+':
				o[i] = a[i] + b[i]
			case '-':
				o[i] = a[i] - b[i]
			case '*':
				o[i] = a[i] * b[i]
			}
		}
		return
	}
	a, b = a[:len(o)], b[:len(o)]
	switch sign {
	case '+':
		for i := range o {
			o[i] = a[i] + b[i]
		}
	case '-':
		for i := range o {
			o[i] = a[i] - b[i]
		}
	case '*':
		for i := range o {
			o[i] = a[i] * b[i]
		}
	}
}

func intVC(sign byte, a []int64, c int64, o []int64, sel []uint32) {
	if sign == '-' {
		sign, c = '+', -c
	}
	if sel != nil {
		for _, i := range sel {
			if sign == '+' {
				o[i] = a[i] + c
			} else {
				o[i] = a[i] * c
			}
		}
		return
	}
	a = a[:len(o)]
	if sign == '+' {
		for i := range o {
			o[i] = a[i] + c
		}
		return
	}
	for i := range o {
		o[i] = a[i] * c
	}
}

func intCV(sign byte, c int64, b, o []int64, sel []uint32) {
	if sign != '-' {
		intVC(sign, b, c, o, sel)
		return
	}
	if sel != nil {
		for _, i := range sel {
			o[i] = c - b[i]
		}
		return
	}
	b = b[:len(o)]
	for i := range o {
		o[i] = c - b[i]
	}
}

// floatArith is + - * / over numbers with a float result.
type floatArith struct {
	sign byte
	a, b operand
}

func (o *floatArith) kids() []*node { return operandKids(o.a, o.b) }

func (o *floatArith) eval(r *run, n *node, sel []uint32) value {
	a, b := r.get(o.a, sel), r.get(o.b, sel)
	out := r.new(n.typ)
	out.Valid = vec.And(a.valid(), b.valid())
	s := r.dense(sel)
	switch {
	case o.b.n == nil && o.a.isInt:
		floatVC(o.sign, a.Ints, o.b.float(), out.Floats, s)
	case o.b.n == nil:
		floatVC(o.sign, a.Floats, o.b.float(), out.Floats, s)
	case o.a.n == nil && o.b.isInt:
		floatCV(o.sign, o.a.float(), b.Ints, out.Floats, s)
	case o.a.n == nil:
		floatCV(o.sign, o.a.float(), b.Floats, out.Floats, s)
	case o.a.isInt && o.b.isInt:
		floatVV(o.sign, a.Ints, b.Ints, out.Floats, s)
	case o.a.isInt:
		floatVV(o.sign, a.Ints, b.Floats, out.Floats, s)
	case o.b.isInt:
		floatVV(o.sign, a.Floats, b.Ints, out.Floats, s)
	default:
		floatVV(o.sign, a.Floats, b.Floats, out.Floats, s)
	}
	r.drop(a)
	r.drop(b)
	return out
}

func floatVV[A, B number](sign byte, a []A, b []B, o []float64, sel []uint32) {
	if sel != nil {
		for _, i := range sel {
			x, y := float64(a[i]), float64(b[i])
			switch sign {
			case '+':
				o[i] = x + y
			case '-':
				o[i] = x - y
			case '*':
				o[i] = x * y
			case '/':
				o[i] = x / y
			}
		}
		return
	}
	a, b = a[:len(o)], b[:len(o)]
	switch sign {
	case '+':
		for i := range o {
			o[i] = float64(a[i]) + float64(b[i])
		}
	case '-':
		for i := range o {
			o[i] = float64(a[i]) - float64(b[i])
		}
	case '*':
		for i := range o {
			o[i] = float64(a[i]) * float64(b[i])
		}
	case '/':
		for i := range o {
			o[i] = float64(a[i]) / float64(b[i])
		}
	}
}

func floatVC[A number](sign byte, a []A, c float64, o []float64, sel []uint32) {
	if sel != nil {
		for _, i := range sel {
			x := float64(a[i])
			switch sign {
			case '+':
				o[i] = x + c
			case '-':
				o[i] = x - c
			case '*':
				o[i] = x * c
			case '/':
				o[i] = x / c
			}
		}
		return
	}
	a = a[:len(o)]
	switch sign {
	case '+':
		for i := range o {
			o[i] = float64(a[i]) + c
		}
	case '-':
		for i := range o {
			o[i] = float64(a[i]) - c
		}
	case '*':
		for i := range o {
			o[i] = float64(a[i]) * c
		}
	case '/':
		for i := range o {
			o[i] = float64(a[i]) / c
		}
	}
}

func floatCV[B number](sign byte, c float64, b []B, o []float64, sel []uint32) {
	switch {
	case sign == '+' || sign == '*':
		floatVC(sign, b, c, o, sel)
	case sel != nil:
		for _, i := range sel {
			if sign == '-' {
				o[i] = c - float64(b[i])
			} else {
				o[i] = c / float64(b[i])
			}
		}
	case sign == '-':
		b = b[:len(o)]
		for i := range o {
			o[i] = c - float64(b[i])
		}
	default:
		b = b[:len(o)]
		for i := range o {
			o[i] = c / float64(b[i])
		}
	}
}

// power is **.
type power struct{ a, b operand }

func (o *power) kids() []*node { return operandKids(o.a, o.b) }

func (o *power) eval(r *run, n *node, sel []uint32) value {
	a, b := r.get(o.a, sel), r.get(o.b, sel)
	out := r.new(n.typ)
	out.Valid = vec.And(a.valid(), b.valid())
	for _, i := range r.rows(sel) {
		out.Floats[i] = math.Pow(o.a.floatAt(a, i), o.b.floatAt(b, i))
	}
	r.drop(a)
	r.drop(b)
	return out
}

func (o operand) floatAt(v value, i uint32) float64 {
	switch {
	case o.n == nil:
		return o.float()
	case o.isInt:
		return float64(v.Ints[i])
	}
	return v.Floats[i]
}

// negate is unary minus.
type negate struct{ a *node }

func (o *negate) kids() []*node { return []*node{o.a} }

func (o *negate) eval(r *run, n *node, sel []uint32) value {
	a := r.eval(o.a, sel)
	out := r.new(n.typ)
	out.Valid = a.Valid
	if n.typ.Kind == types.Float {
		for _, i := range r.rows(sel) {
			out.Floats[i] = -a.Floats[i]
		}
	} else {
		intCV('-', 0, a.Ints, out.Ints, r.dense(sel))
	}
	r.free(a)
	return out
}
