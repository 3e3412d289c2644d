package op

import (
	"fmt"

	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// calls are the aggregate calls of one stage, whose words lie side by side in a group's row. Over an updating input the
// first word counts the rows of the group.
type calls struct {
	aggs    []spec.Aggregate
	at      []int   // first word of each
	args    [][]int // columns of each among the arguments of the stage
	words   int
	counted bool
	partial bool // arguments are partial results
	keeps   bool // something is kept outside the words
	grow    int  // of how many aggregates it grows with the rows of a group
	one     bool // all rows of an apply go to one group

	in         spec.Input
	adds, cuts changes
}

// cacheRows is how many rows are added at a time to all aggregates.
const cacheRows = 512

// changes are the rows of a batch that do one thing.
type changes struct{ ids, rows []uint32 }

// newCalls makes the aggregates. args gives the columns that the calls read, as expressions over the stage's input.
func newCalls(c *spec.StageContext) (cs *calls, args []*types.Expr, err error) {
	cs = &calls{counted: c.In[0].Updating, partial: c.Partial}
	if cs.counted {
		cs.words = 1
	}
	parts := 0
	for i := range c.Args.Aggs {
		call := &c.Args.Aggs[i]
		def := c.Aggs(call.Sig.Name)
		if def == nil {
			return nil, nil, fmt.Errorf("there is no aggregate %s", call.Sig.Name)
		}
		a, err := def.New(call)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", call.Sig.Name, err)
		}
		var cols []int
		var ts []types.Type
		if p, ok := a.(spec.Partialer); c.Partial && ok {
			for range p.PartialTypes() {
				cols = append(cols, parts)
				parts++
			}
		}
		for k, e := range call.Args {
			if !c.Partial && !call.Sig.Params[k].Constant {
				cols = append(cols, len(args))
				args = append(args, e)
				ts = append(ts, e.Type)
			}
		}
		if _, ok := a.(spec.Retractor); cs.counted && !ok {
			a = spec.Multiset(a, ts, call.Sig.Ordered)
		}
		if k, ok := a.(spec.Adder); ok && !cs.counted {
			k.OnlyAdds()
		}
		if _, ok := a.(interface{ KeepsNothing() }); !ok {
			cs.keeps = true
		}
		if _, ok := a.(spec.Grower); ok {
			cs.grow++
		}
		cs.aggs = append(cs.aggs, a)
		cs.at = append(cs.at, cs.words)
		cs.args = append(cs.args, cols)
		cs.words += a.Words()
	}
	return cs, args, nil
}

// groups returns the groups of the k-th call.
func (c *calls) groups(k int, rows *state.Rows, off int, ids []uint32) spec.Groups {
	return spec.Groups{Rows: rows, Off: off + c.at[k], IDs: ids}
}

// apply adds the physical rows sel of the input to the groups ids, or takes them back.
func (c *calls) apply(rows *state.Rows, off int, ids []uint32, b *rowsIn, sel []uint32) {
	c.in.N, c.in.Time, c.in.Pos = b.n, b.time, b.pos
	if !c.counted || b.change == nil {
		if c.counted {
			for _, id := range ids {
				*rows.Word(id, off)++
			}
		}
		c.each(rows, off, changes{ids, sel}, b.args, false)
		return
	}
	c.adds.ids, c.adds.rows, c.cuts.ids, c.cuts.rows = c.adds.ids[:0], c.adds.rows[:0], c.cuts.ids[:0], c.cuts.rows[:0]
	for i, r := range sel {
		to, one := &c.adds, uint64(1)
		if b.change[r].Retracts() {
			to, one = &c.cuts, ^uint64(0)
		}
		to.ids, to.rows = append(to.ids, ids[i]), append(to.rows, r)
		*rows.Word(ids[i], off) += one
	}
	c.each(rows, off, c.adds, b.args, false)
	c.each(rows, off, c.cuts, b.args, true)
}

func (c *calls) each(rows *state.Rows, off int, ch changes, args []*vec.Column, cut bool) {
	// Several aggregates go over the same groups: in pieces whose groups stay in the processor's cache.
	for len(c.aggs) > 1 && len(ch.ids) > cacheRows {
		c.each(rows, off, changes{ch.ids[:cacheRows], ch.rows[:cacheRows]}, args, cut)
		ch.ids, ch.rows = ch.ids[cacheRows:], ch.rows[cacheRows:]
	}
	if len(ch.ids) == 0 {
		return
	}
	c.in.Rows = ch.rows
	one := c.one || allEqual(ch.ids)
	for k, a := range c.aggs {
		g := c.groups(k, rows, off, ch.ids)
		g.One = one
		c.in.Args = c.in.Args[:0]
		for _, i := range c.args[k] {
			c.in.Args = append(c.in.Args, args[i])
		}
		switch {
		case c.partial:
			a.(spec.Partialer).AddPartial(g, &c.in)
		case cut:
			a.(spec.Retractor).Retract(g, &c.in)
		default:
			a.Add(g, &c.in)
		}
	}
}

// allEqual reports whether all rows go to one group, as they often do where groups are days.
func allEqual(ids []uint32) bool {
	for _, id := range ids {
		if id != ids[0] {
			return false
		}
	}
	return true
}

// merge adds the groups from to the groups to, and leaves the former as they were.
func (c *calls) merge(rows *state.Rows, off int, to []uint32, src *state.Rows, srcOff int, from []uint32) {
	if c.counted {
		for i, id := range to {
			*rows.Word(id, off) += *src.Word(from[i], srcOff)
		}
	}
	for k, a := range c.aggs {
		a.Merge(c.groups(k, rows, off, to), c.groups(k, src, srcOff, from))
	}
}

// lives reports whether the group has rows.
func (c *calls) lives(rows *state.Rows, off int, id uint32) bool {
	return !c.counted || int64(*rows.Word(id, off)) > 0
}

// results returns a column for each call.
func (c *calls) results(rows *state.Rows, off int, ids []uint32) []*vec.Column {
	out := make([]*vec.Column, len(c.aggs))
	for k, a := range c.aggs {
		out[k] = a.Result(c.groups(k, rows, off, ids))
	}
	return out
}

// free forgets what is kept outside the words of the groups.
func (c *calls) free(rows *state.Rows, off int, ids []uint32) {
	if !c.keeps {
		return
	}
	rows.TouchAll(ids)
	for k, a := range c.aggs {
		a.Free(c.groups(k, rows, off, ids))
	}
}

// values returns how many values the groups of a table keep outside their words.
func (c *calls) values(t *state.Table) int {
	ids, _ := t.All(0, t.Len(), nil)
	n := 0
	for k, a := range c.aggs {
		if g, ok := a.(spec.Grower); ok {
			n += g.Values(c.groups(k, t.Rows(), t.Off(), ids))
		}
	}
	return n
}

// clear empties a table of groups.
func (c *calls) clear(t *state.Table, off int) {
	if c.keeps {
		ids, _ := t.All(0, t.Len(), nil)
		c.free(t.Rows(), off, ids)
	}
	t.Reset()
}
