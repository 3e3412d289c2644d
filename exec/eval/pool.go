package eval

import (
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// pool lends the buffers of temporaries. What leaves an evaluation is not given back.
type pool struct {
	n      int // rows of the batch
	ints   [][]int64
	floats [][]float64
	bools  [][]bool
	strs   [][]string
	sels   [][]uint32
	cols   []*vec.Column
	all    []uint32 // 0, 1, 2, …
}

func (p *pool) start(n int) { p.n = n }

func take[T any](list *[][]T, n, room int) []T {
	if k := len(*list) - 1; k >= 0 {
		s := (*list)[k]
		*list = (*list)[:k]
		if cap(s) >= n+room {
			return s[:n]
		}
	}
	return make([]T, n, n+room)
}

// sel returns a buffer for a selection: empty, with room for all rows and one more.
func (p *pool) sel() []uint32 { return take(&p.sels, p.n, 1)[:0] }

func (p *pool) freeSel(s []uint32) { p.sels = append(p.sels, s[:0]) }

// rows returns sel, or all rows where it is nil.
func (p *pool) rows(sel []uint32) []uint32 {
	if sel != nil {
		return sel
	}
	for i := len(p.all); i < p.n; i++ {
		p.all = append(p.all, uint32(i))
	}
	return p.all[:p.n]
}

// dense returns nil, which is all rows, where computing all is cheaper than picking those of sel.
func (p *pool) dense(sel []uint32) []uint32 {
	if len(sel)*2 >= p.n {
		return nil
	}
	return sel
}

// new returns a column of the type with unspecified rows, all valid.
func (p *pool) new(t types.Type) value {
	var c *vec.Column
	if k := len(p.cols) - 1; k >= 0 {
		c = p.cols[k]
		p.cols = p.cols[:k]
	} else {
		c = new(vec.Column)
	}
	c.Type = t
	switch t.Kind {
	case types.Int, types.Time, types.Duration:
		c.Ints = take(&p.ints, p.n, 0)
	case types.Float:
		c.Floats = take(&p.floats, p.n, 0)
	case types.Bool:
		c.Bools = take(&p.bools, p.n, 0)
	case types.String, types.Bytes, types.Any:
		c.Strs = take(&p.strs, p.n, 0)
	case types.Null:
		c.Valid = vec.NewBitmap(p.n)
	default:
		*c = *vec.New(t, p.n)
	}
	return value{c, true}
}

// free gives back the buffers of a temporary that was consumed.
func (p *pool) free(v value) {
	if v.own {
		p.recycle(v.Column)
	}
}

func (p *pool) recycle(c *vec.Column) {
	switch {
	case c.Ints != nil:
		p.ints = append(p.ints, c.Ints)
	case c.Floats != nil:
		p.floats = append(p.floats, c.Floats)
	case c.Bools != nil:
		p.bools = append(p.bools, c.Bools)
	case c.Strs != nil:
		p.strs = append(p.strs, c.Strs)
	}
	*c = vec.Column{}
	p.cols = append(p.cols, c)
}
