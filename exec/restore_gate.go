package exec

import (
	"slices"

	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// task gives a task back what it knew of itself.
func (r *restoring) task(t *Task) {
	old := r.tasks[t.group]
	if len(old) == t.width {
		d := old[t.index]
		t.ended, t.chunk = d.ended && !fault.On("task-runs-again"), d.chunk
		t.drained = d.drained
		if t.feed != nil {
			t.feed.read = d.read
		}
		for i, w := range t.writers {
			if i < len(d.next) && len(w.chans) > 0 {
				w.next = int(d.next[i]) % len(w.chans)
			}
		}
		return
	}
	for i, d := range old {
		t.ended = (i == 0 || t.ended) && d.ended
		t.drained = t.drained || d.drained
	}
}

// gate gives a gate back what it knew, and its channels what was in flight in them.
func (r *restoring) gate(t *Task) {
	g := t.gate
	old := r.tasks[t.group]
	switch {
	case len(old) == 0:
		r.unfused(t)
		return
	case len(old) == t.width:
		d := old[t.index]
		g.w, g.idle, g.ended, g.halted = d.gate.w, d.gate.idle, d.gate.ended, d.gate.halted
		g.untold = true // whether it was is not saved
		for _, in := range oldestFirst(d.inputs) {
			r.input(t, t.index, in, len(old))
		}
		r.groups(t, d)
	default:
		g.w, g.ended = types.MaxInstant, true
		for k, d := range old {
			g.w, g.ended, g.halted = min(g.w, d.gate.w), g.ended && d.gate.ended, g.halted || d.gate.halted
			for _, in := range oldestFirst(d.inputs) {
				r.input(t, k, in, len(old))
			}
			r.groups(t, d)
		}
	}
}

// oldestFirst returns inputs in the order in which they are to be emptied if all become old ones: what was old already
// comes before what was read after it of the same chunk.
func oldestFirst(inputs []inputData) []inputData {
	out := slices.Clone(inputs)
	slices.SortStableFunc(out, func(a, b inputData) int {
		switch {
		case a.old == b.old:
			return 0
		case a.old:
			return -1
		}
		return 1
	})
	return out
}

// groups gives back whose turn it is.
func (r *restoring) groups(t *Task, d *taskData) {
	for _, was := range d.groups {
		for k := range t.gate.groups {
			if is := &t.gate.groups[k]; t.inputs[is.first].edge.ID == was.edge {
				is.chunk, is.cut = max(is.chunk, was.chunk), is.cut || was.cut
				is.turn = int(is.chunk % int64(is.stride))
				if !is.inOrder {
					is.turn = 0
				}
			}
		}
	}
}

// unfused is for a task whose head was in the same task as what is before it: nothing was in flight between them.
func (r *restoring) unfused(t *Task) {
	g := t.gate
	for i, d := range r.nodes[t.head.id] {
		if i == 0 {
			g.w = d.w
		}
		g.w = min(g.w, d.w)
	}
	g.ended = g.w == types.MaxInstant
	t.ended = g.ended
	for i := range g.inputs {
		g.inputs[i].w, g.inputs[i].ended = g.w, g.ended
	}
}

// input puts back what a task, number k of width, had of one of its inputs: into the channel that is in its place now
// or, if there is none, as an old one.
func (r *restoring) input(t *Task, k int, in inputData, width int) {
	f := r.flights[flightKey{in.edge, in.from, k, in.fromWidth, in.old, in.nth}]
	if f == nil || r.dropped(in.edge) { // rows to or from a stage that is dropped may have other columns now
		f = &landed{}
	}
	first := -1 // the edge's
	for i := range t.inputs {
		c := &t.inputs[i]
		if c.old || c.edge.ID != in.edge {
			continue
		}
		if first < 0 {
			first = i
		}
		if !in.old && width == t.width && in.fromWidth == c.edge.From.Width && in.from == c.from {
			p := &t.gate.inputs[i]
			p.w, p.idle, p.ended, p.short = in.w, in.idle && !fault.On("forget-idle-flag"), in.ended && !fault.On("forget-ended"), in.short
			if fault.On("forget-gate-watermark") {
				p.w = types.MinInstant
			}
			r.rows += c.ch.refill(f.first, f.items)
			f.landed = true
			return
		}
	}
	if first < 0 {
		return // no such edge: told at the end
	}
	f.landed = true
	edge := t.inputs[first].edge
	items := f.items
	if width != t.width {
		items = dealt(items, edge, t.width, t.index, k)
	}
	ch := NewChannel(edge.limits(1), t.Wake, func() {})
	nth := 1
	for _, x := range t.inputs {
		if x.old && !fault.On("old-one-name") {
			nth++
		}
	}
	t.watched(ch, in.edge, in.from, in.fromWidth, nth)
	r.rows += ch.refill(f.first, items)
	t.gate.addOld(edgeGroup(t, first), ch, in)
	t.inputs = append(t.inputs, inputOf{edge: edge, from: in.from, fromWidth: in.fromWidth, ch: ch, old: true, nth: nth})
}

// edgeGroup returns which group of the gate input i belongs to.
func edgeGroup(t *Task, i int) int {
	for k, gr := range t.gate.groups {
		if i >= gr.first && i < gr.first+gr.n {
			return k
		}
	}
	return -1
}

// dealt returns the items of an old channel, which led to task k, that task index of width takes over. Signals go to all.
func dealt(items []Item, e *Edge, width, index, k int) []Item {
	var out []Item
	for _, it := range items {
		if it.Kind == Rows {
			switch e.Spread {
			case Hash:
				if it.Batch = owned(it.Batch, e.Keys, width, off1(index, width, "flight-to-neighbour")); it.Batch == nil {
					continue
				}
			case Rebalance:
				if k%width != index {
					continue
				}
			case Broadcast: // all tasks had the same
				if k != 0 {
					continue
				}
			}
		}
		out = append(out, it)
	}
	return out
}

// owned returns the rows whose keys task index of width owns, nil if there are none.
func owned(b *vec.Batch, keys []int, width, index int) *vec.Batch {
	hashes := make([]uint64, b.Rows())
	cols := make([]*vec.Column, len(keys))
	for i, k := range keys {
		cols[i] = b.Cols[k]
	}
	vec.Hash(b, cols, hashes)
	var rows []uint32
	for i, h := range hashes {
		if Owner(h, width) == index {
			rows = append(rows, uint32(b.Row(i)))
		}
	}
	if rows == nil {
		return nil
	}
	return b.Gather(rows)
}

// off1 is index, or with a fault the next one.
func off1(index, width int, name string) int {
	if fault.On(name) {
		return (index + 1) % width
	}
	return index
}

// refill puts items back that were in flight and returns how many rows there are. The first gets the number it had.
func (c *Channel) refill(first uint64, items []Item) (rows int64) {
	if fault.On("restore-reversed") {
		slices.Reverse(items)
	}
	if first > 0 {
		c.taken = first - 1
	}
	for i, it := range items {
		if i == len(items)-1 && fault.On("restore-loses-last") {
			break
		}
		if fault.On("restore-twice") {
			c.Push(it)
		}
		c.Push(it)
		if it.Kind == Rows {
			rows += int64(it.Batch.Rows())
		}
	}
	return rows
}

// feeds gives the tasks of a source back what their operators had not processed yet. At another width the rows of a chunk
// go to the task that has the chunk now; sources tell their watermark anew.
func (r *restoring) feeds(gr *Group, tasks []*Task) {
	old := r.tasks[gr.ID]
	for k := range old {
		f := r.flights[flightKey{gr.ID, k, k, len(old), false, 0}]
		if f == nil {
			continue
		}
		f.landed = true
		if fault.On("feed-not-restored") {
			continue
		}
		waited := make([]fed, len(f.items))
		for i, it := range f.items {
			if it.Kind == Rows {
				r.rows += int64(it.Batch.Rows())
			}
			waited[i] = fed{f.ports[i], it}
		}
		if len(old) == len(tasks) {
			tasks[k].feed.again(waited, tasks[k].chunk)
			continue
		}
		for _, x := range waited {
			switch x.Kind {
			case Rows, ChunkEnd:
				to := tasks[int(x.N)%tasks[0].parts]
				to.feed.watch = nil // they come in an order of their own
				to.feed.old = append(to.feed.old, x)
			case End:
				for _, t := range tasks {
					t.feed.watch, t.feed.last = nil, &x
				}
			}
		}
	}
	for _, t := range tasks {
		t.feed.arrange(t.ended)
	}
}
