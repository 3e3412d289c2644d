package eval

import (
	"encoding/json"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Same is == of the language on row i of a and row j of b: null equals null, NaN nothing, numbers by value, lists and
// records member by member, JSON by what it says.
func Same(a *vec.Column, i int, b *vec.Column, j int) bool {
	an, bn := a.Null(i) || a.Type.Kind == types.Null, b.Null(j) || b.Type.Kind == types.Null
	if an || bn {
		return an && bn
	}
	switch ak, bk := a.Type.Kind, b.Type.Kind; {
	case ak == types.Any || bk == types.Any:
		if ak == bk && a.Strs[i] == b.Strs[j] {
			return true
		}
		return sameValues(plain(a, i), plain(b, j))
	case ak == types.Int && bk == types.Float:
		return float64(a.Ints[i]) == b.Floats[j]
	case ak == types.Float && bk == types.Int:
		return a.Floats[i] == float64(b.Ints[j])
	case layoutOf(ak) != layoutOf(bk):
		return false
	case ak == types.List:
		n := a.Offs[i+1] - a.Offs[i]
		if bk != types.List || n != b.Offs[j+1]-b.Offs[j] {
			return false
		}
		for k := int32(0); k < n; k++ {
			if !Same(a.Kids[0], int(a.Offs[i]+k), b.Kids[0], int(b.Offs[j]+k)) {
				return false
			}
		}
		return true
	case ak == types.Record:
		if bk != types.Record || len(a.Kids) != len(b.Kids) {
			return false
		}
		for k, f := range a.Type.Fields {
			m := b.Type.Field(f.Name)
			if m < 0 || !Same(a.Kids[k], i, b.Kids[m], j) {
				return false
			}
		}
		return true
	}
	switch layoutOf(a.Type.Kind) {
	case intLayout:
		return a.Ints[i] == b.Ints[j]
	case floatLayout:
		return a.Floats[i] == b.Floats[j]
	case boolLayout:
		return a.Bools[i] == b.Bools[j]
	}
	return a.Strs[i] == b.Strs[j]
}

// plain returns a row as the Go value that JSON would hold: texts for times and durations, float64 for numbers.
func plain(c *vec.Column, i int) any {
	var v any
	text := c.AppendJSON(nil, i)
	if json.Unmarshal(text, &v) != nil {
		return string(text)
	}
	return v
}

func sameValues(a, b any) bool {
	switch x := a.(type) {
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !sameValues(x[i], y[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			w, ok := y[k]
			if !ok || !sameValues(v, w) {
				return false
			}
		}
		return true
	}
	switch b.(type) {
	case []any, map[string]any:
		return false
	}
	return a == b
}

// deepEqual is == and != on what is no scalar, or on different kinds.
type deepEqual struct {
	a, b   *node
	differ bool
}

func (o *deepEqual) kids() []*node { return []*node{o.a, o.b} }

func (o *deepEqual) eval(r *run, n *node, sel []uint32) value {
	a, b := r.eval(o.a, sel), r.eval(o.b, sel)
	out := r.new(n.typ)
	for _, i := range r.rows(sel) {
		out.Bools[i] = Same(a.Column, int(i), b.Column, int(i)) != o.differ
	}
	r.free(a)
	r.free(b)
	return out
}
