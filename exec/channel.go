package exec

import (
	"sync"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/vec"
)

// Limits bound what a channel holds before its producer is no longer stepped for data. They are soft: a running step
// may overshoot by what it emits.
type Limits struct {
	Rows  int
	Bytes int
}

// DefaultLimits hold four full batches or 512 KiB.
var DefaultLimits = Limits{Rows: 4 * vec.MaxRows, Bytes: 512 << 10}

// Channel carries items from one task to another. Items are numbered from 1. All methods may be called from any
// goroutine; Push is the producer's alone, Next the consumer's.
type Channel struct {
	limits Limits
	wakeTo func() // of the consumer
	wakeUp func() // of the producer

	mu     sync.Mutex
	items  []queued // ring
	start  int
	count  int
	taken  uint64 // number of the last item that Next gave out
	rows   int
	bytes  int
	full   bool
	closed bool // the consumer wants nothing more
	marks  []mark
}

// queued is an item with what it was counted as: a batch that is looked at again must not be counted differently.
type queued struct {
	Item
	rows, bytes int
}

// mark says that everything up to item At was pushed before the producer's snapshot ID.
type mark struct {
	ID checkpoint.ID
	At uint64
}

// NewChannel returns an empty channel. The functions wake the consumer when items come and the producer when there is
// room again; they must not block.
func NewChannel(l Limits, consumer, producer func()) *Channel {
	return &Channel{limits: l, wakeTo: consumer, wakeUp: producer, items: make([]queued, 16)}
}

// Push appends an item. It never blocks and never refuses.
func (c *Channel) Push(it Item) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	if it.Kind == Watermark && c.count > 0 {
		// A watermark that nobody has taken yet is replaced by the later one right behind it.
		if last := &c.items[(c.start+c.count-1)&(len(c.items)-1)]; last.Kind == Watermark && !c.marked(c.taken+uint64(c.count)) {
			last.W = it.W
			c.mu.Unlock()
			return
		}
	}
	if c.count == len(c.items) {
		grown := make([]queued, 2*len(c.items))
		for i := range c.count {
			grown[i] = c.items[(c.start+i)&(len(c.items)-1)]
		}
		c.items, c.start = grown, 0
	}
	q := queued{Item: it}
	if it.Batch != nil {
		q.rows, q.bytes = it.Batch.Rows(), it.Batch.Bytes()
	}
	c.items[(c.start+c.count)&(len(c.items)-1)] = q
	c.count++
	if it.Batch != nil {
		c.rows += q.rows
		c.bytes += q.bytes
		c.full = c.rows >= c.limits.Rows || c.bytes >= c.limits.Bytes
	}
	c.mu.Unlock()
	c.wakeTo()
}

// Next takes the first item.
func (c *Channel) Next() (it Item, ok bool) {
	c.mu.Lock()
	if c.count == 0 {
		c.mu.Unlock()
		return Item{}, false
	}
	q := c.items[c.start]
	it = q.Item
	c.items[c.start] = queued{}
	c.start = (c.start + 1) & (len(c.items) - 1)
	c.count--
	c.taken++
	wake := false
	if it.Batch != nil {
		c.rows -= q.rows
		c.bytes -= q.bytes
		// Half empty, not one below the limit: so that the producer gets a run of work and not one batch.
		if c.full && c.rows <= c.limits.Rows/2 && c.bytes <= c.limits.Bytes/2 {
			c.full, wake = false, true
		}
	}
	c.mu.Unlock()
	if wake {
		c.wakeUp()
	}
	return it, true
}

// Full reports whether the channel is at its limit.
func (c *Channel) Full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.full
}

// Close tells that the consumer wants nothing more: what waits is dropped, and so is what is pushed later.
func (c *Channel) Close() {
	c.mu.Lock()
	c.closed, c.full = true, false
	c.items, c.start, c.count, c.rows, c.bytes = make([]queued, 1), 0, 0, 0, 0
	c.mu.Unlock()
	c.wakeUp()
}

// Closed reports whether the consumer wants nothing more.
func (c *Channel) Closed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// Len returns the number of items that wait.
func (c *Channel) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// Mark notes the producer's snapshot id at the present tail and returns the tail's number. What the consumer has not
// taken when it takes its own snapshot id, up to there, is in flight: the interval (taken, tail].
func (c *Channel) Mark(id checkpoint.ID) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.taken + uint64(c.count)
	c.marks = append(c.marks, mark{id, at})
	return at
}

func (c *Channel) marked(at uint64) bool {
	for _, m := range c.marks {
		if m.At == at {
			return true
		}
	}
	return false
}

// Interval returns the items in flight for snapshot id, if the consumer takes its snapshot now: those not taken that
// were pushed before the producer's mark. known is false while the producer has not marked id.
func (c *Channel) Interval(id checkpoint.ID) (items []Item, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.marks {
		if m.ID != id {
			continue
		}
		for i := range c.count {
			if c.taken+uint64(i)+1 > m.At {
				break
			}
			items = append(items, c.items[(c.start+i)&(len(c.items)-1)].Item)
		}
		return items, true
	}
	return nil, false
}

// Unmark forgets the marks up to and including id.
func (c *Channel) Unmark(id checkpoint.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	keep := c.marks[:0]
	for _, m := range c.marks {
		if m.ID > id {
			keep = append(keep, m)
		}
	}
	c.marks = keep
}
