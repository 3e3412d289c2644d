package op

import (
	"cmp"
	"slices"

	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/lang/types"
)

// pane is the groups of one slice of time. Rows that came too late for some of the slice's windows are in a pane of
// their own, which counts from the first window on that was open to them.
type pane struct {
	paneKey
	end  int64 // of the slice
	next int64 // end of the window that it counts in next
	last int64 // end of the last one
	paneMemory
}

// paneMemory is what of a pane is used again.
type paneMemory struct {
	table *state.Table

	// Of the batch at hand.
	rows   []uint32
	hashes []uint64
	ids    []uint32
}

type paneKey struct{ start, open int64 }

// panes are the open panes of an aggregate.
type panes struct {
	grid    grid
	keys    []types.Type
	words   int
	open    map[paneKey]*pane
	due     []*pane // heap by next, start, open
	spare   []paneMemory
	order   []*pane // in order of time; kept only if ordered is set
	ordered bool
}

func newPanes(g grid, keys []types.Type, words int) *panes {
	return &panes{grid: g, keys: keys, words: words, open: map[paneKey]*pane{}}
}

// at returns the pane of a slice that counts from the window on that ends at open, a new one if there is none. fired
// is up to where windows have fired.
func (p *panes) at(start, open, fired int64) *pane {
	k := paneKey{start, open}
	if n := p.open[k]; n != nil {
		return n
	}
	n := p.make(k)
	p.add(n)
	if open <= fired { // late, but still allowed: these windows come out again at once
		ok := false
		if n.next, ok = p.grid.firstOpen(start, fired); !ok {
			return n
		}
	}
	p.push(n)
	return n
}

// make returns an empty pane that counts in all windows from the first one on.
func (p *panes) make(k paneKey) *pane {
	_, end := p.grid.sliceOf(k.start)
	return &pane{paneKey: k, end: end, next: k.open, last: p.grid.last(k.start), paneMemory: p.memory()}
}

// add opens a pane; its windows are not due yet.
func (p *panes) add(n *pane) {
	p.open[n.paneKey] = n
	if p.ordered {
		i, _ := slices.BinarySearchFunc(p.order, n, comparePanes)
		p.order = slices.Insert(p.order, i, n)
	}
}

func (p *panes) memory() paneMemory {
	if n := len(p.spare); n > 0 {
		m := p.spare[n-1]
		p.spare = p.spare[:n-1]
		return m
	}
	return paneMemory{table: state.NewTable(p.keys, p.words)}
}

// recycle keeps the memory of a pane that was closed; its table has been emptied.
func (p *panes) recycle(n *pane) {
	if len(p.spare) < 4 {
		p.spare = append(p.spare, n.paneMemory)
	}
}

// close forgets a pane.
func (p *panes) close(n *pane) {
	delete(p.open, n.paneKey)
	if p.ordered {
		i, _ := slices.BinarySearchFunc(p.order, n, comparePanes)
		p.order = slices.Delete(p.order, i, i+1)
	}
}

// of returns the panes, in order, of the slices from start to end. They are kept in order.
func (p *panes) of(start, end int64) []*pane {
	i, _ := slices.BinarySearchFunc(p.order, start, func(n *pane, at int64) int { return cmp.Compare(n.start, at) })
	j := i
	for j < len(p.order) && p.order[j].start < end {
		j++
	}
	return p.order[i:j]
}

// all returns the panes in order of time.
func (p *panes) all() []*pane {
	out := make([]*pane, 0, len(p.open))
	for _, n := range p.open {
		out = append(out, n)
	}
	slices.SortFunc(out, comparePanes)
	return out
}

func comparePanes(a, b *pane) int {
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.open, b.open))
}

// nextEnd returns the end of the next window that holds rows, types.MaxInstant if there is none.
func (p *panes) nextEnd() (int64, bool) {
	if len(p.due) == 0 {
		return types.MaxInstant, false
	}
	return p.due[0].next, true
}

// popWindow takes the panes of the window that ends next, in order of time.
func (p *panes) popWindow() (end int64, of []*pane) {
	end = p.due[0].next
	for len(p.due) > 0 && p.due[0].next == end {
		of = append(of, p.pop())
	}
	return end, of
}

// goOn puts a pane that has counted in the window that ends at end back in the queue; it reports false if that was its
// last one.
func (p *panes) goOn(n *pane, end int64) bool {
	if end >= n.last {
		return false
	}
	n.next = p.grid.next(end)
	p.push(n)
	return true
}

func (n *pane) before(m *pane) bool {
	if n.next != m.next {
		return n.next < m.next
	}
	return comparePanes(n, m) < 0
}

func (p *panes) push(n *pane) {
	p.due = append(p.due, n)
	h := p.due
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h[i].before(h[up]) {
			return
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
}

func (p *panes) pop() *pane {
	h := p.due
	top, n := h[0], len(h)-1
	h[0], h[n] = h[n], nil
	h = h[:n]
	p.due = h
	for i := 0; ; {
		c := 2*i + 1
		if c >= n {
			return top
		}
		if c+1 < n && h[c+1].before(h[c]) {
			c++
		}
		if !h[c].before(h[i]) {
			return top
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}
