package eval

import (
	"cmp"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// relation is a comparison.
type relation uint8

const (
	lt relation = iota
	le
	eq
	ne
	ge
	gt
)

var relations = map[string]relation{"<": lt, "<=": le, "==": eq, "!=": ne, ">=": ge, ">": gt}

// flip is the relation of swapped operands.
func (k relation) flip() relation {
	switch k {
	case lt, le, ge, gt:
		return gt - k
	}
	return k
}

// layout is how the slices of a column hold its kind.
type layout uint8

const (
	intLayout layout = iota
	floatLayout
	boolLayout
	textLayout
	otherLayout
)

func layoutOf(k types.Kind) layout {
	switch k {
	case types.Int, types.Time, types.Duration:
		return intLayout
	case types.Float:
		return floatLayout
	case types.Bool:
		return boolLayout
	case types.String, types.Bytes:
		return textLayout
	}
	return otherLayout
}

// compare compares scalars of one kind, or numbers. A constant is on the right; layouts tells which slices to read.
type compare struct {
	rel  relation
	a, b operand
	lay  layout // of both; floatLayout also for an int with a float
}

func (o *compare) kids() []*node { return operandKids(o.a, o.b) }

func (o *compare) eval(r *run, n *node, sel []uint32) value {
	a, b := r.get(o.a, sel), r.get(o.b, sel)
	out := r.new(n.typ)
	s := sel
	if o.lay != textLayout {
		s = r.dense(sel)
	}
	o.each(a, b, vector{asBytes(out.Bools), s})
	switch o.rel {
	case eq, ne:
		o.fixNulls(a, b, out.Bools)
	default:
		out.Valid = vec.And(a.valid(), b.valid())
	}
	r.drop(a)
	r.drop(b)
	return out
}

// fixNulls makes == and != total: null equals null and nothing else.
func (o *compare) fixNulls(a, b value, out []bool) {
	av, bv := a.valid(), b.valid()
	if av == nil && bv == nil {
		return
	}
	differ := o.rel == ne
	fix := func(i int) {
		bothNull := av != nil && bv != nil && !av.Get(i) && !bv.Get(i)
		out[i] = bothNull != differ
	}
	eachNull(av, len(out), fix)
	eachNull(bv, len(out), fix)
}

func (o *compare) filter(r *run, n *node, sel, out []uint32) []uint32 {
	a, b := r.get(o.a, sel), r.get(o.b, sel)
	av, bv := a.valid(), b.valid()
	if av != nil && o.rel == ne || o.rel == eq && av != nil && bv != nil || bv != nil && o.rel == ne {
		t := r.new(types.T(types.Bool))
		o.each(a, b, vector{asBytes(t.Bools), sel})
		o.fixNulls(a, b, t.Bools)
		out = trueRows(t.Bools, nil, sel, out)
		r.free(t)
	} else {
		w := picker{sel: sel, n: r.n, out: out}
		o.each(a, b, &w)
		out = validRows(vec.And(av, bv), w.out, w.out)
	}
	r.drop(a)
	r.drop(b)
	return out
}

// each runs the loop of the comparison into a vector of bytes or a selection.
func (o *compare) each(a, b value, to target) {
	if o.b.n == nil {
		switch {
		case o.lay == textLayout:
			withConst(o.rel, a.Strs, o.b.val.(string), to)
		case o.lay == boolLayout:
			withConst(o.rel, asBytes(a.Bools), truth(o.b.val.(bool)), to)
		case o.lay == intLayout:
			withConst(o.rel, a.Ints, o.b.int(), to)
		case o.a.isInt:
			intsWithFloat(o.rel, a.Ints, o.b.float(), to)
		default:
			withConst(o.rel, a.Floats, o.b.float(), to)
		}
		return
	}
	switch {
	case o.lay == textLayout:
		both(o.rel, a.Strs, b.Strs, to)
	case o.lay == boolLayout:
		both(o.rel, asBytes(a.Bools), asBytes(b.Bools), to)
	case o.lay == intLayout:
		both(o.rel, a.Ints, b.Ints, to)
	case o.a.isInt && o.b.isInt:
		mixed(o.rel, a.Ints, b.Ints, to)
	case o.a.isInt:
		mixed(o.rel, a.Ints, b.Floats, to)
	case o.b.isInt:
		mixed(o.rel, a.Floats, b.Ints, to)
	default:
		both(o.rel, a.Floats, b.Floats, to)
	}
}

// target is where a comparison puts its result: *vector or *picker. It is asked once a batch.
type target interface{ isTarget() }

// vector takes a byte, 0 or 1, for each row of sel (nil: all).
type vector struct {
	o   []uint8
	sel []uint32
}

// picker takes the rows of sel (nil: all n) that are true.
type picker struct {
	sel []uint32
	n   int
	out []uint32
}

func (vector) isTarget()  {}
func (*picker) isTarget() {}

// The loops are written out for each relation: a test inside them would cost as much as the comparison.

func withConst[T cmp.Ordered](rel relation, a []T, c T, to target) {
	switch t := to.(type) {
	case vector:
		o := t.o
		if t.sel != nil {
			for _, i := range t.sel {
				o[i] = holds(rel, a[i], c)
			}
			return
		}
		a = a[:len(o)]
		switch rel {
		case lt:
			for i := range o {
				o[i] = truth(a[i] < c)
			}
		case le:
			for i := range o {
				o[i] = truth(a[i] <= c)
			}
		case eq:
			for i := range o {
				o[i] = truth(a[i] == c)
			}
		case ne:
			for i := range o {
				o[i] = truth(a[i] != c)
			}
		case ge:
			for i := range o {
				o[i] = truth(a[i] >= c)
			}
		case gt:
			for i := range o {
				o[i] = truth(a[i] > c)
			}
		}
	case *picker:
		k := 0
		if t.sel != nil {
			out := t.out[:len(t.sel)]
			for _, i := range t.sel {
				out[k] = i
				k += int(holds(rel, a[i], c))
			}
			t.out = out[:k]
			return
		}
		out := t.out[:t.n]
		a = a[:t.n]
		switch rel {
		case lt:
			for i := range a {
				out[k] = uint32(i)
				k += int(truth(a[i] < c))
			}
		case le:
			for i := range a {
				out[k] = uint32(i)
				k += int(truth(a[i] <= c))
			}
		case eq:
			for i := range a {
				out[k] = uint32(i)
				k += int(truth(a[i] == c))
			}
		case ne:
			for i := range a {
				out[k] = uint32(i)
				k += int(truth(a[i] != c))
			}
		case ge:
			for i := range a {
				out[k] = uint32(i)
				k += int(truth(a[i] >= c))
			}
		case gt:
			for i := range a {
				out[k] = uint32(i)
				k += int(truth(a[i] > c))
			}
		}
		t.out = out[:k]
	}
}

func holds[T cmp.Ordered](rel relation, x, y T) uint8 {
	switch rel {
	case lt:
		return truth(x < y)
	case le:
		return truth(x <= y)
	case eq:
		return truth(x == y)
	case ne:
		return truth(x != y)
	case ge:
		return truth(x >= y)
	}
	return truth(x > y)
}

func both[T cmp.Ordered](rel relation, a, b []T, to target) {
	if rel == ge || rel == gt {
		rel, a, b = rel.flip(), b, a
	}
	switch t := to.(type) {
	case vector:
		o := t.o
		if t.sel != nil {
			for _, i := range t.sel {
				o[i] = holds(rel, a[i], b[i])
			}
			return
		}
		a, b = a[:len(o)], b[:len(o)]
		switch rel {
		case lt:
			for i := range o {
				o[i] = truth(a[i] < b[i])
			}
		case le:
			for i := range o {
				o[i] = truth(a[i] <= b[i])
			}
		case eq:
			for i := range o {
				o[i] = truth(a[i] == b[i])
			}
		case ne:
			for i := range o {
				o[i] = truth(a[i] != b[i])
			}
		}
	case *picker:
		k := 0
		if t.sel != nil {
			out := t.out[:len(t.sel)]
			for _, i := range t.sel {
				out[k] = i
				k += int(holds(rel, a[i], b[i]))
			}
			t.out = out[:k]
			return
		}
		out := t.out[:t.n]
		a, b = a[:t.n], b[:t.n]
		for i := range a {
			out[k] = uint32(i)
			k += int(holds(rel, a[i], b[i]))
		}
		t.out = out[:k]
	}
}

// intsWithFloat compares ints with a float the way the VM does: as floats.
func intsWithFloat(rel relation, a []int64, c float64, to target) { mixed(rel, a, []float64{c}, to) }

// mixed compares numbers as floats; a b of one element stands for all rows.
func mixed[A, B number](rel relation, a []A, b []B, to target) {
	step := uint32(1)
	if len(b) == 1 {
		step = 0
	}
	switch t := to.(type) {
	case vector:
		if t.sel == nil {
			for i := range t.o {
				t.o[i] = holds(rel, float64(a[i]), float64(b[uint32(i)*step]))
			}
			return
		}
		for _, i := range t.sel {
			t.o[i] = holds(rel, float64(a[i]), float64(b[i*step]))
		}
	case *picker:
		k := 0
		if t.sel == nil {
			out := t.out[:t.n]
			for i := range out {
				out[k] = uint32(i)
				k += int(holds(rel, float64(a[i]), float64(b[uint32(i)*step])))
			}
			t.out = out[:k]
			return
		}
		out := t.out[:len(t.sel)]
		for _, i := range t.sel {
			out[k] = i
			k += int(holds(rel, float64(a[i]), float64(b[i*step])))
		}
		t.out = out[:k]
	}
}

// isNull is x == nil and x != nil.
type isNull struct {
	a      *node
	differ bool
}

func (o *isNull) kids() []*node { return []*node{o.a} }

func (o *isNull) eval(r *run, n *node, sel []uint32) value {
	a := r.eval(o.a, sel)
	out := r.new(n.typ)
	v := asBytes(out.Bools)
	fill := truth(o.differ)
	for i := range v {
		v[i] = fill
	}
	eachNull(a.Valid, r.n, func(i int) { v[i] = 1 - fill })
	r.free(a)
	return out
}

func (o *isNull) filter(r *run, n *node, sel, out []uint32) []uint32 {
	a := r.eval(o.a, sel)
	if o.differ {
		out = validRows(a.Valid, r.rows(sel), out)
	} else {
		out = nullRows(a.Valid, r.rows(sel), out)
	}
	r.free(a)
	return out
}
