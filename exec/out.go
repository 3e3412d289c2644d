package exec

import (
	"sync/atomic"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// target is where a port leads: an operator of the same task, or an edge to other tasks.
type target struct {
	node *node
	edge *writer
}

// Out is what a source or an operator emits into. Its ports lead to the operators that follow in the same task and to
// edges to other tasks; port 0 is the main output. Emitting never blocks and never refuses: a task whose edges are
// full is not stepped for data.
type Out struct {
	ports [][]target
	feed  *feed  // of a source: takes all that is emitted
	fail  *error // of the task: the first error of an operator downstream
	taps  func(port int, it Item)

	gave   atomic.Int64                // rows of the main output, for Run.Stages
	tapped atomic.Pointer[[]*listener] // of the main output; see Run.Tap
}

// Emit sends rows to port 0.
func (o *Out) Emit(b *vec.Batch) { o.EmitTo(0, b) }

// EmitTo sends rows to a port. A port that leads nowhere swallows them.
func (o *Out) EmitTo(port int, b *vec.Batch) {
	if b.Rows() == 0 {
		return
	}
	if o.taps != nil {
		o.taps(port, Item{Kind: Rows, Batch: b})
	}
	if port == 0 {
		o.gave.Add(int64(b.Rows()))
	}
	if l := o.tapped.Load(); l != nil && port == 0 {
		for _, f := range *l {
			(*f)(b)
		}
	}
	if o.feed != nil {
		o.feed.push(port, Item{Kind: Rows, Batch: b})
		return
	}
	if port >= len(o.ports) {
		return
	}
	for _, t := range o.ports[port] {
		if t.node != nil {
			t.node.process(0, b, o.fail)
		} else {
			t.edge.rows(b)
		}
	}
}

// satisfied reports whether all that the ports lead to wants no more rows, and there is something.
func (o *Out) satisfied() bool {
	some := false
	for _, p := range o.ports {
		for _, t := range p {
			if t.node != nil && !t.node.satisfied() || t.edge != nil && !t.edge.closed() {
				return false
			}
			some = true
		}
	}
	return some
}

// Watermark tells that no row before w will come, late ones aside. Sources only: operators have theirs passed on.
func (o *Out) Watermark(w types.Instant) { o.signal(Item{Kind: Watermark, W: w}) }

// Idle tells that the source has (true) or no longer has (false) nothing to say about event time.
func (o *Out) Idle(idle bool) {
	if idle {
		o.signal(Item{Kind: WentIdle})
	} else {
		o.signal(Item{Kind: WentActive})
	}
}

// Chunk tells that the rows that follow belong to chunk n of the source's input. Sources that read in chunks say so
// before anything else of each: after a restore, rows that were in flight come before those of the same chunk that are
// read then, and before the watermark.
func (o *Out) Chunk(n int64) {
	if o.feed != nil {
		o.feed.chunk = n
	}
}

// ChunkEnd tells that the rows of chunk n of the source's input are complete; the tasks of one source take the chunks
// 0, 1, 2, … in turn.
func (o *Out) ChunkEnd(n int64) { o.signal(Item{Kind: ChunkEnd, N: n}) }

func (o *Out) signal(it Item) {
	if o.taps != nil {
		o.taps(0, it)
	}
	if o.feed != nil {
		o.feed.push(allPorts, it)
		return
	}
	for _, p := range o.ports {
		for _, t := range p {
			if t.node != nil {
				t.node.signal(it, o.fail)
			} else {
				t.edge.signal(it)
			}
		}
	}
}

// NewTap returns an Out that hands everything to f: for tests of sources and operators.
func NewTap(f func(port int, it Item)) *Out { return &Out{taps: f, fail: new(error)} }
