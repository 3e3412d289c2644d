package agg

import (
	"cmp"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// choice says which row's value a chosen keeps.
type choice uint8

const (
	firstRow choice = iota
	lastRow
	seenRow
	minRow
	maxRow
)

// chosen keeps the value of one row of the group: a word that says that there is one, its event time and position, the
// cell of the value, and for arg_min and arg_max the cell of what decides. Keeping time and position makes it
// independent of the order in which rows and partial results come.
type chosen struct {
	choice choice
	value  state.Cell
	by     state.Cell
	byAt   int // 0: nothing but the order decides
	words  int
	arena  state.Arena
	t      types.Type
}

const (
	chTime = 1 + iota
	chPos
	chValue
)

func newChosen(call *types.AggCall, c choice) *chosen {
	ch := &chosen{choice: c, value: state.NewCell(call.Args[0].Type.NotNull()), t: call.Result}
	ch.words = chValue + ch.value.Words
	if c == minRow || c == maxRow {
		ch.by = state.NewCell(call.Args[1].Type.NotNull())
		ch.byAt = ch.words
		ch.words += ch.by.Words
	}
	return ch
}

func (c *chosen) Words() int { return c.words }

func (c *chosen) Add(g spec.Groups, in *spec.Input) {
	g, sel := in.NotNull(g)
	for i, r := range sel {
		t, p := in.Order(r)
		c.put(g.Words(i), t, p, in.Args, int(r))
	}
}

// put takes the row if it is preferred to what w holds.
func (c *chosen) put(w []uint64, t int64, p uint64, args []*vec.Column, r int) {
	if w[0] != 0 {
		order := 0 // of what is kept against the row
		if c.byAt > 0 {
			if order = c.by.Compare(w[c.byAt:], &c.arena, args[1], r); c.choice == maxRow {
				order = -order
			}
		}
		if c.keeps(order, w, t, p) {
			return
		}
		c.free(w)
	}
	w[0], w[chTime], w[chPos] = 1, uint64(t), p
	c.value.Set(w[chValue:], &c.arena, args[0], r)
	if c.byAt > 0 {
		c.by.Set(w[c.byAt:], &c.arena, args[1], r)
	}
}

// keeps reports whether what w holds stays, given that it comes before (order < 0), beside or after the other row in
// what decides.
func (c *chosen) keeps(order int, w []uint64, t int64, p uint64) bool {
	if order != 0 {
		return order < 0
	}
	order = cmp.Or(cmp.Compare(int64(w[chTime]), t), cmp.Compare(w[chPos], p))
	switch c.choice {
	case seenRow:
		return true
	case lastRow:
		return order > 0
	}
	return order <= 0
}

func (c *chosen) free(w []uint64) {
	c.value.Free(w[chValue:], &c.arena)
	if c.byAt > 0 {
		c.by.Free(w[c.byAt:], &c.arena)
	}
	w[0] = 0
}

func (c *chosen) Merge(to, from spec.Groups) {
	for i := range to.IDs {
		w, f := to.Words(i), from.Words(i)
		if f[0] == 0 {
			continue
		}
		if w[0] != 0 {
			order := 0
			if c.byAt > 0 {
				if order = c.by.CompareCells(w[c.byAt:], &c.arena, f[c.byAt:], &c.arena); c.choice == maxRow {
					order = -order
				}
			}
			if c.keeps(order, w, int64(f[chTime]), f[chPos]) {
				continue
			}
			c.free(w)
		}
		w[0], w[chTime], w[chPos] = 1, f[chTime], f[chPos]
		c.value.Move(w[chValue:], &c.arena, f[chValue:], &c.arena)
		if c.byAt > 0 {
			c.by.Move(w[c.byAt:], &c.arena, f[c.byAt:], &c.arena)
		}
	}
}

func (c *chosen) Result(g spec.Groups) *vec.Column {
	return cellColumn(c.t, &c.value, &c.arena, g, chValue)
}

func (c *chosen) Free(g spec.Groups) {
	if c.value.Words == 1 && c.by.Words < 2 {
		return
	}
	for i := range g.IDs {
		if w := g.Words(i); w[0] != 0 {
			c.free(w)
		}
	}
}

// PartialTypes are the value, what decides, the event time and the position.
func (c *chosen) PartialTypes() []types.Type {
	ts := []types.Type{c.value.Type.Null()}
	if c.byAt > 0 {
		ts = append(ts, c.by.Type.Null())
	}
	return append(ts, types.T(types.Int), types.T(types.Int))
}

func (c *chosen) Partial(g spec.Groups) []*vec.Column {
	out := []*vec.Column{cellColumn(c.value.Type.Null(), &c.value, &c.arena, g, chValue)}
	if c.byAt > 0 {
		out = append(out, cellColumn(c.by.Type.Null(), &c.by, &c.arena, g, c.byAt))
	}
	return append(out, wordColumns(g, chValue)[chTime:]...)
}

func (c *chosen) AddPartial(g spec.Groups, in *spec.Input) {
	n := len(in.Args)
	times, places := in.Args[n-2].Ints, in.Args[n-1].Ints
	g, sel := in.NotNull(g)
	for i, r := range sel {
		c.put(g.Words(i), times[r], uint64(places[r]), in.Args[:n-2], int(r))
	}
}

func (c *chosen) Save(w *checkpoint.Writer) { c.arena.Freeze(w) }

func (c *chosen) Load(r *checkpoint.Reader) error { return c.arena.Load(r) }

func (c *chosen) Adopt(g spec.Groups, other spec.Aggregate) {
	from := &other.(*chosen).arena
	for i := range g.IDs {
		w := g.Words(i)
		if w[0] == 0 {
			continue
		}
		c.value.Adopt(w[chValue:], &c.arena, from)
		if c.byAt > 0 {
			c.by.Adopt(w[c.byAt:], &c.arena, from)
		}
	}
}
