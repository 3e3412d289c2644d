package exec

import "github.com/ebb-lang/ebb/exec/vec"

// Spread is how an edge spreads rows over the tasks of its consumer.
type Spread uint8

// The spreads.
const (
	Gather    Spread = iota // all rows to the only task
	Hash                    // rows of equal key to one task
	Rebalance               // whole batches in turn
	Broadcast               // all rows to every task
)

func (s Spread) String() string { return [...]string{"gather", "hash", "rebalance", "broadcast"}[s] }

// KeyGroups is the number of groups that keys hash into; tasks own ranges of them.
const KeyGroups = 256

// Owner returns the task of width that owns the keys of a hash.
func Owner(hash uint64, width int) int { return int(hash>>56) * width / KeyGroups }

// writer is the producer's side of an edge: one task's way into the channels of its consumers.
type writer struct {
	spread Spread
	keys   []int
	keep   Hidden
	chans  []*Channel
	chunk  *int64 // of the rows at hand
	next   int
	hashes []uint64
	rowsOf [][]uint32
}

func (w *writer) full() bool {
	for _, c := range w.chans {
		if c.Full() {
			return true
		}
	}
	return false
}

// closed reports whether no consumer wants more.
func (w *writer) closed() bool {
	for _, c := range w.chans {
		if !c.Closed() {
			return false
		}
	}
	return true
}

func (w *writer) signal(it Item) {
	for _, c := range w.chans {
		c.Push(it)
	}
}

func (w *writer) item(b *vec.Batch) Item { return Item{Kind: Rows, Batch: b, N: *w.chunk} }

func (w *writer) rows(b *vec.Batch) {
	b = w.keep.strip(b)
	switch {
	case len(w.chans) == 1:
		w.chans[0].Push(w.item(b))
	case w.spread == Hash:
		w.hash(b)
	case w.spread == Broadcast:
		for _, c := range w.chans {
			c.Push(w.item(b))
		}
	default:
		w.chans[w.next].Push(w.item(b))
		w.next = (w.next + 1) % len(w.chans)
	}
}

// hash deals the rows out by key and sends each consumer a dense batch.
func (w *writer) hash(b *vec.Batch) {
	n := b.Rows()
	if cap(w.hashes) < n {
		w.hashes = make([]uint64, max(n, vec.MaxRows))
	}
	hashes := w.hashes[:n]
	cols := make([]*vec.Column, len(w.keys))
	for i, k := range w.keys {
		cols[i] = b.Cols[k]
	}
	vec.Hash(b, cols, hashes)
	if w.rowsOf == nil {
		w.rowsOf = make([][]uint32, len(w.chans))
	}
	for i := range w.rowsOf {
		w.rowsOf[i] = w.rowsOf[i][:0]
	}
	width := len(w.chans)
	for i, h := range hashes {
		o := Owner(h, width)
		w.rowsOf[o] = append(w.rowsOf[o], uint32(b.Row(i)))
	}
	for i, rows := range w.rowsOf {
		switch {
		case len(rows) == 0:
		case len(rows) == n:
			w.chans[i].Push(w.item(b.Dense()))
		default:
			w.chans[i].Push(w.item(b.Gather(rows)))
		}
	}
}

// Hidden says which hidden columns the consumer of an edge needs.
type Hidden struct{ Time, Mark, Pos, Change bool }

func (h Hidden) strip(b *vec.Batch) *vec.Batch {
	if (h.Time || b.Time == nil) && (h.Mark || b.Mark == nil) && (h.Pos || b.Pos == nil) && (h.Change || b.Change == nil) {
		return b
	}
	c := *b
	if !h.Time {
		c.Time = nil
	}
	if !h.Mark {
		c.Mark = nil
	}
	if !h.Pos {
		c.Pos = nil
	}
	if !h.Change {
		c.Change = nil
	}
	return &c
}
