package eval

import (
	"encoding/json"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

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
	lengths uint64 // bit n: a text of n bytes is in the list, the last bit for all longer ones
	asFloat bool   // ints sought among floats
}

// set is a list without doubles, with an index if it is long.
type set[T comparable] struct {
	list  []T
	index map[T]struct{}
}

func (s *set[T]) add(v T) {
	for _, x := range s.list {
		if x == v {
			return
		}
	}
	s.list = append(s.list, v)
}

func (s *set[T]) done() {
	if len(s.list) <= linearLimit {
		return
	}
	s.index = make(map[T]struct{}, len(s.list))
	for _, x := range s.list {
		s.index[x] = struct{}{}
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
			o.lengths |= 1 << min(len(x), 63)
		case bool:
			o.bools[truth(x)] = true
		default:
			return nil
		}
	}
	if o.asFloat && len(o.ints.list) > 0 {
		return nil
	}
	o.ints.done()
	o.floats.done()
	o.strs.done()
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
			member(&o.ints, a.Ints, v, r.dense(sel))
		}
	case floatLayout:
		member(&o.floats, a.Floats, v, r.dense(sel))
	case boolLayout:
		for _, i := range r.rows(sel) {
			v[i] = truth(o.bools[truth(a.Bools[i])])
		}
	case textLayout:
		for _, i := range r.rows(sel) {
			s := a.Strs[i]
			v[i] = 0
			if o.lengths>>min(uint(len(s)), 63)&1 == 0 {
				continue
			}
			if o.strs.index != nil {
				v[i] = o.strs.has(s)
				continue
			}
			for _, x := range o.strs.list {
				if x == s {
					v[i] = 1
					break
				}
			}
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
