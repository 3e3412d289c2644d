package op

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// revisions is what an updating windowed aggregate keeps on top of its panes: what it has given out for each window.
// Windows come out early (emit changes) or when they fire, and again whenever a row comes that is not too late.
type revisions struct {
	early   bool
	every   int64
	allow   int64
	windows []*openWindow // by their ends
	changed endHeap       // those with dirty keys
	sum     *state.Table  // the groups of a window that are being computed
	ids     []uint32
	found   []uint32
	fresh   []uint32
	pairs   [2][]uint32
}

// openWindow is what was given out for the keys of a window.
type openWindow struct {
	end   int64
	sent  *state.Table // words: what was given out, and whether the key has changed since
	dirty []uint32
}

const (
	owSent  = 0
	owDirty = 2
	owWords = 3
)

func newRevisions(c *spec.StageContext) *revisions {
	return &revisions{early: c.Args.Emit.Changes, every: c.Args.Emit.Every, allow: c.Args.Late.Allow}
}

// window returns the window with an end, a new one if there is none.
func (v *revisions) window(s *sliced, end int64) *openWindow {
	i, is := windowAt(v.windows, end)
	if !is {
		v.windows = slices.Insert(v.windows, i, &openWindow{end: end, sent: state.NewTable(s.panes.keys, owWords)})
	}
	return v.windows[i]
}

// windowAt finds the place of the window with an end in a list, and whether it is there.
func windowAt(list []*openWindow, end int64) (int, bool) {
	return slices.BinarySearchFunc(list, end, func(ow *openWindow, end int64) int { return cmp.Compare(ow.end, end) })
}

// mark notes that keys of the window have changed.
func (v *revisions) mark(ow *openWindow, ids []uint32) {
	v.fresh = v.fresh[:0]
	for _, id := range ids {
		if w := ow.sent.Rows().Word(id, ow.sent.Off()+owDirty); *w == 0 {
			*w = 1
			v.fresh = append(v.fresh, id)
		}
	}
	v.owe(ow, v.fresh)
}

// owe adds to the keys of a window that are to come out: they are marked.
func (v *revisions) owe(ow *openWindow, ids []uint32) {
	if len(ow.dirty) == 0 && len(ids) > 0 {
		heap.Push(&v.changed, ow)
	}
	ow.dirty = append(ow.dirty, ids...)
}

// touch notes that the rows of the batch which are in pane p change windows: all that are open, or only those that have
// fired.
func (v *revisions) touch(s *sliced, p *pane, r *rowsIn) {
	for end := p.open; ; end = s.grid.next(end) {
		if end > s.w && !v.early {
			return
		}
		ow := v.window(s, end)
		v.ids = room(v.ids, len(p.rows))
		ow.sent.Lookup(r.keys, p.rows, p.hashes, v.ids, true)
		v.mark(ow, v.ids)
		if end >= p.last {
			return
		}
	}
}

// flush gives out all changes.
func (v *revisions) flush(s *sliced, out *exec.Out) error {
	for len(v.changed) > 0 {
		if err := v.part(s, out); err != nil {
			return err
		}
	}
	return nil
}

// drain does a piece of what is owed: windows that fire, changes of windows that have fired, windows to forget.
func (v *revisions) drain(s *sliced, out *exec.Out) (bool, error) {
	if end, ok := s.nextEnd(); ok && end <= s.w {
		_, of := s.popWindow()
		if !v.early {
			ow := v.window(s, end)
			for _, p := range of {
				v.ids, _ = p.table.All(0, p.table.Len(), v.ids[:0])
				v.found = room(v.found, len(v.ids))
				ow.sent.Find(p.table, v.ids, v.found, true)
				v.mark(ow, v.found)
			}
		}
		for _, p := range of {
			s.goOn(p, end)
		}
		return true, nil
	}
	if len(v.changed) > 0 && v.changed[0].end <= s.w {
		return true, v.part(s, out)
	}
	for len(v.windows) > 0 && satAdd(v.windows[0].end, v.allow) <= s.w {
		v.forget(s)
	}
	for i := 0; i < len(s.panes.order); {
		p := s.panes.order[i]
		if satAdd(p.start, v.allow) > s.w {
			break // its windows end later still
		}
		if satAdd(p.last, v.allow) <= s.w {
			s.drop(p)
		} else {
			i++
		}
	}
	return false, nil
}

// part computes some keys anew of the first window with changes, and gives out what has changed.
func (v *revisions) part(s *sliced, out *exec.Out) error {
	ow := v.changed[0]
	ids := ow.dirty[:min(len(ow.dirty), vec.MaxRows)]
	if ow.dirty = ow.dirty[len(ids):]; len(ow.dirty) == 0 {
		heap.Pop(&v.changed)
	}
	ow.sent.Rows().TouchAll(ids)
	if v.sum == nil {
		v.sum = state.NewTable(s.panes.keys, s.panes.words)
	}
	sum := v.sum
	v.ids = room(v.ids, len(ids))
	sum.Find(ow.sent, ids, v.ids, true)
	start := s.grid.start(ow.end)
	for _, p := range s.panes.of(start, ow.end) {
		if p.open > ow.end {
			continue
		}
		v.found = room(v.found, len(ids))
		p.table.Find(sum, v.ids, v.found, false)
		to, from := v.pairs[0][:0], v.pairs[1][:0]
		for i, id := range v.found {
			if id != state.None {
				to, from = append(to, v.ids[i]), append(from, id)
			}
		}
		v.pairs = [2][]uint32{to, from}
		s.calls.merge(sum.Rows(), sum.Off(), to, p.table.Rows(), p.table.Off(), from)
	}
	r := &results{n: len(ids), keys: ow.sent.Keys(ids), calls: s.calls.results(sum.Rows(), sum.Off(), v.ids)}
	r.start, r.end = filled(start, len(ids)), filled(ow.end, len(ids))
	rows, off := ow.sent.Rows(), ow.sent.Off()
	err := s.out.revise(r, func(i int) []uint64 { return rows.At(ids[i])[off+owSent:] },
		func(i int) bool { return s.calls.lives(sum.Rows(), sum.Off(), v.ids[i]) }, out)
	for _, id := range ids {
		*rows.Word(id, off+owDirty) = 0
	}
	s.calls.clear(sum, sum.Off())
	return err
}

// forget drops what is known of the first window, which has closed; what it gave out last stands.
func (v *revisions) forget(s *sliced) {
	ow := v.windows[0]
	v.windows[0], v.windows = nil, v.windows[1:]
	ids, _ := ow.sent.All(0, ow.sent.Len(), nil)
	ow.sent.Rows().TouchAll(ids)
	for _, id := range ids {
		state.FreeText(ow.sent.Rows().At(id)[ow.sent.Off()+owSent:], &s.out.sent)
	}
}

// endHeap is a heap.Interface of windows, the one that ends first is the first.
type endHeap []*openWindow

func (h endHeap) Len() int           { return len(h) }
func (h endHeap) Less(i, j int) bool { return h[i].end < h[j].end }
func (h endHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *endHeap) Push(x any)        { *h = append(*h, x.(*openWindow)) }

func (h *endHeap) Pop() any {
	last := len(*h) - 1
	ow := (*h)[last]
	(*h)[last], *h = nil, (*h)[:last]
	return ow
}
