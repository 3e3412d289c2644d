package op

import (
	"slices"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/state"
)

// save writes the open panes in order of time and returns the place of each among them.
func (p *panes) save(w *checkpoint.Writer) map[*pane]int {
	queued := map[*pane]bool{}
	for _, n := range p.due {
		queued[n] = true
	}
	all := p.all()
	at := make(map[*pane]int, len(all))
	w.Uint(uint64(len(all)))
	for i, n := range all {
		at[n] = i
		w.Int(n.start)
		w.Int(n.open)
		w.Int(n.next)
		w.Bool(queued[n])
		n.table.Freeze(w)
	}
	return at
}

// load reads what save wrote and returns the panes in their order.
func (p *panes) load(r *checkpoint.Reader) []*pane {
	old := p.open
	p.open, p.due, p.order = map[paneKey]*pane{}, nil, nil
	var all []*pane
	for range r.Count(4) {
		k := paneKey{r.Int(), r.Int()}
		next, queued := r.Int(), r.Bool()
		if r.Err() == nil && (p.open[k] != nil || !p.grid.has(k.start, k.open) || queued && !p.grid.has(k.start, next)) {
			r.Fail("a slice of time that there is not")
		}
		if r.Err() != nil {
			return nil
		}
		n := old[k]
		if n == nil {
			n = p.make(k)
		}
		p.add(n)
		if n.next = next; queued {
			p.push(n)
		}
		n.table.Load(r)
		all = append(all, n)
	}
	return all
}

// has reports whether the slice that starts at start is one, and is part of the window that ends at end.
func (g *grid) has(start, end int64) bool {
	if at, _ := g.sliceOf(start); at != start || end < g.first(start) || end > g.last(start) {
		return false
	}
	open, ok := g.firstOpen(start, satSub(end, 1))
	return ok && open == end
}

// merge takes over the groups of n, a pane of another task, that are owned. It counts in the window that ends at next,
// if it is queued.
func (p *panes) merge(c *calls, n *pane, next int64, queued bool, other *calls, owns func(hash uint64) bool) {
	ids := n.table.Owned(owns)
	if len(ids) == 0 {
		return
	}
	k := n.paneKey
	if !p.ordered {
		k.open = next // nothing is asked of it about windows that have come out
	}
	m := p.open[k]
	if m == nil {
		m = p.make(k)
		p.add(m)
		if m.next = next; queued {
			p.push(m)
		}
	} else if was := slices.Contains(p.due, m); queued && (!was || next < m.next) {
		m.next = next
		due := slices.DeleteFunc(p.due, func(x *pane) bool { return x == m })
		p.due = nil
		for _, x := range append(due, m) {
			p.push(x)
		}
	}
	c.addAll(m.table, n.table, ids, other) // several panes may have become one: a key may be there already
}

// Save writes the groups of all slices and windows.
func (s *sliced) Save(w *checkpoint.Writer) error {
	s.passing.save(w)
	s.calls.save(w)
	at := s.panes.save(w)
	if s.rev != nil {
		s.out.sent.Freeze(w)
		s.rev.save(w)
		return nil
	}
	if w.Bool(s.firing != nil); s.firing != nil {
		s.firing.save(w, at)
	}
	w.Uint(uint64(len(s.taken)))
	for _, f := range s.taken {
		f.save(w, at)
	}
	return nil
}

// Load reads what Save wrote.
func (s *sliced) Load(r *checkpoint.Reader) error {
	s.passing.load(r)
	s.calls.load(r)
	all := s.panes.load(r)
	if s.rev != nil {
		s.out.sent.Load(r)
		return s.rev.load(s, r)
	}
	s.firing, s.taken = nil, nil
	if r.Bool() {
		s.firing = s.loadFiring(r, all)
	}
	for range r.Count(5) {
		s.taken = append(s.taken, s.loadFiring(r, all))
	}
	return r.Err()
}

// Lists of panes that a firing has.
func (f *firing) lists() []*[]*pane { return []*[]*pane{&f.merge, &f.dying, &f.goOn} }

// save writes a window that is coming out; at has the places of the panes.
func (f *firing) save(w *checkpoint.Writer, at map[*pane]int) {
	w.Int(f.start)
	w.Int(f.end)
	saveRow(w, f.next)
	for _, l := range f.lists() {
		w.Uint(uint64(len(*l)))
		for _, n := range *l {
			w.Uint(uint64(at[n]))
		}
	}
	if w.Bool(f.scratch); f.scratch {
		f.into.FreezeAll(w)
		return
	}
	for n, i := range at {
		if n.table == f.into {
			w.Uint(uint64(i))
		}
	}
}

func (s *sliced) loadFiring(r *checkpoint.Reader, all []*pane) *firing {
	f := &firing{start: r.Int(), end: r.Int(), next: loadRow(r)}
	one := func() *pane {
		i := r.Uint()
		if i >= uint64(len(all)) {
			r.Fail("there are fewer than %d slices of time", i)
			return nil
		}
		return all[i]
	}
	for _, l := range f.lists() {
		for range r.Count(1) {
			n := one()
			if r.Err() == nil && !s.grid.has(n.start, f.end) {
				r.Fail("a slice of time is not part of the window")
			}
			if r.Err() != nil {
				return f
			}
			*l = append(*l, n)
		}
	}
	if f.scratch = r.Bool(); f.scratch {
		f.into = state.NewTable(s.panes.keys, s.panes.words)
		f.into.Load(r)
	} else if n := one(); n != nil {
		f.into = n.table
	}
	return f
}

// Merge takes over groups of another task. A window that is coming out there comes out here as far as it has not.
func (s *sliced) Merge(from exec.Operator, owns func(hash uint64) bool) error {
	o, ok := from.(*sliced)
	if !ok {
		return mergeError(from)
	}
	queued := map[*pane]bool{}
	for _, n := range o.due {
		queued[n] = true
	}
	skip, next := map[*pane]bool{}, map[*pane]int64{}
	if f := o.firing; f != nil {
		for len(f.merge) > 0 {
			o.mergePart(f)
		}
		for _, n := range f.dying {
			skip[n] = true
		}
		for _, n := range f.goOn {
			queued[n], next[n] = true, s.grid.next(f.end)
		}
		s.take(f, o, owns)
	}
	for _, f := range o.taken {
		s.take(f, o, owns)
	}
	for _, n := range o.panes.all() {
		if at, ok := next[n]; ok {
			s.panes.merge(s.calls, n, at, queued[n], o.calls, owns)
		} else if !skip[n] {
			s.panes.merge(s.calls, n, n.next, queued[n], o.calls, owns)
		}
	}
	if s.rev != nil {
		s.rev.merge(s, o, owns)
	}
	s.passing.merge(&o.passing)
	return nil
}

// take takes over what is left of a window that is coming out in another task.
func (s *sliced) take(f *firing, o *sliced, owns func(hash uint64) bool) {
	ids := notBefore(f.into.Owned(owns), f.next)
	if len(ids) == 0 {
		return
	}
	t := state.NewTable(s.panes.keys, s.panes.words)
	s.calls.adopt(t.Rows(), t.Off(), takeRows(t, f.into, ids), o.calls)
	s.taken = append(s.taken, &firing{start: f.start, end: f.end, into: t, scratch: true})
}

// save writes what was given out for each window.
func (v *revisions) save(w *checkpoint.Writer) {
	w.Uint(uint64(len(v.windows)))
	for _, ow := range v.windows {
		w.Int(ow.end)
		ow.sent.Freeze(w)
		saveIDs(w, ow.dirty)
	}
}

func (v *revisions) load(s *sliced, r *checkpoint.Reader) error {
	old := v.windows
	v.windows, v.changed = nil, nil
	for range r.Count(2) {
		end := r.Int()
		at, twice := windowAt(v.windows, end)
		if twice {
			r.Fail("a window is there twice")
			break
		}
		if i, is := windowAt(old, end); is {
			v.windows = slices.Insert(v.windows, at, old[i])
		}
		ow := v.window(s, end)
		ow.sent.Load(r)
		ow.dirty = nil
		v.owe(ow, loadIDs(r, ow.sent.Rows()))
	}
	return r.Err()
}

// merge takes over what another task has given out for owned keys.
func (v *revisions) merge(s, o *sliced, owns func(hash uint64) bool) {
	for _, theirs := range o.rev.windows {
		from := theirs.sent
		ids := from.Owned(owns)
		if len(ids) == 0 {
			continue
		}
		ow := v.window(s, theirs.end)
		v.fresh = v.fresh[:0]
		for _, id := range takeRows(ow.sent, from, ids) {
			w := ow.sent.Rows().At(id)[ow.sent.Off():]
			state.AdoptText(w[owSent:], &s.out.sent, &o.out.sent)
			if w[owDirty] != 0 {
				v.fresh = append(v.fresh, id)
			}
		}
		v.owe(ow, v.fresh)
	}
}
