package eval

import (
	"fmt"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// index is a[b] of a list (-1 is the last) or of JSON.
type index struct {
	a *node
	b operand
}

func (o *index) kids() []*node { return append([]*node{o.a}, operandKids(o.b)...) }

func (o *index) eval(r *run, n *node, sel []uint32) value {
	a, b := r.eval(o.a, sel), r.get(o.b, sel)
	var out value
	if a.Type.Kind == types.Any {
		out = o.json(r, n, sel, a, b)
	} else {
		bd := vec.NewBuilder(n.typ)
		next := 0
		for _, i := range r.rows(sel) {
			for ; next < int(i); next++ {
				bd.AppendNull()
			}
			next++
			if a.Null(int(i)) || b.Column != nil && b.Null(int(i)) {
				bd.AppendNull()
				continue
			}
			k := o.b.int()
			if b.Column != nil {
				k = b.Ints[i]
			}
			size := int64(a.Offs[i+1] - a.Offs[i])
			at := k
			if at < 0 {
				at += size
			}
			if at < 0 || at >= size {
				r.fail(n, int(i), fmt.Errorf("index %d is out of range: the list has %d elements; `get` gives null instead", k, size))
				bd.AppendNull()
				continue
			}
			bd.AppendRow(a.Kids[0], int(int64(a.Offs[i])+at))
		}
		for ; next < r.n; next++ {
			bd.AppendNull()
		}
		out = value{bd.Column(), false}
	}
	r.free(a)
	r.drop(b)
	return out
}

func (o *index) json(r *run, n *node, sel []uint32, a, b value) value {
	out := r.new(n.typ)
	out.Valid = vec.FullBitmap(r.n)
	for _, i := range r.rows(sel) {
		var s string
		ok := !a.Null(int(i)) && (b.Column == nil || !b.Null(int(i)))
		if ok {
			switch k := o.keyAt(b, int(i)).(type) {
			case string:
				s, ok = JSONMember(a.Strs[i], k)
			case int64:
				s, ok = JSONElement(a.Strs[i], k)
			}
		}
		if ok {
			out.Strs[i] = s
		} else {
			out.Valid.Clear(int(i))
		}
	}
	return out
}

func (o *index) keyAt(b value, i int) any {
	if b.Column == nil {
		return o.b.val
	}
	if b.Type.Kind == types.String {
		return b.Strs[i]
	}
	if b.Type.Kind == types.Int {
		return b.Ints[i]
	}
	return nil
}

// slice is a[from:to] of a string, by bytes, or of a list. Bounds are cut to what there is; a missing one is nil.
type slice struct {
	a        *node
	from, to operand
}

func (o *slice) kids() []*node { return append([]*node{o.a}, operandKids(o.from, o.to)...) }

func (o *slice) eval(r *run, n *node, sel []uint32) value {
	a, from, to := r.eval(o.a, sel), r.get(o.from, sel), r.get(o.to, sel)
	valid := vec.And(a.Valid, vec.And(from.valid(), to.valid()))
	bounds := func(i uint32, size int64) (lo, hi int64) {
		lo, hi = 0, size
		switch {
		case from.Column != nil:
			lo = from.Ints[i]
		case o.from.val != nil:
			lo = o.from.int()
		}
		switch {
		case to.Column != nil:
			hi = to.Ints[i]
		case o.to.val != nil:
			hi = o.to.int()
		}
		if lo < 0 {
			lo = max(lo+size, 0)
		}
		if hi < 0 {
			hi = max(hi+size, 0)
		}
		hi = min(hi, size)
		return min(lo, hi), hi
	}
	var out value
	if a.Type.Kind == types.List {
		c := &vec.Column{Type: n.typ, Valid: valid, Offs: make([]int32, r.n+1)}
		var kids []uint32
		next := 0
		for _, i := range r.rows(sel) {
			for ; next < int(i); next++ {
				c.Offs[next+1] = int32(len(kids))
			}
			next++
			if valid == nil || valid.Get(int(i)) {
				lo, hi := bounds(i, int64(a.Offs[i+1]-a.Offs[i]))
				for k := lo; k < hi; k++ {
					kids = append(kids, uint32(int64(a.Offs[i])+k))
				}
			}
			c.Offs[next] = int32(len(kids))
		}
		for ; next < r.n; next++ {
			c.Offs[next+1] = int32(len(kids))
		}
		c.Kids = []*vec.Column{a.Kids[0].Gather(kids)}
		out = value{c, false}
	} else {
		out = r.new(n.typ)
		out.Valid = valid
		for _, i := range r.rows(sel) {
			if valid == nil || valid.Get(int(i)) {
				s := a.Strs[i]
				lo, hi := bounds(i, int64(len(s)))
				out.Strs[i] = s[lo:hi]
			}
		}
	}
	r.free(a)
	r.drop(from)
	r.drop(to)
	return out
}

// maxRange is the longest list that `..` makes.
const maxRange = 1_000_000

// span is a..b: the ints from a to b, none if a is greater.
type span struct{ a, b operand }

func (o *span) kids() []*node { return operandKids(o.a, o.b) }

func (o *span) eval(r *run, n *node, sel []uint32) value {
	a, b := r.get(o.a, sel), r.get(o.b, sel)
	valid := vec.And(a.valid(), b.valid())
	c := &vec.Column{Type: n.typ, Valid: valid, Offs: make([]int32, r.n+1)}
	var ints []int64
	next := 0
	for _, i := range r.rows(sel) {
		for ; next < int(i); next++ {
			c.Offs[next+1] = int32(len(ints))
		}
		next++
		if valid == nil || valid.Get(int(i)) {
			lo, hi := o.a.int(), o.b.int()
			if a.Column != nil {
				lo = a.Ints[i]
			}
			if b.Column != nil {
				hi = b.Ints[i]
			}
			if hi >= lo {
				if uint64(hi-lo) >= maxRange || len(ints) > 1<<28 {
					r.fail(n, int(i), fmt.Errorf("%d..%d is too long: a range has at most %d elements", lo, hi, maxRange))
				} else {
					for x := lo; ; x++ {
						ints = append(ints, x)
						if x == hi {
							break
						}
					}
				}
			}
		}
		c.Offs[next] = int32(len(ints))
	}
	for ; next < r.n; next++ {
		c.Offs[next+1] = int32(len(ints))
	}
	if ints == nil {
		ints = []int64{}
	}
	c.Kids = []*vec.Column{{Type: *n.typ.Elem, Ints: ints}}
	r.drop(a)
	r.drop(b)
	return value{c, false}
}
