package op

import (
	"cmp"
	"slices"

	"github.com/ebb-lang/ebb/exec/vec"
)

// runs are rows in sorted runs of at most a batch each, in the order in which they came: they are sorted as they come and
// merged as they go, a batch at a time (Knuth, volume 3, 5.4.1, with a heap for the tree of losers).
type runs struct {
	all  []*run
	heap []*run // those that have rows left, the one with the least row first; nil: nothing was given out
}

// run is rows in their order. Behind the columns of the rows stand the keys.
type run struct {
	b    *vec.Batch // dense
	nth  int        // among all, which breaks ties
	next int        // row
	slot int        // among the batches of a piece
}

// add appends rows. Small runs are merged, so that there are not many more than batches of them.
func (s *sorter) add(w *runs, b *vec.Batch, rows []uint32) {
	keys := b.Cols[len(s.cols):]
	slices.SortFunc(rows, func(x, y uint32) int {
		return cmp.Or(s.compare(keys, int(x), keys, int(y)), cmp.Compare(x, y))
	})
	last := &run{b: b.Gather(rows)}
	for n := len(w.all); n > 0; n-- {
		before := w.all[n-1]
		if before.b.N > 2*last.b.N || before.b.N+last.b.N > vec.MaxRows {
			break
		}
		w.all = w.all[:n-1]
		two := runs{all: []*run{before, last}}
		last = &run{b: s.take(&two, vec.MaxRows)}
	}
	w.all = append(w.all, last)
}

// compare orders a row by its keys against another one.
func (s *sorter) compare(a []*vec.Column, x int, b []*vec.Column, y int) int {
	for k := range a {
		if o := vec.Compare(a[k], x, b[k], y); o != 0 {
			if s.desc[k] && !a[k].Null(x) && !b[k].Null(y) {
				return -o
			}
			return o
		}
	}
	return 0
}

// less reports whether the next row of a comes before that of b.
func (s *sorter) less(a, b *run) bool {
	o := s.compare(a.b.Cols[len(s.cols):], a.next, b.b.Cols[len(s.cols):], b.next)
	return o < 0 || o == 0 && a.nth < b.nth
}

// take takes at most so many rows out, the least first; nil when none is left.
func (s *sorter) take(w *runs, most int) *vec.Batch {
	if w.heap == nil {
		w.heap = slices.Clone(w.all)
		for i, r := range w.heap {
			r.nth = i
		}
		for i := len(w.heap)/2 - 1; i >= 0; i-- {
			s.sift(w.heap, i)
		}
		w.all = nil
	}
	var batches []*vec.Batch
	var used []*run
	var refs []vec.Ref
	for len(refs) < most && len(w.heap) > 0 {
		r := w.heap[0]
		if r.slot == 0 {
			used, batches = append(used, r), append(batches, r.b)
			r.slot = len(batches)
		}
		refs = append(refs, vec.Ref{Batch: uint32(r.slot - 1), Row: uint32(r.next)})
		if r.next++; r.next == r.b.N {
			last := len(w.heap) - 1
			w.heap[0], w.heap[last] = w.heap[last], nil
			w.heap = w.heap[:last]
		}
		s.sift(w.heap, 0)
	}
	for _, r := range used {
		r.slot = 0
	}
	if len(refs) == 0 {
		return nil
	}
	return vec.Interleave(batches, refs)
}

// sift lets a run sink to its place.
func (s *sorter) sift(heap []*run, i int) {
	for {
		least := 2*i + 1
		if least >= len(heap) {
			return
		}
		if right := least + 1; right < len(heap) && s.less(heap[right], heap[least]) {
			least = right
		}
		if !s.less(heap[least], heap[i]) {
			return
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}

// left returns the runs as far as they are not given out, in the order in which they came.
func (w *runs) left() []*run {
	if w.heap == nil {
		return w.all
	}
	left := slices.Clone(w.heap)
	slices.SortFunc(left, func(a, b *run) int { return cmp.Compare(a.nth, b.nth) })
	return left
}
