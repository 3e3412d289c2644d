// Package vec holds rows as typed columns: the data plane that operators, kernels and connectors share. It knows types
// and nothing of plans, tasks or expressions.
package vec

import (
	"fmt"
	"math"

	"github.com/ebb-lang/ebb/lang/types"
)

// Column is one column of a batch. Which slice holds the rows depends on the kind of Type; the other slices are nil.
// A column is immutable once its batch has been emitted; columns and their buffers may be shared between batches.
// The value at a row that is not valid is unspecified.
type Column struct {
	Type   types.Type
	Valid  Bitmap    // nil: no row is null
	Ints   []int64   // Int, Time, Duration
	Floats []float64 // Float
	Bools  []bool    // Bool
	Strs   []string  // String, Bytes, Any (as JSON text). Often a view into an input block that many rows share: Clone what outlives the batch
	Offs   []int32   // List: row i holds elements Offs[i] to Offs[i+1] of Kids[0]
	Kids   []*Column // List: the elements; Record: a column for each field, as long as this one
}

// Len returns the number of rows.
func (c *Column) Len() int {
	switch c.Type.Kind {
	case types.Int, types.Time, types.Duration:
		return len(c.Ints)
	case types.Float:
		return len(c.Floats)
	case types.Bool:
		return len(c.Bools)
	case types.String, types.Bytes, types.Any:
		return len(c.Strs)
	case types.List:
		return len(c.Offs) - 1
	case types.Record:
		if len(c.Kids) > 0 {
			return c.Kids[0].Len()
		}
		return len(c.Valid) * 64
	}
	return len(c.Valid) * 64
}

// Null reports whether row i is null.
func (c *Column) Null(i int) bool { return c.Valid != nil && !c.Valid.Get(i) }

// New returns a column of n rows with zero values, all valid.
func New(t types.Type, n int) *Column {
	c := &Column{Type: t}
	switch t.Kind {
	case types.Int, types.Time, types.Duration:
		c.Ints = make([]int64, n)
	case types.Float:
		c.Floats = make([]float64, n)
	case types.Bool:
		c.Bools = make([]bool, n)
	case types.String, types.Bytes, types.Any:
		c.Strs = make([]string, n)
	case types.List:
		c.Offs = make([]int32, n+1)
		c.Kids = []*Column{New(*t.Elem, 0)}
	case types.Record:
		for _, f := range t.Fields {
			c.Kids = append(c.Kids, New(f.Type, n))
		}
		if len(t.Fields) == 0 {
			c.Valid = FullBitmap(n)
		}
	case types.Null:
		c.Valid = NewBitmap(n)
	default:
		panic("vec: column of " + t.String())
	}
	return c
}

// NewNull returns a column of n rows, all null.
func NewNull(t types.Type, n int) *Column {
	c := New(t.Null(), n)
	c.Valid = NewBitmap(n)
	return c
}

// Const returns a column of n rows that all hold v (as Expr.Value holds it).
func Const(t types.Type, v any, n int) *Column {
	b := NewBuilder(t)
	for range n {
		b.Append(v)
	}
	return b.Column()
}

// Value returns row i as a Go value: nil, bool, int64 (also for Time and Duration), float64, string (also for Bytes and
// Any), []any or map[string]any. It allocates; it is for islands, tests and messages.
func (c *Column) Value(i int) any {
	if c.Null(i) {
		return nil
	}
	switch c.Type.Kind {
	case types.Int, types.Time, types.Duration:
		return c.Ints[i]
	case types.Float:
		return c.Floats[i]
	case types.Bool:
		return c.Bools[i]
	case types.String, types.Bytes, types.Any:
		return c.Strs[i]
	case types.List:
		out := make([]any, 0, c.Offs[i+1]-c.Offs[i])
		for j := c.Offs[i]; j < c.Offs[i+1]; j++ {
			out = append(out, c.Kids[0].Value(int(j)))
		}
		return out
	case types.Record:
		out := make(map[string]any, len(c.Kids))
		for k, f := range c.Type.Fields {
			out[f.Name] = c.Kids[k].Value(i)
		}
		return out
	}
	return nil
}

// Gather returns a dense column of the rows of c at rows, in that order.
func (c *Column) Gather(rows []uint32) *Column {
	out := &Column{Type: c.Type}
	if c.Valid != nil {
		v := NewBitmap(len(rows))
		all := true
		for i, r := range rows {
			if c.Valid.Get(int(r)) {
				v.Set(i)
			} else {
				all = false
			}
		}
		if !all || c.Type.Kind == types.Null {
			out.Valid = v
		}
	}
	switch c.Type.Kind {
	case types.Int, types.Time, types.Duration:
		out.Ints = gather(c.Ints, rows)
	case types.Float:
		out.Floats = gather(c.Floats, rows)
	case types.Bool:
		out.Bools = gather(c.Bools, rows)
	case types.String, types.Bytes, types.Any:
		out.Strs = gather(c.Strs, rows)
	case types.List:
		out.Offs = make([]int32, len(rows)+1)
		n := int32(0)
		for i, r := range rows {
			n += c.Offs[r+1] - c.Offs[r]
			out.Offs[i+1] = n
		}
		kid := make([]uint32, 0, n)
		for _, r := range rows {
			for j := c.Offs[r]; j < c.Offs[r+1]; j++ {
				kid = append(kid, uint32(j))
			}
		}
		out.Kids = []*Column{c.Kids[0].Gather(kid)}
	case types.Record:
		for _, k := range c.Kids {
			out.Kids = append(out.Kids, k.Gather(rows))
		}
		if len(c.Kids) == 0 && out.Valid == nil {
			out.Valid = FullBitmap(len(rows))
		}
	}
	return out
}

func gather[T any](from []T, rows []uint32) []T {
	to := make([]T, len(rows))
	for i, r := range rows {
		to[i] = from[r]
	}
	return to
}

// Equal reports whether row i of a and row j of b hold the same value, as grouping sees it: null equals null, NaN
// equals NaN, -0 equals 0.
func Equal(a *Column, i int, b *Column, j int) bool { return Compare(a, i, b, j) == 0 }

// Compare orders row i of a and row j of b (columns of one type): null last, NaN above all numbers, lists and records
// element by element.
func Compare(a *Column, i int, b *Column, j int) int {
	an, bn := a.Null(i), b.Null(j)
	if an || bn {
		return boolInt(an) - boolInt(bn)
	}
	switch a.Type.Kind {
	case types.Int, types.Time, types.Duration:
		return order(a.Ints[i], b.Ints[j])
	case types.Float:
		x, y := a.Floats[i], b.Floats[j]
		xn, yn := math.IsNaN(x), math.IsNaN(y)
		if xn || yn {
			return boolInt(xn) - boolInt(yn)
		}
		return order(x, y)
	case types.Bool:
		return boolInt(a.Bools[i]) - boolInt(b.Bools[j])
	case types.String, types.Bytes, types.Any:
		return order(a.Strs[i], b.Strs[j])
	case types.List:
		an, bn := a.Offs[i+1]-a.Offs[i], b.Offs[j+1]-b.Offs[j]
		for k := int32(0); k < min(an, bn); k++ {
			if o := Compare(a.Kids[0], int(a.Offs[i]+k), b.Kids[0], int(b.Offs[j]+k)); o != 0 {
				return o
			}
		}
		return order(an, bn)
	case types.Record:
		for k := range a.Kids {
			if o := Compare(a.Kids[k], i, b.Kids[k], j); o != 0 {
				return o
			}
		}
		return 0
	case types.Null:
		return 0
	}
	panic(fmt.Sprintf("vec: compare of %s", a.Type))
}

func order[T int64 | int32 | float64 | string](x, y T) int {
	if x < y {
		return -1
	}
	if x > y {
		return 1
	}
	return 0
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Bytes returns about how much memory the rows of c hold, shared buffers included in part.
func (c *Column) Bytes() int {
	n := len(c.Ints)*8 + len(c.Floats)*8 + len(c.Bools) + len(c.Offs)*4 + len(c.Valid)*8 + len(c.Strs)*16
	for _, s := range c.Strs {
		n += len(s)
	}
	for _, k := range c.Kids {
		n += k.Bytes()
	}
	return n
}
