package exec

import (
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// node is an operator in its task, with what it has been told.
type node struct {
	name  string
	op    Operator
	out   *Out
	w     types.Instant
	owes  bool   // Drain has more
	queue []Item // signals that wait until nothing is owed
	after []Item // signals to pass on once nothing is owed
	sink  bool   // also finished when the run is stopped
	done  bool   // wants nothing more
}

// process hands rows to the operator. Once the task has failed it does nothing.
func (n *node) process(in int, b *vec.Batch, fail *error) {
	if *fail != nil || n.done {
		return
	}
	if err := n.op.Process(in, b, n.out); err != nil && *fail == nil {
		*fail = err
	}
	if s, ok := n.op.(Satisfier); ok && s.Satisfied() {
		n.done = true
		n.pass(Item{Kind: Watermark, W: types.MaxInstant})
		n.pass(Item{Kind: End})
	}
}

// satisfied reports whether neither the operator nor anything behind it wants more rows.
func (n *node) satisfied() bool { return n.done || !n.sink && n.out.satisfied() }

// signal hands a watermark, idleness, chunk end or end to the operator and, as soon as it owes nothing, passes it on.
func (n *node) signal(it Item, fail *error) {
	if *fail != nil || n.done {
		return
	}
	if n.owes {
		n.queue = append(n.queue, it)
		return
	}
	var err error
	switch it.Kind {
	case Watermark:
		if it.W <= n.w {
			return
		}
		n.w = it.W
		err = n.op.Advance(it.W, n.out)
	case End:
		if it.N == 0 || n.sink {
			err = n.op.Finish(n.out)
		}
	}
	if err == nil && (it.Kind == Watermark || it.Kind == End) {
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
}

// drain lets the operator emit a piece of what it owes, and passes on what waited for the last one.
func (n *node) drain(fail *error) {
	more, err := n.op.(Drainer).Drain(n.out)
	if err != nil {
		*fail = err
		return
	}
	if more {
		return
	}
	n.owes = false
	after := n.after
	n.after = nil
	for _, it := range after {
		n.pass(it)
	}
	for len(n.queue) > 0 && !n.owes && *fail == nil {
		it := n.queue[0]
		n.queue = n.queue[1:]
		n.signal(it, fail)
	}
}

func (n *node) pass(it Item) {
	if it.Kind == Watermark {
		if h, ok := n.op.(Holder); ok && it.W != types.MaxInstant {
			it.W = min(it.W, h.Hold(it.W))
		}
	}
	n.out.signal(it)
}
