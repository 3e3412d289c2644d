package eval

import (
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// choose is a chain of conditions: the value of the first that is true, else the last value. A value is computed only
// on the rows that take it, a condition only on the rows that the ones before it leave.
type choose struct {
	conds []*node
	vals  []operand // one more than conds
	table bool      // all values are constants and all conditions but the first cheap; of a maskable one: the value is cheap
}

func (o *choose) kids() []*node {
	return append(append([]*node(nil), o.conds...), operandKids(o.vals...)...)
}

func (o *choose) sure() []*node {
	if o.table {
		return o.conds
	}
	return o.conds[:1]
}

// plan decides how the chain is computed; kind is that of its values.
func (o *choose) plan(kind types.Kind) {
	have := map[*node]bool{}
	o.conds[0].always(have)
	if o.maskable() {
		for _, v := range o.vals {
			o.table = v.n != nil && v.n.cheap(have)
			if v.n != nil {
				return
			}
		}
	}
	o.table = layoutOf(kind) != otherLayout && len(o.conds) < 256
	for _, v := range o.vals {
		o.table = o.table && v.n == nil
	}
	for _, c := range o.conds[1:] {
		o.table = o.table && c.cheap(have)
	}
}

func (o *choose) refs() []*node {
	if o.maskable() {
		return operandKids(o.vals...)
	}
	return nil
}

// maskable tells the form that only hides rows: `c ? x : nil` or `c ? nil : x`.
func (o *choose) maskable() bool {
	return len(o.conds) == 1 && (o.vals[0].n == nil && o.vals[0].val == nil && o.vals[1].n != nil ||
		o.vals[1].n == nil && o.vals[1].val == nil && o.vals[0].n != nil)
}

func (o *choose) eval(r *run, n *node, sel []uint32) value {
	switch {
	case o.maskable():
		return o.mask(r, n, sel)
	case o.table && len(sel)*4 >= r.n || o.table && sel == nil:
		return o.lookUp(r, n, sel)
	}
	a := r.assemble(n.typ)
	rest, hit := append(r.sel(), r.rows(sel)...), r.sel()
	for k, c := range o.conds {
		hit = r.filter(c, rest, hit)
		r.choice(&a, o.vals[k], hit)
		rest = without(rest, hit)
		r.narrow()
	}
	r.choice(&a, o.vals[len(o.conds)], rest)
	r.widen(len(o.conds))
	r.freeSel(rest)
	r.freeSel(hit)
	return a.done(r)
}

// choice puts the value of v on the rows into a.
func (r *run) choice(a *assembly, v operand, rows []uint32) {
	if len(rows) == 0 {
		return
	}
	if v.n == nil {
		a.fill(v.val, rows)
		return
	}
	r.narrow()
	x := r.eval(v.n, rows)
	a.put(r, x, rows)
	r.widen(1)
}

// truths evaluates a condition into bytes; null counts as false.
func (r *run) truths(c *node, sel []uint32) value {
	v := r.eval(c, sel)
	if v.Valid == nil {
		return v
	}
	v = r.own(v, types.T(types.Bool))
	clearInvalid(asBytes(v.Bools), v.Valid)
	v.Valid = nil
	return v
}

func (o *choose) mask(r *run, n *node, sel []uint32) value {
	then := o.vals[0].n
	cond := r.truths(o.conds[0], sel)
	bytes := asBytes(cond.Bools)
	show := vec.NewBitmap(r.n)
	setBits(bytes, show)
	if then == nil {
		then = o.vals[1].n
		for w := range show {
			show[w] = ^show[w]
		}
	}
	r.free(cond)
	var v value
	if o.table {
		v = r.eval(then, sel)
	} else {
		rows := validRows(show, r.rows(sel), r.sel())
		r.narrow()
		v = r.eval(then, rows)
		r.widen(1)
		r.freeSel(rows)
	}
	c := *v.Column
	c.Type = n.typ
	c.Valid = vec.And(c.Valid, show)
	return value{&c, false}
}

// lookUp computes the number of each row's value from all conditions and takes the values from a table.
func (o *choose) lookUp(r *run, n *node, sel []uint32) value {
	idx := r.new(types.T(types.Bool))
	which := asBytes(idx.Bools) // bytes of any number here; made bools again below
	last := uint8(len(o.conds))
	for i := range which {
		which[i] = last
	}
	for k := len(o.conds) - 1; k >= 0; k-- {
		c := r.truths(o.conds[k], sel)
		b := asBytes(c.Bools)[:len(which)]
		for i, x := range b {
			m := -x
			which[i] = which[i]&^m | uint8(k)&m
		}
		r.free(c)
	}
	out := r.new(n.typ)
	switch layoutOf(n.typ.Kind) {
	case intLayout:
		fromTable(which, o.vals, out.Ints)
	case floatLayout:
		t := make([]operand, len(o.vals))
		for i, v := range o.vals {
			if t[i] = v; v.val != nil {
				t[i].val = v.float()
			}
		}
		fromTable(which, t, out.Floats)
	case boolLayout:
		fromTable(which, o.vals, out.Bools)
	case textLayout:
		fromTable(which, o.vals, out.Strs)
	}
	for k, v := range o.vals {
		if v.val == nil {
			if out.Valid == nil {
				out.Valid = vec.FullBitmap(r.n)
			}
			for i, x := range which {
				if int(x) == k {
					out.Valid.Clear(i)
				}
			}
		}
	}
	clear(which)
	r.free(idx)
	return out
}

func fromTable[T any](which []uint8, vals []operand, out []T) {
	var table [256]T
	for i, v := range vals {
		table[i], _ = v.val.(T)
	}
	for i, k := range which {
		out[i] = table[k]
	}
}

// coalesce is a ?? b.
type coalesce struct {
	a *node
	b operand
}

func (o *coalesce) kids() []*node { return append([]*node{o.a}, operandKids(o.b)...) }
func (o *coalesce) sure() []*node { return []*node{o.a} }

func (o *coalesce) refs() []*node { return []*node{o.a} }

func (o *coalesce) eval(r *run, n *node, sel []uint32) value {
	v := r.eval(o.a, sel)
	if allValid(v.Valid, sel, r.n) {
		if v.Valid == nil && v.Type.Equal(n.typ) {
			return v
		}
		c := *convert(v.Column, n.typ, r.n)
		c.Valid = nil // rows outside of sel are undefined anyway
		return value{&c, false}
	}
	a := r.assemble(n.typ)
	rows, rest := validRows(v.Valid, r.rows(sel), r.sel()), nullRows(v.Valid, r.rows(sel), r.sel())
	a.put(r, v, rows)
	r.choice(&a, o.b, rest)
	out := a.done(r)
	r.freeSel(rows)
	r.freeSel(rest)
	return out
}

// assembly puts a column together from values on disjoint rows. Lists and records wait until all are there, since
// their rows must be written in order.
type assembly struct {
	out   value
	n     int
	which []uint16 // lists and records: number of the part, from 1, of each row
	parts []*vec.Column
}

func (r *run) assemble(t types.Type) assembly {
	a := assembly{n: r.n}
	if t.Kind == types.List || t.Kind == types.Record || t.Kind == types.Null {
		a.which = make([]uint16, r.n)
		a.out = value{&vec.Column{Type: t}, false}
	} else {
		a.out = r.new(t)
	}
	return a
}

func (a *assembly) fill(v any, rows []uint32) {
	c := a.out.Column
	if a.which != nil {
		one := vec.Const(c.Type.Null(), v, 1)
		a.parts = append(a.parts, one)
		for _, i := range rows {
			a.which[i] = uint16(len(a.parts))
		}
		return
	}
	switch x := v.(type) {
	case nil:
		if c.Valid == nil {
			c.Valid = vec.FullBitmap(a.n)
		}
		for _, i := range rows {
			c.Valid.Clear(int(i))
		}
	case int64:
		if c.Floats != nil {
			spread(c.Floats, float64(x), rows)
		} else {
			spread(c.Ints, x, rows)
		}
	case float64:
		spread(c.Floats, x, rows)
	case bool:
		spread(c.Bools, x, rows)
	case string:
		spread(c.Strs, x, rows)
	}
}

func spread[T any](to []T, v T, rows []uint32) {
	for _, i := range rows {
		to[i] = v
	}
}

func copyRows[T any](to, from []T, rows []uint32) {
	for _, i := range rows {
		to[i] = from[i]
	}
}

// put takes the rows of v and gives v back to the pool.
func (a *assembly) put(r *run, v value, rows []uint32) {
	c := a.out.Column
	if a.which != nil {
		a.parts = append(a.parts, convert(v.Column, c.Type.OrNull(v.Type.Nullable), a.n))
		for _, i := range rows {
			a.which[i] = uint16(len(a.parts))
		}
		return
	}
	switch {
	case v.Type.Kind == types.Null:
		a.fill(nil, rows)
		return
	case c.Type.Kind == types.Any && v.Type.Kind != types.Any:
		v = value{toJSON(v.Column, a.n), false}
		copyRows(c.Strs, v.Strs, rows)
	case c.Floats != nil && v.Ints != nil:
		for _, i := range rows {
			c.Floats[i] = float64(v.Ints[i])
		}
	case c.Floats != nil:
		copyRows(c.Floats, v.Floats, rows)
	case c.Ints != nil:
		copyRows(c.Ints, v.Ints, rows)
	case c.Bools != nil:
		copyRows(c.Bools, v.Bools, rows)
	case c.Strs != nil:
		copyRows(c.Strs, v.Strs, rows)
	}
	if v.Valid != nil {
		for _, i := range rows {
			if !v.Valid.Get(int(i)) {
				if c.Valid == nil {
					c.Valid = vec.FullBitmap(a.n)
				}
				c.Valid.Clear(int(i))
			}
		}
	}
	r.free(v)
}

func (a *assembly) done(r *run) value {
	if a.which == nil {
		return a.out
	}
	b := vec.NewBuilder(a.out.Type)
	for i, k := range a.which {
		switch {
		case k == 0:
			b.AppendNull()
		case a.parts[k-1].Len() == 1 && a.n != 1:
			b.AppendRow(a.parts[k-1], 0)
		default:
			b.AppendRow(a.parts[k-1], i)
		}
	}
	return value{b.Column(), false}
}
