package op

import (
	"slices"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/state"
)

// Save writes the groups that have not been sent.
func (p *partial) Save(w *checkpoint.Writer) error {
	p.passing.save(w)
	p.calls.save(w)
	for _, n := range []int{p.groups, p.rows, p.bypass} {
		w.Uint(uint64(n))
	}
	saveRow(w, p.next)
	if p.whole != nil {
		p.whole.table.Freeze(w)
		w.Bool(len(p.sending) > 0)
		return nil
	}
	at := p.panes.save(w)
	w.Uint(uint64(len(p.sending)))
	for _, n := range p.sending {
		w.Uint(uint64(at[n]))
	}
	return nil
}

// Load reads what Save wrote.
func (p *partial) Load(r *checkpoint.Reader) error {
	p.passing.load(r)
	p.calls.load(r)
	for _, n := range []*int{&p.groups, &p.rows, &p.bypass} {
		*n = int(min(r.Uint(), 1<<40))
	}
	p.next = loadRow(r)
	p.sending = nil
	if p.whole != nil {
		p.whole.table.Load(r)
		if r.Bool() {
			p.sending = append(p.sending, p.whole)
		}
		return r.Err()
	}
	all := p.panes.load(r)
	for range r.Count(1) {
		i := r.Uint()
		if i >= uint64(len(all)) || slices.Contains(p.sending, all[i]) {
			r.Fail("slice of time %d is sent twice, or is none", i)
			break
		}
		p.sending = append(p.sending, all[i])
	}
	return r.Err()
}

// Merge takes over groups of another task. A key may stand in several: what is added up twice is sent once.
func (p *partial) Merge(from exec.Operator, owns func(hash uint64) bool) error {
	o, ok := from.(*partial)
	if !ok || (o.whole == nil) != (p.whole == nil) {
		return mergeError(from)
	}
	if p.whole != nil {
		next := uint32(0)
		if len(o.sending) > 0 {
			next = o.next
			p.send1(p.whole)
		}
		p.take(p.whole, o.whole, next, o, owns)
	} else {
		for _, n := range o.panes.all() {
			m := p.panes.at(n.start, n.open, n.open-1)
			next := uint32(0)
			if i := slices.Index(o.sending, n); i >= 0 {
				if p.send1(m); i == 0 {
					next = o.next
				}
			}
			p.take(m, n, next, o, owns)
		}
	}
	p.passing.merge(&o.passing)
	return nil
}

// send1 makes the groups of a pane owed, with those that are still to be taken over.
func (p *partial) send1(n *pane) {
	if slices.Contains(p.sending, n) {
		return
	}
	p.sending = append(p.sending, n)
	if n == p.whole { // it waits for no window
		return
	}
	due := slices.DeleteFunc(p.due, func(x *pane) bool { return x == n })
	p.due = nil
	for _, x := range due {
		p.push(x)
	}
}

// take adds the owned groups of n, from row next on, to those of m.
func (p *partial) take(m, n *pane, next uint32, o *partial, owns func(hash uint64) bool) {
	ids := notBefore(n.table.Owned(owns), next)
	before := m.table.Len()
	p.calls.addAll(m.table, n.table, ids, o.calls)
	p.groups += m.table.Len() - before
	p.rows += len(ids)
}

// addAll adds the groups ids of from, which belong to the calls other of another task, to those of equal keys in to.
func (c *calls) addAll(to, from *state.Table, ids []uint32, other *calls) {
	found := make([]uint32, len(ids))
	to.Find(from, ids, found, true)
	copies := state.NewRows(c.words)
	alone := make([]uint32, len(ids))
	for i, id := range ids {
		alone[i] = copies.Add()
		copy(copies.At(alone[i]), from.Rows().At(id)[from.Off():])
	}
	c.adopt(copies, 0, alone, other)
	c.merge(to.Rows(), to.Off(), found, copies, 0, alone)
	c.free(copies, 0, alone)
}
