package exec

import (
	"fmt"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/fault"
)

// A cut is what a channel knows of an open snapshot: where its producer and its consumer stood when they took theirs.
// In flight are the items between the two places: those that the producer had pushed and the consumer had not taken.
// Whoever comes second closes the cut; until the producer has come, what the consumer takes is kept. See Chandy and
// Lamport, Distributed Snapshots, 1985, and Flink's ChannelStatePersister.
type cut struct {
	id      checkpoint.ID
	aligned bool

	marked bool
	at     uint64 // number of the last item before the producer's mark

	stepped bool
	flight  Flight // what the consumer has taken since its step
	done    func(Flight)
}

// Flight is what a snapshot found in a channel.
type Flight struct {
	First uint64 // number of the first item
	Items []Item // whole, but for rows of the first that were taken before
}

// Rows counts the rows.
func (f *Flight) Rows() int {
	n := 0
	for _, it := range f.Items {
		if it.Kind == Rows {
			n += it.Batch.Rows()
		}
	}
	return n
}

// keep notes what the consumer takes after its step and before the producer's mark.
func (k *cut) keep(it Item) {
	if k.stepped && !k.marked && !fault.On("forget-taken") {
		k.flight.add(it)
	}
}

func (f *Flight) add(it Item) {
	if it.Kind == Watermark && fault.On("forget-watermark") || it.Kind == End && fault.On("forget-end") || it.Kind == WentIdle && fault.On("forget-idle") || it.Kind == ChunkEnd && fault.On("forget-chunk-end") {
		return
	}
	if it.Batch != nil {
		it.Batch.Free = nil // the snapshot still needs the rows
	}
	f.Items = append(f.Items, it)
}

// cut returns the cut of snapshot id, a new one if there is none.
func (c *Channel) cut(id checkpoint.ID) *cut {
	for _, k := range c.cuts {
		if k.id == id {
			return k
		}
	}
	k := &cut{id: id}
	c.cuts = append(c.cuts, k)
	return k
}

func (c *Channel) drop(id checkpoint.ID) {
	for i, k := range c.cuts {
		if k.id == id {
			c.cuts = append(c.cuts[:i:i], c.cuts[i+1:]...)
			return
		}
	}
}

// Mark notes that the producer takes its snapshot id now. Aligned tells that the consumer takes its own only once
// everything before the mark has been taken.
func (c *Channel) Mark(id checkpoint.ID, aligned bool) {
	c.mu.Lock()
	k := c.cut(id)
	k.marked, k.aligned, k.at = true, aligned, c.taken+uint64(c.count)
	if c.count > 1 && fault.On("mark-early") {
		k.at--
	}
	if !k.stepped {
		if c.closed { // the consumer will find nothing, whenever it steps
			c.drop(id)
		}
		c.mayHave() // the mark
		c.mu.Unlock()
		c.wakeTo()
		return
	}
	for i := range c.count {
		if fault.On("forget-queued") {
			break
		}
		k.flight.add(c.item(i))
	}
	c.drop(id)
	c.mu.Unlock()
	k.done(k.flight)
}

// Step notes that the consumer takes its snapshot id now. done is called once, at once or by the producer's goroutine
// when that has marked, with what is in flight; not at all if the snapshot is aborted.
func (c *Channel) Step(id checkpoint.ID, done func(Flight)) {
	c.mu.Lock()
	k := c.cut(id)
	k.stepped, k.done = true, done
	k.flight.First = c.taken + 1
	if !k.marked && !c.closed {
		c.mu.Unlock()
		return
	}
	for i := 0; i < c.count && (c.taken+uint64(i) < k.at || fault.On("record-beyond-mark")); i++ {
		if i == 0 && c.part && fault.On("forget-rest") {
			continue
		}
		it := c.item(i)
		k.flight.add(it)
	}
	c.drop(id)
	c.mu.Unlock()
	done(k.flight)
}

// Abort forgets snapshot id.
func (c *Channel) Abort(id checkpoint.ID) {
	if fault.On("abort-keeps-cut") {
		return
	}
	c.mu.Lock()
	c.drop(id)
	c.mu.Unlock()
	c.wakeTo() // it may have waited at the mark
}

// pass forgets the mark of snapshot id if the consumer has not taken it and never will. A cut at which the consumer has
// stepped stays: its producer may still have to mark.
func (c *Channel) pass(id checkpoint.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.cuts {
		if k.id == id && !k.stepped {
			c.drop(id)
			return
		}
	}
}

// waits returns the first snapshot whose mark is reached and which the consumer has not taken.
func (c *Channel) waits() *cut {
	var first *cut
	for _, k := range c.cuts {
		if k.marked && !k.stepped && k.at == c.taken && (first == nil || k.id < first.id) {
			first = k
		}
	}
	return first
}

// Reached reports whether everything before the mark of snapshot id has been taken.
func (c *Channel) Reached(id checkpoint.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return true
	}
	for _, k := range c.cuts {
		if k.id == id {
			return k.marked && k.at == c.taken && !c.part
		}
	}
	return false
}

// marked reports whether a mark stands behind the last item.
func (c *Channel) marked() bool {
	for _, k := range c.cuts {
		if k.marked && k.at == c.taken+uint64(c.count) {
			return true
		}
	}
	return false
}

// marks tells which cuts are open, for messages.
func (c *Channel) marks() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := ""
	for _, k := range c.cuts {
		s += fmt.Sprintf("[%d: marked %v at %d of %d, stepped %v]", k.id, k.marked, k.at, c.taken, k.stepped)
	}
	return s
}
