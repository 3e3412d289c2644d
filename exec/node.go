package exec

import (
	"sync/atomic"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// node is an operator in its task, with what it has been told.
type node struct {
	id    string
	fit   string
	name  string
	spec  *Node
	op    Operator
	out   *Out
	w     types.Instant
	owes  bool                  // Drain has more
	queue []Item                // signals that wait until nothing is owed
	after []Item                // signals to pass on once nothing is owed
	sink  bool                  // also finished when the run is stopped
	done  bool                  // wants nothing more
	took  atomic.Int64          // rows, for Run.Stages
	told  atomic.Int64          // w, for the same; 0: not told yet
	seen  func(in int, it Item) // is told what the operator is given; nil: nobody. See Job.Step
}

// process hands rows to the operator. Once the task has failed it does nothing.
func (n *node) process(in int, b *vec.Batch, fail *error) {
	if *fail != nil || n.done {
		return
	}
	burst, bursts := n.op.(Burster)
	if bursts && n.out.satisfied() { // nobody wants its many rows
		return
	}
	n.took.Add(int64(b.Rows()))
	if n.seen != nil {
		n.seen(in, Item{Kind: Rows, Batch: b})
	}
	if err := n.op.Process(in, b, n.out); err != nil && *fail == nil {
		*fail = err
	}
	if bursts {
		n.owes = burst.Owes()
	}
	if s, ok := n.op.(Satisfier); ok && s.Satisfied() {
		n.done = true
		n.pass(Item{Kind: End})
	}
}

// satisfied reports whether neither the operator nor anything behind it wants more rows.
func (n *node) satisfied() bool { return n.done || !n.sink && n.out.satisfied() }

// signal hands a watermark, idleness, chunk end or end to the operator and, as soon as it owes nothing, passes it on. An
// end closes event time first; the operators behind learn of both by the end, so that all rows come before it.
func (n *node) signal(it Item, fail *error) {
	if *fail != nil || n.done {
		return
	}
	if n.owes {
		n.queue = append(n.queue, it)
		return
	}
	var err error
	switch {
	case it.Kind == Watermark && it.W <= n.w:
		return
	case it.Kind == Watermark:
		n.w = it.W
		n.see(it)
		err = n.op.Advance(it.W, n.out)
	case it.Kind == End && it.N == 0 && n.w != types.MaxInstant:
		n.queue = append([]Item{it}, n.queue...)
		it = Item{Kind: Watermark, W: types.MaxInstant}
		n.w = it.W
		n.see(it)
		err = n.op.Advance(it.W, n.out)
	case it.Kind == End && (it.N == 0 || n.sink):
		n.see(it)
		err = n.op.Finish(n.out)
	case it.Kind == WentIdle:
		if i, ok := n.op.(Idler); ok {
			i.Idle()
		}
	}
	if err == nil && (it.Kind == Watermark || it.Kind == End || it.Kind == WentIdle) {
		if d, ok := n.op.(Drainer); ok {
			n.owes, err = d.Drain(n.out)
		}
	}
	if err != nil {
		if *fail == nil {
			*fail = err
		}
		return
	}
	if n.owes {
		n.after = append(n.after, it)
		return
	}
	n.pass(it)
	n.next(fail)
}

// see notes that the operator is about to be told of a signal.
func (n *node) see(it Item) {
	n.told.Store(n.w)
	if n.seen != nil {
		n.seen(0, it)
	}
}

// next handles the signals that waited.
func (n *node) next(fail *error) {
	for len(n.queue) > 0 && !n.owes && *fail == nil {
		it := n.queue[0]
		n.queue = n.queue[1:]
		n.signal(it, fail)
	}
}

// drain lets the operator emit a piece of what it owes, and passes on what waited for the last one.
func (n *node) drain(fail *error) {
	if d, ok := n.op.(Drainer); ok {
		more, err := d.Drain(n.out)
		if err != nil {
			*fail = err
			return
		}
		if more && (n.sink || !n.out.satisfied()) {
			return
		}
	}
	n.owes = false
	after := n.after
	n.after = nil
	for _, it := range after {
		n.pass(it)
	}
	n.next(fail)
}

// pass passes a signal on. That event time has closed is said by the end.
func (n *node) pass(it Item) {
	if it.Kind == Watermark {
		if it.W == types.MaxInstant {
			return
		}
		if h, ok := n.op.(Holder); ok {
			it.W = min(it.W, h.Hold(it.W))
		}
	}
	n.out.signal(it)
}
