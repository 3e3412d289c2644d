package state

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Buffer keeps rows until event time has passed them and gives them back in the order of event time, ties by position,
// then by arrival. So what depends on order sees one order, however the rows came.
type Buffer struct {
	runs runHeap
	seq  int
	rows int
}

// run is the rows of one batch that are still kept, in order from at on.
type run struct {
	b    *vec.Batch
	sel  []uint32
	at   int
	seq  int
	size int
}

func (r *run) time() int64 { return r.b.Time[r.sel[r.at]] }

func (r *run) pos() uint64 {
	if r.b.Pos == nil {
		return 0
	}
	return r.b.Pos[r.sel[r.at]]
}

// runHeap has the run with the earliest next row first.
type runHeap []*run

func (h runHeap) Len() int      { return len(h) }
func (h runHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h runHeap) Less(i, j int) bool {
	c := cmp.Or(cmp.Compare(h[i].time(), h[j].time()), cmp.Compare(h[i].pos(), h[j].pos()), cmp.Compare(h[i].seq, h[j].seq))
	return c < 0
}
func (h *runHeap) Push(x any) { *h = append(*h, x.(*run)) }
func (h *runHeap) Pop() any {
	n := len(*h) - 1
	r := (*h)[n]
	(*h)[n] = nil
	*h = (*h)[:n]
	return r
}

// Add keeps the selected rows of b, which has event times.
func (u *Buffer) Add(b *vec.Batch) {
	if b.Rows() == 0 {
		return
	}
	if 2*b.Rows() < b.N {
		b = b.Dense() // do not hold on to what was not selected
	}
	sel := make([]uint32, b.Rows())
	for i := range sel {
		sel[i] = uint32(b.Row(i))
	}
	before := func(i, j uint32) int {
		if c := cmp.Compare(b.Time[i], b.Time[j]); c != 0 || b.Pos == nil {
			return c
		}
		return cmp.Compare(b.Pos[i], b.Pos[j])
	}
	if !slices.IsSortedFunc(sel, before) {
		slices.SortStableFunc(sel, before)
	}
	u.seq++
	heap.Push(&u.runs, &run{b: b, sel: sel, seq: u.seq, size: b.Bytes()})
	u.rows += len(sel)
}

// Len returns the number of rows that are kept.
func (u *Buffer) Len() int { return u.rows }

// First returns the smallest event time of the rows kept, types.MaxInstant if there are none.
func (u *Buffer) First() int64 {
	if len(u.runs) == 0 {
		return types.MaxInstant
	}
	return u.runs[0].time()
}

// Take removes the rows before w, at most vec.MaxRows, and returns them in order as a dense batch with event times;
// nil if there are none. If it returned as many rows as it may, there may be more.
func (u *Buffer) Take(w int64) *vec.Batch {
	type place struct {
		run *run
		row uint32
	}
	var rows []place
	for len(rows) < vec.MaxRows && len(u.runs) > 0 && u.runs[0].time() < w {
		r := u.runs[0]
		rows = append(rows, place{r, r.sel[r.at]})
		if r.at+1 == len(r.sel) {
			heap.Pop(&u.runs)
		} else {
			r.at++
			heap.Fix(&u.runs, 0)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	out := &vec.Batch{N: len(rows), Time: make([]int64, len(rows))}
	for c, col := range rows[0].run.b.Cols {
		bd := vec.NewBuilder(col.Type)
		for _, p := range rows {
			bd.AppendRow(p.run.b.Cols[c], int(p.row))
		}
		out.Cols = append(out.Cols, bd.Column())
	}
	if rows[0].run.b.Pos != nil {
		out.Pos = make([]uint64, len(rows))
	}
	for i, p := range rows {
		out.Time[i] = p.run.b.Time[p.row]
		if out.Pos != nil && p.run.b.Pos != nil {
			out.Pos[i] = p.run.b.Pos[p.row]
		}
	}
	u.rows -= len(rows)
	return out
}

// Bytes returns about how much memory the rows hold.
func (u *Buffer) Bytes() int {
	n := 0
	for _, r := range u.runs {
		n += r.size + 4*len(r.sel)
	}
	return n
}
