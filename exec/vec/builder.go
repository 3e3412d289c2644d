package vec

import (
	"fmt"

	"github.com/ebb-lang/ebb/lang/types"
)

// Builder grows a column row by row. It is for paths that are not hot and for columns whose length is not known;
// kernels and decoders fill the slices of New directly.
type Builder struct {
	c       *Column
	n       int
	anyNull bool
	kids    []*Builder
}

// NewBuilder returns an empty builder for a column of the type.
func NewBuilder(t types.Type) *Builder {
	b := &Builder{c: &Column{Type: t}}
	switch t.Kind {
	case types.List:
		b.c.Offs = []int32{0}
		b.kids = []*Builder{NewBuilder(*t.Elem)}
	case types.Record:
		for _, f := range t.Fields {
			b.kids = append(b.kids, NewBuilder(f.Type))
		}
	}
	return b
}

// Len returns the number of rows so far.
func (b *Builder) Len() int { return b.n }

func (b *Builder) valid(ok bool) {
	if b.n&63 == 0 {
		b.c.Valid = append(b.c.Valid, 0)
	}
	if ok {
		b.c.Valid.Set(b.n)
	} else {
		b.anyNull = true
	}
	b.n++
}

// AppendNull adds a null.
func (b *Builder) AppendNull() {
	b.valid(false)
	switch b.c.Type.Kind {
	case types.Int, types.Time, types.Duration:
		b.c.Ints = append(b.c.Ints, 0)
	case types.Float:
		b.c.Floats = append(b.c.Floats, 0)
	case types.Bool:
		b.c.Bools = append(b.c.Bools, false)
	case types.String, types.Bytes, types.Any:
		b.c.Strs = append(b.c.Strs, "")
	case types.List:
		b.c.Offs = append(b.c.Offs, b.c.Offs[len(b.c.Offs)-1])
	case types.Record:
		for _, k := range b.kids {
			k.AppendNull()
		}
	}
}

// Append adds v, as Column.Value gives it; ints are taken for floats. It panics on a value of another type.
func (b *Builder) Append(v any) {
	if v == nil {
		b.AppendNull()
		return
	}
	b.valid(true)
	switch b.c.Type.Kind {
	case types.Int, types.Time, types.Duration:
		b.c.Ints = append(b.c.Ints, v.(int64))
	case types.Float:
		if i, ok := v.(int64); ok {
			v = float64(i)
		}
		b.c.Floats = append(b.c.Floats, v.(float64))
	case types.Bool:
		b.c.Bools = append(b.c.Bools, v.(bool))
	case types.String, types.Bytes, types.Any:
		b.c.Strs = append(b.c.Strs, v.(string))
	case types.List:
		for _, e := range v.([]any) {
			b.kids[0].Append(e)
		}
		b.c.Offs = append(b.c.Offs, int32(b.kids[0].n))
	case types.Record:
		m := v.(map[string]any)
		for i, f := range b.c.Type.Fields {
			b.kids[i].Append(m[f.Name])
		}
	default:
		panic(fmt.Sprintf("vec: append %T to %s", v, b.c.Type))
	}
}

// AppendRow adds row i of c, a column of the builder's type.
func (b *Builder) AppendRow(c *Column, i int) {
	if c.Null(i) {
		b.AppendNull()
		return
	}
	b.valid(true)
	switch b.c.Type.Kind {
	case types.Int, types.Time, types.Duration:
		b.c.Ints = append(b.c.Ints, c.Ints[i])
	case types.Float:
		b.c.Floats = append(b.c.Floats, c.Floats[i])
	case types.Bool:
		b.c.Bools = append(b.c.Bools, c.Bools[i])
	case types.String, types.Bytes, types.Any:
		b.c.Strs = append(b.c.Strs, c.Strs[i])
	case types.List:
		for j := c.Offs[i]; j < c.Offs[i+1]; j++ {
			b.kids[0].AppendRow(c.Kids[0], int(j))
		}
		b.c.Offs = append(b.c.Offs, int32(b.kids[0].n))
	case types.Record:
		for k := range b.kids {
			b.kids[k].AppendRow(c.Kids[k], i)
		}
	}
}

// AppendRows adds the rows sel of c, or its first n if sel is nil.
func (b *Builder) AppendRows(c *Column, sel []uint32, n int) {
	if sel != nil {
		for _, r := range sel {
			b.AppendRow(c, int(r))
		}
		return
	}
	for i := range n {
		b.AppendRow(c, i)
	}
}

// Column returns what was built. The builder must not be used after it.
func (b *Builder) Column() *Column {
	if !b.anyNull && !(b.c.Type.Kind == types.Record && len(b.kids) == 0) {
		b.c.Valid = nil
	}
	for _, k := range b.kids {
		b.c.Kids = append(b.c.Kids, k.Column())
	}
	if b.n == 0 {
		return New(b.c.Type, 0)
	}
	return b.c
}

// FromRows builds a dense batch from rows of Go values, for inline rows and tests.
func FromRows(s types.Schema, rows [][]any) *Batch {
	out := &Batch{N: len(rows)}
	for i, f := range s.Fields {
		b := NewBuilder(f.Type)
		for _, r := range rows {
			b.Append(r[i])
		}
		out.Cols = append(out.Cols, b.Column())
	}
	return out
}
