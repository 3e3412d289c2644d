package eval

import (
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// column is a column of the input, by reference.
type column struct{ i int }

func (o *column) kids() []*node { return nil }

func (o *column) eval(r *run, n *node, sel []uint32) value { return value{r.b.Cols[o.i], false} }

// constant is a literal as a column; operators that take constants as scalars do not ask for it.
type constant struct {
	v    any
	full *vec.Column // of the most rows so far
}

func (o *constant) kids() []*node { return nil }

func (o *constant) eval(r *run, n *node, sel []uint32) value {
	if o.full == nil || o.full.Len() < r.n || n.typ.Kind == types.Null {
		if o.v == nil {
			o.full = vec.NewNull(n.typ, r.n)
		} else {
			o.full = vec.Const(n.typ, o.v, r.n)
		}
	}
	return value{head(o.full, r.n), false}
}

func (o *constant) filter(r *run, n *node, sel, out []uint32) []uint32 {
	if o.v == true {
		return append(out[:0], r.rows(sel)...)
	}
	return out[:0]
}

// head returns the first n rows of c.
func head(c *vec.Column, n int) *vec.Column {
	if c.Len() == n {
		return c
	}
	h := &vec.Column{Type: c.Type}
	switch {
	case c.Ints != nil:
		h.Ints = c.Ints[:n]
	case c.Floats != nil:
		h.Floats = c.Floats[:n]
	case c.Bools != nil:
		h.Bools = c.Bools[:n]
	case c.Strs != nil:
		h.Strs = c.Strs[:n]
	case c.Offs != nil:
		h.Offs, h.Kids = c.Offs[:n+1], c.Kids
	default:
		for _, k := range c.Kids {
			h.Kids = append(h.Kids, head(k, n))
		}
	}
	if c.Valid != nil {
		h.Valid = c.Valid[:(n+63)/64]
	}
	return h
}

// eventTime is event_time().
type eventTime struct{}

func (eventTime) kids() []*node { return nil }

func (eventTime) eval(r *run, n *node, sel []uint32) value {
	if r.b.Time == nil {
		return value{vec.NewNull(n.typ, r.n), false}
	}
	return value{&vec.Column{Type: n.typ, Ints: r.b.Time}, false}
}

// now is now(): one value for the batch.
type now struct{}

func (now) kids() []*node { return nil }

func (now) eval(r *run, n *node, sel []uint32) value {
	out := r.new(n.typ)
	for i := range out.Ints {
		out.Ints[i] = r.x.Now
	}
	return out
}

// cast changes the type of a value without failing.
type cast struct{ a *node }

func (o *cast) kids() []*node { return []*node{o.a} }
func (o *cast) refs() []*node { return []*node{o.a} }

func (o *cast) eval(r *run, n *node, sel []uint32) value {
	a := r.eval(o.a, sel)
	if a.Type.Kind == types.Int && n.typ.Kind == types.Float {
		out := r.new(n.typ)
		out.Valid = a.Valid
		for i, x := range a.Ints {
			out.Floats[i] = float64(x)
		}
		r.free(a)
		return out
	}
	c := convert(a.Column, n.typ, r.n)
	return value{c, a.own && c == a.Column}
}

// convert returns c as a column of n rows of type t, sharing what need not change.
func convert(c *vec.Column, t types.Type, n int) *vec.Column {
	switch {
	case c.Type.Equal(t):
		return c
	case c.Type.Kind == types.Null:
		return vec.NewNull(t, n)
	case t.Kind == types.Any && c.Type.Kind != types.Any:
		return toJSON(c, n)
	}
	out := *c
	out.Type = t
	switch {
	case c.Type.Kind == types.Int && t.Kind == types.Float:
		out.Ints, out.Floats = nil, make([]float64, n)
		for i := range out.Floats {
			out.Floats[i] = float64(c.Ints[i])
		}
	case t.Kind == types.List:
		out.Kids = []*vec.Column{convert(c.Kids[0], *t.Elem, c.Kids[0].Len())}
	case t.Kind == types.Record:
		out.Kids = make([]*vec.Column, len(t.Fields))
		for i, f := range t.Fields {
			out.Kids[i] = convert(c.Kids[i], f.Type, n)
		}
	}
	return &out
}

// toJSON returns the rows of c as JSON text.
func toJSON(c *vec.Column, n int) *vec.Column {
	out := vec.New(types.T(types.Any).OrNull(c.Type.Nullable), n)
	out.Valid = c.Valid
	for i := range out.Strs {
		if !c.Null(i) {
			out.Strs[i] = string(c.AppendJSON(nil, i))
		}
	}
	return out
}

// record is {Names: Args}.
type record struct{ fields []*node }

func (o *record) kids() []*node { return o.fields }
func (o *record) refs() []*node { return o.fields }

func (o *record) eval(r *run, n *node, sel []uint32) value {
	out := &vec.Column{Type: n.typ}
	for i, f := range o.fields {
		c := r.eval(f, sel).Column
		out.Kids = append(out.Kids, convert(c, n.typ.Fields[i].Type, r.n))
	}
	if len(out.Kids) == 0 {
		out.Valid = vec.FullBitmap(r.n)
	}
	return value{out, false}
}

// field is a.name of a record or of JSON.
type field struct {
	a    *node
	i    int
	name string
}

func (o *field) kids() []*node { return []*node{o.a} }
func (o *field) refs() []*node { return []*node{o.a} }

func (o *field) eval(r *run, n *node, sel []uint32) value {
	a := r.eval(o.a, sel)
	if a.Type.Kind == types.Record {
		k := a.Kids[o.i]
		if a.Valid == nil {
			return value{k, false}
		}
		c := *k
		c.Type = n.typ
		c.Valid = vec.And(a.Valid, k.Valid)
		return value{&c, false}
	}
	out := r.new(n.typ)
	out.Valid = cloneBits(a.Valid)
	if out.Valid == nil {
		out.Valid = vec.FullBitmap(r.n)
	}
	for _, i := range r.rows(sel) {
		if a.Null(int(i)) {
			continue
		}
		if s, ok := JSONMember(a.Strs[i], o.name); ok {
			out.Strs[i] = s
		} else {
			out.Valid.Clear(int(i))
		}
	}
	r.free(a)
	return out
}

// list is [Args…].
type list struct{ elems []*node }

func (o *list) kids() []*node { return o.elems }

func (o *list) eval(r *run, n *node, sel []uint32) value {
	out := &vec.Column{Type: n.typ, Offs: make([]int32, r.n+1)}
	cols := make([]value, len(o.elems))
	for k, e := range o.elems {
		cols[k] = r.eval(e, sel)
		if !cols[k].Type.Equal(*n.typ.Elem) {
			cols[k] = value{convert(cols[k].Column, *n.typ.Elem, r.n), false}
		}
	}
	b := vec.NewBuilder(*n.typ.Elem)
	next := 0
	for _, i := range r.rows(sel) {
		for ; next < int(i); next++ {
			out.Offs[next+1] = int32(b.Len())
		}
		size := 8 * len(cols)
		if n.risky {
			for _, c := range cols {
				size += c.Size(int(i))
			}
		}
		if size > vec.MaxValue {
			r.fail(n, int(i), vec.TooLarge("list", size))
			continue
		}
		for _, c := range cols {
			b.AppendRow(c.Column, int(i))
		}
		next = int(i) + 1
		out.Offs[next] = int32(b.Len())
	}
	for ; next < r.n; next++ {
		out.Offs[next+1] = int32(b.Len())
	}
	for _, c := range cols {
		r.free(c)
	}
	out.Kids = []*vec.Column{b.Column()}
	return value{out, false}
}
