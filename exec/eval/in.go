package eval

import (
	"encoding/json"
	"slices"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// inRange is x in lo..hi, of which no list is made.
type inRange struct {
	a      *node
	lo, hi operand
}

// known reports whether the operand is not the constant nil.
func (o operand) known() bool { return o.n != nil || o.val != nil }

func (o *inRange) kids() []*node { return append([]*node{o.a}, operandKids(o.lo, o.hi)...) }

func (o *inRange) eval(r *run, n *node, sel []uint32) value {
	a, lo, hi := r.eval(o.a, sel), r.get(o.lo, sel), r.get(o.hi, sel)
	valid := vec.And(a.Valid, vec.And(lo.valid(), hi.valid()))
	out := r.new(n.typ)
	from, to := o.lo.int(), o.hi.int()
	for _, i := range r.rows(sel) {
		if lo.Column != nil {
			from = lo.Ints[i]
		}
		if hi.Column != nil {
			to = hi.Ints[i]
		}
		x := a.Ints[i]
		out.Bools[i] = from <= x && x <= to && (valid == nil || valid.Get(int(i)))
	}
	r.free(a)
	r.drop(lo)
	r.drop(hi)
	return out
}

// linearLimit is the longest constant list that is searched element by element.
const linearLimit = 8

// inConst is x in [constants].
type inConst struct {
	a       *node
	null    bool // nil is in the list
	ints    set[int64]
	floats  set[float64]
	strs    set[string]
	bools   [2]bool
	asFloat bool // ints sought among floats

	// Texts of a short list by their length (the last place for all longer ones). Where no text has it, first has one
	// that equals none of that length; where several have, more has the others.
	first [64]string
	more  [64][]string
}

// set is a list without doubles, with an index if it is long.
type set[T comparable] struct {
	list  []T
	index map[T]struct{}
}

func (s *set[T]) add(v T) {
	if s.has(v) == 1 {
		return
	}
	s.list = append(s.list, v)
	switch {
	case s.index != nil:
		s.index[v] = struct{}{}
	case len(s.list) > linearLimit:
		s.index = map[T]struct{}{}
		for _, x := range s.list {
			s.index[x] = struct{}{}
		}
	}
}

func (s *set[T]) has(v T) uint8 {
	if s.index != nil {
		_, ok := s.index[v]
		return truth(ok)
	}
	var hit uint8
	for _, x := range s.list {
		hit |= truth(x == v)
	}
	return hit
}

// newInConst returns nil where the list holds something else than constants that compare with the needle.
func newInConst(a *node, elem types.Type, list []any) *inConst {
	o := &inConst{a: a}
	lay := layoutOf(a.typ.Kind)
	for _, v := range list {
		switch x := v.(type) {
		case nil:
			o.null = true
		case int64:
			if lay == floatLayout {
				o.floats.add(float64(x))
			} else if lay == intLayout {
				o.ints.add(x)
			}
		case float64:
			if lay == intLayout {
				o.asFloat = true
			}
			o.floats.add(x)
		case string:
			o.strs.add(x)
		case bool:
			o.bools[truth(x)] = true
		default:
			return nil
		}
	}
	if o.asFloat && len(o.ints.list) > 0 {
		return nil
	}
	o.first[0] = "no empty text"
	taken := map[int]bool{}
	for _, x := range o.strs.list {
		k := min(len(x), 63)
		if taken[k] {
			o.more[k] = append(o.more[k], x)
			continue
		}
		o.first[k], taken[k] = x, true
	}
	return o
}

func (o *inConst) kids() []*node { return []*node{o.a} }

func (o *inConst) eval(r *run, n *node, sel []uint32) value {
	a := r.eval(o.a, sel)
	out := r.new(n.typ)
	v := asBytes(out.Bools)
	switch layoutOf(o.a.typ.Kind) {
	case intLayout:
		if o.asFloat {
			for _, i := range r.rows(sel) {
				v[i] = o.floats.has(float64(a.Ints[i]))
			}
		} else {
			memberInts(&o.ints, a.Ints, v, r.dense(sel))
		}
	case floatLayout:
		member(&o.floats, a.Floats, v, r.dense(sel))
	case boolLayout:
		for _, i := range r.rows(sel) {
			v[i] = truth(o.bools[truth(a.Bools[i])])
		}
	case textLayout:
		if o.strs.index != nil {
			for _, i := range r.rows(sel) {
				v[i] = o.strs.has(a.Strs[i])
			}
			break
		}
		for _, i := range r.rows(sel) {
			s := a.Strs[i]
			k := min(len(s), 63)
			x := o.first[k]
			hit := len(x) == len(s) && (k == 0 || x[0] == s[0] && x == s) // most texts that differ do so at once
			for _, x := range o.more[k] {
				hit = hit || x[0] == s[0] && x == s
			}
			v[i] = truth(hit)
		}
	}
	o.fixNulls(r, a, v)
	r.free(a)
	return out
}

func (o *inConst) fixNulls(r *run, a value, v []uint8) {
	if a.Type.Kind == types.Null {
		for i := range v {
			v[i] = truth(o.null)
		}
		return
	}
	eachNull(a.Valid, len(v), func(i int) { v[i] = truth(o.null) })
}

// memberInts looks ints up in a word of bits if the list lies close together, else compares all at once.
func memberInts(s *set[int64], a []int64, v []uint8, sel []uint32) {
	if s.index != nil || len(s.list) == 0 || sel != nil {
		member(s, a, v, sel)
		return
	}
	least, most := slices.Min(s.list), slices.Max(s.list)
	a = a[:len(v)]
	if uint64(most-least) < 64 {
		var word uint64
		for _, x := range s.list {
			word |= 1 << uint(x-least)
		}
		for i, x := range a {
			at := uint64(x - least)
			v[i] = uint8(word>>(at&63)&1) & truth(at < 64)
		}
		return
	}
	var c [linearLimit]int64
	for i := range c {
		c[i] = s.list[min(i, len(s.list)-1)]
	}
	c0, c1, c2, c3, c4, c5, c6, c7 := c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]
	for i, x := range a {
		v[i] = truth(x == c0) | truth(x == c1) | truth(x == c2) | truth(x == c3) | truth(x == c4) | truth(x == c5) | truth(x == c6) | truth(x == c7)
	}
}

func member[T comparable](s *set[T], a []T, v []uint8, sel []uint32) {
	if sel != nil || s.index != nil || len(s.list) == 0 {
		if sel == nil {
			for i := range v {
				v[i] = s.has(a[i])
			}
			return
		}
		for _, i := range sel {
			v[i] = s.has(a[i])
		}
		return
	}
	a = a[:len(v)]
	c := s.list[0]
	for i := range v {
		v[i] = truth(a[i] == c)
	}
	for _, c := range s.list[1:] {
		for i := range v {
			v[i] |= truth(a[i] == c)
		}
	}
}

// inList is x in a list, in the keys of a record, or in JSON.
type inList struct{ a, b *node }

func (o *inList) kids() []*node { return []*node{o.a, o.b} }

func (o *inList) eval(r *run, n *node, sel []uint32) value {
	a, b := r.eval(o.a, sel), r.eval(o.b, sel)
	out := r.new(n.typ)
	for _, i := range r.rows(sel) {
		out.Bools[i] = contains(b.Column, a.Column, int(i))
	}
	r.free(a)
	r.free(b)
	return out
}

func contains(list, x *vec.Column, i int) bool {
	if list.Null(i) {
		return false
	}
	switch list.Type.Kind {
	case types.List:
		for j := list.Offs[i]; j < list.Offs[i+1]; j++ {
			if Same(x, i, list.Kids[0], int(j)) {
				return true
			}
		}
	case types.Record:
		if s, ok := x.Value(i).(string); ok {
			return list.Type.Field(s) >= 0
		}
	case types.Any:
		var v any
		if json.Unmarshal([]byte(list.Strs[i]), &v) != nil {
			return false
		}
		var needle any
		if !x.Null(i) {
			needle = plain(x, i)
		}
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				if sameValues(e, needle) {
					return true
				}
			}
		case map[string]any:
			if s, ok := needle.(string); ok {
				_, ok = v[s]
				return ok
			}
		}
	}
	return false
}
