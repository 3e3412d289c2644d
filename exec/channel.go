package exec

import (
	"sync"
	"sync/atomic"

	"github.com/ebb-lang/ebb/checkpoint/fault"
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
	watch  Watch  // nil: nobody watches
	line   *Line

	mu     sync.Mutex
	items  []queued // ring
	start  int
	count  int
	taken  uint64 // number of the last item that Next gave out
	rows   int
	bytes  int
	full   bool
	closed bool // the consumer wants nothing more
	part   bool // rows of the first item have been taken
	cuts   []*cut

	ready   *atomic.Uint64 // see readySet; nil: the consumer looks by itself
	bit     uint64
	readied bool
}

// queued is an item with what it was counted as: a batch that is looked at again must not be counted differently.
type queued struct {
	Item
	rows, bytes int
}

// NewChannel returns an empty channel. The functions wake the consumer when items come and the producer when there is
// room again; they must not block.
func NewChannel(l Limits, consumer, producer func()) *Channel {
	return &Channel{limits: l, wakeTo: consumer, wakeUp: producer, items: make([]queued, 2)}
}

// Push appends an item. It never blocks and never refuses.
func (c *Channel) Push(it Item) {
	c.mu.Lock()
	c.pushed(it)
	if c.closed {
		for _, k := range c.cuts {
			if !fault.On("closed-forgets") {
				k.keep(it)
			}
		}
		c.mu.Unlock()
		return
	}
	if it.Kind == Watermark && c.count > 0 {
		// A watermark that nobody has taken yet is replaced by the later one right behind it.
		if last := &c.items[(c.start+c.count-1)&(len(c.items)-1)]; last.Kind == Watermark && (!c.marked() || fault.On("watermark-over-mark")) {
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
	c.mayHave()
	if it.Batch != nil {
		c.rows += q.rows
		c.bytes += q.bytes
		c.full = c.rows >= c.limits.Rows || c.bytes >= c.limits.Bytes
	}
	c.mu.Unlock()
	c.wakeTo()
}

// Got says what Next found.
type Got uint8

// What Next found.
const (
	Nothing Got = iota
	Taken
	AtMark // a snapshot of the consumer must come first
)

// Next takes the first item or, of a batch of more rows, about its first max; the others stay the first item. It takes
// nothing beyond the mark of a snapshot that the consumer has not taken: it then returns AtMark and a mark item.
func (c *Channel) Next(max int) (it Item, got Got) {
	c.mu.Lock()
	if len(c.cuts) > 0 && !c.part && !fault.On("run-over-mark") {
		if k := c.waits(); k != nil {
			c.mu.Unlock()
			return Item{Kind: markItem, N: int64(k.id), Aligned: k.aligned}, AtMark
		}
	}
	if c.count == 0 {
		c.hasNothing()
		c.mu.Unlock()
		return Item{}, Nothing
	}
	q := &c.items[c.start]
	it = q.Item
	wake := false
	if n := piece(q.rows, max); n < q.rows {
		rest := it.Batch
		it.Batch = rest.Slice(0, n)
		q.Batch = rest.Slice(n, q.rows)
		q.rows -= n
		c.part = true
		c.rows -= n
	} else {
		c.rows -= q.rows
		c.bytes -= q.bytes
		*q = queued{}
		c.start = (c.start + 1) & (len(c.items) - 1)
		c.count--
		c.taken++
		c.part = false
		// Half empty, not one below the limit: so that the producer gets a run of work and not one batch.
		if c.full && c.rows <= c.limits.Rows/2 && c.bytes <= c.limits.Bytes/2 {
			c.full, wake = false, true
		}
	}
	for _, k := range c.cuts {
		k.keep(it)
	}
	if c.watch != nil {
		c.watch.Took(c.line, it)
	}
	c.mu.Unlock()
	if wake {
		c.wakeUp()
	}
	return it, Taken
}

// peek returns the kind and the number of the first item.
func (c *Channel) peek() (kind ItemKind, n int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count == 0 {
		return 0, 0, false
	}
	it := c.item(0)
	return it.Kind, it.N, true
}

// Full reports whether the channel is at its limit.
func (c *Channel) Full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.full
}

// Close tells that the consumer wants nothing more: what waits is dropped, and so is what is pushed later, except from
// the snapshots that the consumer took before.
func (c *Channel) Close() {
	c.mu.Lock()
	if !c.closed {
		for _, k := range c.cuts {
			for i := range c.count {
				if fault.On("close-forgets") {
					break
				}
				k.keep(c.item(i))
			}
		}
	}
	if c.watch != nil {
		c.watch.Closed(c.line)
	}
	c.closed, c.full, c.part = true, false, false
	c.taken += uint64(c.count)
	c.items, c.start, c.count, c.rows, c.bytes = make([]queued, 1), 0, 0, 0, 0
	c.mu.Unlock()
	c.wakeUp()
}

func (c *Channel) item(i int) Item { return c.items[(c.start+i)&(len(c.items)-1)].Item }

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
