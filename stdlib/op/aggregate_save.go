package op

import (
	"fmt"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// What the shapes of aggregate share to be saved, loaded and merged. Merge is for a run at another number of tasks: an
// operator takes over, from an operator of each old task, the groups whose keys are its own now. It was just made or
// has merged others.

// save writes what the calls keep outside the words of groups.
func (c *calls) save(w *checkpoint.Writer) {
	for _, a := range c.aggs {
		a.Save(w)
	}
}

func (c *calls) load(r *checkpoint.Reader) error {
	for _, a := range c.aggs {
		if err := a.Load(r); err != nil {
			return err
		}
	}
	return nil
}

// adopt takes over groups whose words were copied from groups of other.
func (c *calls) adopt(rows *state.Rows, off int, ids []uint32, other *calls) {
	for k, a := range c.aggs {
		a.Adopt(c.groups(k, rows, off, ids), other.aggs[k])
	}
}

// takeRows takes over the rows ids of src, whose keys are new here, with their words as they are; it returns their
// numbers here.
func takeRows(t, src *state.Table, ids []uint32) []uint32 {
	to := make([]uint32, len(ids))
	t.Find(src, ids, to, true)
	for i, id := range to {
		copy(t.Rows().At(id)[t.Off():], src.Rows().At(ids[i])[src.Off():])
	}
	return to
}

// merged is what an operator remembers of the operators that were merged into it. Of scalars the smallest counts.
type merged struct{ some bool }

// least lowers own to theirs; the first that is merged replaces what there was.
func (m *merged) least(own *int64, theirs int64) {
	if !m.some || theirs < *own {
		*own = theirs
	}
}

// mergeError says that an operator is not of the kind that it is merged into.
func mergeError(from exec.Operator) error {
	return fmt.Errorf("merge the state of an aggregate: it is that of %T", from)
}

// saveIDs writes numbers of rows.
func saveIDs(w *checkpoint.Writer, ids []uint32) {
	w.Uint(uint64(len(ids)))
	for _, id := range ids {
		w.Uint(uint64(id))
	}
}

// loadIDs reads numbers of rows that are in use.
func loadIDs(r *checkpoint.Reader, rows *state.Rows) []uint32 {
	var ids []uint32
	for range r.Count(1) {
		id := r.Uint()
		if id >= uint64(rows.End()) || !rows.Live(uint32(id)) {
			r.Fail("row %d is not in use", id)
			return nil
		}
		ids = append(ids, uint32(id))
	}
	return ids
}

// saveRow and loadRow are for where going through rows has come to.
func saveRow(w *checkpoint.Writer, next uint32) { w.Uint(uint64(next)) }

func loadRow(r *checkpoint.Reader) uint32 {
	next := r.Uint()
	if next > uint64(state.None) {
		r.Fail("there is no row %d", next)
	}
	return uint32(next)
}

// notBefore returns those of the rows ids, which are in order, that are not before next.
func notBefore(ids []uint32, next uint32) []uint32 {
	for len(ids) > 0 && ids[0] < next {
		ids = ids[1:]
	}
	return ids
}

// Save writes the groups.
func (g *groupAll) Save(w *checkpoint.Writer) error {
	g.table.Freeze(w)
	g.calls.save(w)
	g.out.sent.Freeze(w)
	saveIDs(w, g.dirty)
	w.Bool(g.ended)
	w.Bool(g.over)
	saveRow(w, g.next)
	return nil
}

// Load reads what Save wrote.
func (g *groupAll) Load(r *checkpoint.Reader) error {
	g.table.Load(r)
	g.calls.load(r)
	g.out.sent.Load(r)
	g.dirty = loadIDs(r, g.table.Rows())
	g.ended = r.Bool()
	g.over = r.Bool()
	g.next = loadRow(r)
	return r.Err()
}

// Merge takes over groups of another task. Those of a task whose input had ended are given out at the end of all.
func (g *groupAll) Merge(other exec.Operator, owns func(hash uint64) bool) error {
	o, ok := other.(*groupAll)
	if !ok {
		return mergeError(other)
	}
	ids := o.table.Owned(owns)
	if o.over && !fault.On("give-out-again") {
		ids = notBefore(ids, o.next)
	}
	to := takeRows(g.table, o.table, ids)
	rows, off := g.table.Rows(), g.table.Off()
	g.calls.adopt(rows, g.off, to, o.calls)
	if g.updating {
		for _, id := range to {
			w := rows.At(id)[off:]
			state.AdoptText(w[agSent:], &g.out.sent, &o.out.sent)
			if w[agDirty] != 0 {
				g.dirty = append(g.dirty, id)
			}
		}
	}
	g.over = o.over && (g.over || !g.merged.some)
	g.ended = g.over
	g.merged.some = true
	return nil
}

// save writes how far time has come.
func (p *passing) save(w *checkpoint.Writer) { w.Int(p.w) }

func (p *passing) load(r *checkpoint.Reader) {
	if p.w = r.Int(); fault.On("forget-window-time") {
		p.w = types.MinInstant
	}
}

func (p *passing) merge(o *passing) {
	p.merged.least(&p.w, o.w)
	p.merged.some = true
}

// mergeBuffer takes over the rows of a buffer whose keys, the first columns, are owned.
func mergeBuffer(to, other *state.Buffer, keys int, owns func(hash uint64) bool) {
	other.Each(func(b *vec.Batch) {
		hashes := make([]uint64, b.Rows())
		vec.Hash(b, b.Cols[:keys], hashes)
		sel := []uint32{}
		for i, h := range hashes {
			if owns(h) {
				sel = append(sel, uint32(b.Row(i)))
			}
		}
		to.Add(b.Select(sel))
	})
}
