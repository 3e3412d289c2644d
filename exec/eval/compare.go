package eval

import (
	"cmp"
	"math"

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

	// Of numbers with a constant: the range that is sought. Then rel only says how null is taken.
	ints  wholes
	reals reals
}

// setRange computes the range of a comparison of numbers with a constant.
func (o *compare) setRange() {
	switch {
	case o.b.n != nil:
	case o.lay == intLayout:
		o.ints = wholeRange(o.rel, o.b.int())
	case o.lay == boolLayout:
		o.ints = wholeRange(o.rel, int64(truth(o.b.val.(bool))))
	case o.lay == floatLayout:
		o.reals = realRange(o.rel, o.b.float())
	}
}

// mergeRanges makes one test of neighbours like `x >= a and x < b`, or `i < a or i > b`.
func mergeRanges(parts []*node, or bool) []*node {
	out := parts[:1]
	for _, p := range parts[1:] {
		if m := mergeRange(out[len(out)-1], p, or); m != nil {
			out[len(out)-1] = m
		} else {
			out = append(out, p)
		}
	}
	return out
}

func mergeRange(x, y *node, or bool) *node {
	a, ok := x.op.(*compare)
	b, ok2 := y.op.(*compare)
	if !ok || !ok2 || a.b.n != nil || b.b.n != nil || a.a != b.a || a.lay != b.lay || a.rel == eq || a.rel == ne || b.rel == eq || b.rel == ne {
		return nil
	}
	m := *a
	switch {
	case a.lay == intLayout:
		// `or` is the opposite of `and` of the opposites.
		if m.ints, ok = a.ints.opposite(or).and(b.ints.opposite(or)); !ok {
			return nil
		}
		m.ints = m.ints.opposite(or)
	case a.lay == floatLayout && !or:
		m.reals.lo, m.reals.hi = max(a.reals.lo, b.reals.lo), min(a.reals.hi, b.reals.hi)
	default:
		return nil
	}
	x.op.kids()[0].uses-- // two tests become one
	return &node{op: &m, typ: x.typ, pos: x.pos, cost: x.cost, fails: x.fails || y.fails}
}

func (o *compare) kids() []*node { return operandKids(o.a, o.b) }

func (o *compare) eval(r *run, n *node, sel []uint32) value {
	a, b := r.get(o.a, sel), r.get(o.b, sel)
	out := r.new(n.typ)
	s := sel
	if o.lay != textLayout {
		s = r.dense(sel)
	}
	o.compare(a, b, asBytes(out.Bools), s)
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
	if o.b.n != nil || o.lay == textLayout || o.lay == boolLayout || o.rel == ne && o.a.n.typ.Nullable {
		v := o.eval(r, n, sel)
		out = trueRows(v.Bools, v.Valid, sel, out)
		r.free(v)
		return out
	}
	a := r.eval(o.a.n, sel)
	switch {
	case o.lay == intLayout:
		out = o.ints.pick(a.Ints[:r.n], sel, out)
	case o.a.isInt:
		out = pickReals(o.reals, a.Ints[:r.n], sel, out)
	default:
		out = pickReals(o.reals, a.Floats[:r.n], sel, out)
	}
	out = validRows(a.Valid, out, out)
	r.free(a)
	return out
}

// compare fills o for the rows of sel (nil: all), nulls not considered.
func (o *compare) compare(a, b value, out []uint8, sel []uint32) {
	if o.b.n == nil {
		switch {
		case o.lay == textLayout:
			textsWith(o.rel, a.Strs, o.b.val.(string), out, sel)
		case o.lay == boolLayout:
			o.ints.testBytes(asBytes(a.Bools), out, sel)
		case o.lay == intLayout:
			o.ints.test(a.Ints, out, sel)
		case o.a.isInt:
			testReals(o.reals, a.Ints, out, sel)
		default:
			testReals(o.reals, a.Floats, out, sel)
		}
		return
	}
	switch {
	case o.lay == textLayout:
		both(o.rel, a.Strs, b.Strs, out, sel)
	case o.lay == boolLayout:
		both(o.rel, asBytes(a.Bools), asBytes(b.Bools), out, sel)
	case o.lay == intLayout:
		both(o.rel, a.Ints, b.Ints, out, sel)
	case o.a.isInt && o.b.isInt:
		mixed(o.rel, a.Ints, b.Ints, out, sel)
	case o.a.isInt:
		mixed(o.rel, a.Ints, b.Floats, out, sel)
	case o.b.isInt:
		mixed(o.rel, a.Floats, b.Ints, out, sel)
	default:
		both(o.rel, a.Floats, b.Floats, out, sel)
	}
}

// A comparison of numbers with a constant is a test for a range, so that one loop serves all relations.

// wholes is the ints from lo to lo + width, or with flip = 1 those outside of it.
type wholes struct {
	lo    int64
	width uint64
	flip  uint8
}

func wholeRange(rel relation, c int64) wholes {
	upTo := wholes{lo: math.MinInt64, width: uint64(c) ^ 1<<63} // x <= c
	below := wholes{lo: math.MinInt64, width: upTo.width - 1}   // x < c
	if c == math.MinInt64 {
		below = wholes{lo: c, width: math.MaxUint64, flip: 1} // none
	}
	s := wholes{lo: c}
	switch rel {
	case lt, ge:
		s = below
	case le, gt:
		s = upTo
	}
	if rel == ne || rel == ge || rel == gt {
		s.flip ^= 1
	}
	return s
}

// opposite is s, or if not is set all other ints.
func (s wholes) opposite(not bool) wholes {
	s.flip ^= truth(not)
	return s
}

// and is the ints that are in both, false if they are no range that starts or ends at an end of all ints.
func (s wholes) and(t wholes) (wholes, bool) {
	slo, shi, ok := s.bounds()
	tlo, thi, ok2 := t.bounds()
	lo, hi := max(slo, tlo), min(shi, thi)
	if !ok || !ok2 || lo > hi {
		return s, false
	}
	return wholes{lo: lo, width: uint64(hi - lo)}, true
}

// bounds are the least and the greatest int, false if there is none or a hole between them.
func (s wholes) bounds() (lo, hi int64, ok bool) {
	end := s.lo + int64(s.width)
	switch {
	case s.flip == 0:
		return s.lo, end, true
	case s.lo == math.MinInt64 && end != math.MaxInt64:
		return end + 1, math.MaxInt64, true
	case end == math.MaxInt64 && s.lo != math.MinInt64:
		return math.MinInt64, s.lo - 1, true
	}
	return 0, 0, false
}

func (s wholes) has(x int64) uint8 { return truth(uint64(x-s.lo) <= s.width) ^ s.flip }

func (s wholes) test(a []int64, out []uint8, sel []uint32) {
	if sel != nil {
		for _, i := range sel {
			out[i] = s.has(a[i])
		}
		return
	}
	a = a[:len(out)]
	for i := range out {
		out[i] = s.has(a[i])
	}
}

func (s wholes) testBytes(a, out []uint8, sel []uint32) {
	if sel != nil {
		for _, i := range sel {
			out[i] = s.has(int64(a[i]))
		}
		return
	}
	for i := range out {
		out[i] = s.has(int64(a[i]))
	}
}

func (s wholes) pick(a []int64, sel, out []uint32) []uint32 {
	k := 0
	if sel != nil {
		out = out[:len(sel)]
		for _, i := range sel {
			out[k] = i
			k += int(s.has(a[i]))
		}
		return out[:k]
	}
	out = out[:len(a)]
	for i, x := range a {
		out[k] = uint32(i)
		k += int(s.has(x))
	}
	return out[:k]
}

// reals is the floats from lo to hi, or with flip = 1 those outside of it. NaN is outside of every range.
type reals struct {
	lo, hi float64
	flip   uint8
}

func realRange(rel relation, c float64) reals {
	least, most := math.Inf(-1), math.Inf(1)
	switch {
	case rel == eq:
		return reals{c, c, 0}
	case rel == ne:
		return reals{c, c, 1}
	case c != c, rel == lt && c == least, rel == gt && c == most:
		return reals{most, least, 0} // none
	}
	switch rel {
	case lt:
		return reals{least, math.Nextafter(c, least), 0}
	case le:
		return reals{least, c, 0}
	case ge:
		return reals{c, most, 0}
	}
	return reals{math.Nextafter(c, most), most, 0}
}

func (s reals) has(x float64) uint8 { return truth(x >= s.lo)&truth(x <= s.hi) ^ s.flip }

// testReals compares numbers as floats, the way the VM does.
func testReals[A number](s reals, a []A, out []uint8, sel []uint32) {
	if sel != nil {
		for _, i := range sel {
			out[i] = s.has(float64(a[i]))
		}
		return
	}
	a = a[:len(out)]
	for i := range out {
		out[i] = s.has(float64(a[i]))
	}
}

func pickReals[A number](s reals, a []A, sel, out []uint32) []uint32 {
	k := 0
	if sel != nil {
		out = out[:len(sel)]
		for _, i := range sel {
			out[k] = i
			k += int(s.has(float64(a[i])))
		}
		return out[:k]
	}
	out = out[:len(a)]
	for i, x := range a {
		out[k] = uint32(i)
		k += int(s.has(float64(x)))
	}
	return out[:k]
}

func textsWith(rel relation, a []string, c string, out []uint8, sel []uint32) {
	switch flip := truth(rel == ne); {
	case rel == eq || rel == ne:
		if sel != nil {
			for _, i := range sel {
				out[i] = truth(a[i] == c) ^ flip
			}
			return
		}
		a = a[:len(out)]
		for i := range out {
			out[i] = truth(a[i] == c) ^ flip
		}
	case sel != nil:
		for _, i := range sel {
			out[i] = holds(rel, a[i], c)
		}
	default:
		for i := range out {
			out[i] = holds(rel, a[i], c)
		}
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

func both[T cmp.Ordered](rel relation, a, b []T, out []uint8, sel []uint32) {
	if rel == ge || rel == gt {
		rel, a, b = rel.flip(), b, a
	}
	if sel != nil {
		for _, i := range sel {
			out[i] = holds(rel, a[i], b[i])
		}
		return
	}
	a, b = a[:len(out)], b[:len(out)]
	switch rel { // written out: a test inside of the loop would cost as much as the comparison
	case lt:
		for i := range out {
			out[i] = truth(a[i] < b[i])
		}
	case le:
		for i := range out {
			out[i] = truth(a[i] <= b[i])
		}
	case eq:
		for i := range out {
			out[i] = truth(a[i] == b[i])
		}
	case ne:
		for i := range out {
			out[i] = truth(a[i] != b[i])
		}
	}
}

// mixed compares an int with a float, or two ints as floats.
func mixed[A, B number](rel relation, a []A, b []B, out []uint8, sel []uint32) {
	if sel != nil {
		for _, i := range sel {
			out[i] = holds(rel, float64(a[i]), float64(b[i]))
		}
		return
	}
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = holds(rel, float64(a[i]), float64(b[i]))
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
