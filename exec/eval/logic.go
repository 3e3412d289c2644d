package eval

import (
	"encoding/binary"
	"slices"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// logic is a chain of `and` (or of `or`), three-valued. A part runs only on the rows that the parts before it leave
// open, unless running it on all costs less.
type logic struct {
	or    bool
	parts []*node
	eager []bool // of each part: it runs on all rows
}

func newLogic(or bool, parts []*node) *logic {
	o := &logic{or: or, parts: parts, eager: make([]bool, len(parts))}
	have := map[*node]bool{}
	parts[0].always(have)
	o.eager[0] = true
	for i, p := range parts[1:] {
		o.eager[i+1] = p.cheap(have)
	}
	return o
}

func (o *logic) sure() (ns []*node) {
	for i, p := range o.parts {
		if o.eager[i] {
			ns = append(ns, p)
		}
	}
	return ns
}

func (o *logic) kids() []*node { return o.parts }

func (o *logic) eval(r *run, n *node, sel []uint32) value {
	acc := r.own(r.eval(o.parts[0], sel), n.typ)
	open, opened := sel, 0
	var buf []uint32
	for k, p := range o.parts {
		if k == 0 {
			continue
		}
		if o.eager[k] {
			v := r.eval(p, open)
			o.combine(acc.Column, v.Column, r.dense(open))
			r.free(v)
			continue
		}
		if buf == nil {
			buf = r.sel()
		}
		open = o.undecided(acc.Column, open, buf)
		if len(open) == 0 {
			break
		}
		r.narrow()
		opened++
		v := r.eval(p, open)
		o.combine(acc.Column, v.Column, open)
		r.free(v)
	}
	if buf != nil {
		r.freeSel(buf)
	}
	r.widen(opened)
	return acc
}

// own returns v as a column that may be changed.
func (r *run) own(v value, t types.Type) value {
	if v.own {
		v.Column.Valid = cloneBits(v.Column.Valid)
		return v
	}
	out := r.new(t)
	copy(out.Bools, v.Bools)
	out.Valid = cloneBits(v.Valid)
	return out
}

func cloneBits(b vec.Bitmap) vec.Bitmap {
	if b == nil {
		return nil
	}
	return append(vec.Bitmap(nil), b...)
}

// undecided appends the rows of sel that another part may still change to out[:0]: all but the valid ones that are
// false (for `or`: true).
func (o *logic) undecided(acc *vec.Column, sel, out []uint32) []uint32 {
	v := asBytes(acc.Bools)
	flip := truth(o.or)
	k := 0
	switch {
	case acc.Valid != nil:
		out = out[:max(len(sel), len(v))]
		step := func(i uint32) {
			out[k] = i
			k += int(v[i] ^ flip | uint8(^acc.Valid[i>>6]>>(i&63)&1))
		}
		if sel == nil {
			for i := range v {
				step(uint32(i))
			}
		} else {
			for _, i := range sel {
				step(i)
			}
		}
	case sel == nil:
		out = out[:len(v)]
		for i, x := range v {
			out[k] = uint32(i)
			k += int(x ^ flip)
		}
	default:
		out = out[:len(sel)]
		for _, i := range sel {
			out[k] = i
			k += int(v[i] ^ flip)
		}
	}
	return out[:k]
}

// combine sets acc to acc and/or b on the rows of sel.
func (o *logic) combine(acc, b *vec.Column, sel []uint32) {
	x, y := asBytes(acc.Bools), asBytes(b.Bools)
	if acc.Valid != nil || b.Valid != nil {
		o.combineNull(acc, b, sel)
		return
	}
	switch {
	case sel != nil && o.or:
		for _, i := range sel {
			x[i] |= y[i]
		}
	case sel != nil:
		for _, i := range sel {
			x[i] &= y[i]
		}
	default:
		y = y[:len(x)]
		i := 0
		for ; i+8 <= len(x); i += 8 {
			p, q := binary.LittleEndian.Uint64(x[i:]), binary.LittleEndian.Uint64(y[i:])
			if o.or {
				p |= q
			} else {
				p &= q
			}
			binary.LittleEndian.PutUint64(x[i:], p)
		}
		for ; i < len(x); i++ {
			if o.or {
				x[i] |= y[i]
			} else {
				x[i] &= y[i]
			}
		}
	}
}

func (o *logic) combineNull(acc, b *vec.Column, sel []uint32) {
	if acc.Valid == nil {
		acc.Valid = vec.FullBitmap(len(acc.Bools))
	}
	step := func(i int) {
		av, bv := acc.Valid.Get(i), !b.Null(i)
		switch {
		case av && acc.Bools[i] == o.or: // decided
		case bv && b.Bools[i] == o.or:
			acc.Bools[i] = o.or
			acc.Valid.Set(i)
		case !av || !bv:
			acc.Valid.Clear(i)
		}
	}
	if sel == nil {
		for i := range acc.Bools {
			step(i)
		}
		return
	}
	for _, i := range sel {
		step(int(i))
	}
}

func (o *logic) filter(r *run, n *node, sel, out []uint32) []uint32 {
	if o.or {
		return o.filterOr(r, n, sel, out)
	}
	// A row on which a part is null is never true, yet the parts after it run on it and may fail: as eval has it.
	for i, p := range o.parts[:len(o.parts)-1] {
		if p.typ.Nullable && anyFails(o.parts[i+1:]) {
			v := o.eval(r, n, sel)
			out = trueRows(v.Bools, v.Valid, sel, out)
			r.free(v)
			return out
		}
	}
	out = r.filter(o.parts[0], sel, out)
	opened := 0
	for _, p := range o.parts[1:] {
		if len(out) == 0 {
			break
		}
		r.narrow()
		opened++
		out = r.filter(p, out, out)
	}
	r.widen(opened)
	return out
}

func anyFails(ns []*node) bool { return slices.ContainsFunc(ns, func(n *node) bool { return n.fails }) }

func (o *logic) filterOr(r *run, n *node, sel, out []uint32) []uint32 {
	if !slices.Contains(o.eager, false) {
		v := o.eval(r, n, sel)
		out = trueRows(v.Bools, v.Valid, sel, out)
		r.free(v)
		return out
	}
	found, rest, more, sum := r.sel(), r.sel(), r.sel(), r.sel()
	found = r.filter(o.parts[0], sel, found)
	rest = append(rest, r.rows(sel)...)
	opened := 0
	for i, p := range o.parts[1:] {
		if i == 0 {
			rest = without(rest, found)
		} else {
			rest = without(rest, more)
		}
		if len(rest) == 0 {
			break
		}
		r.narrow()
		opened++
		more = r.filter(p, rest, more)
		sum = merge(found, more, sum)
		found, sum = sum, found
	}
	r.widen(opened)
	out = append(out[:0], found...)
	r.freeSel(found)
	r.freeSel(rest)
	r.freeSel(more)
	r.freeSel(sum)
	return out
}

// not is `not`: null stays null.
type not struct{ a *node }

func (o *not) kids() []*node { return []*node{o.a} }

func (o *not) eval(r *run, n *node, sel []uint32) value {
	a := r.eval(o.a, sel)
	out := r.new(n.typ)
	out.Valid = a.Valid
	x, y := asBytes(out.Bools), asBytes(a.Bools)
	for i := range x {
		x[i] = y[i] ^ 1
	}
	r.free(a)
	return out
}
