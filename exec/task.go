package exec

import (
	"sync/atomic"

	"github.com/ebb-lang/ebb/lang/types"
)

// Progress is what a step did.
type Progress uint8

// The progress of a step.
const (
	Worked  Progress = iota // step again
	Waiting                 // nothing to do until woken or until the next tick
	Finished
)

// Task runs a source or a gate and the operators behind it. Step does a bounded piece of work and never blocks.
type Task struct {
	name    string
	env     *Env
	source  Source
	root    *Out
	gate    *Gate
	head    *node
	nodes   []*node
	tickers []tickNode
	writers []*writer
	fail    error
	ended   bool
	mayEnd  bool // a Satisfier stands somewhere behind the head
	wake    chan struct{}
	again   types.Instant // when a source that had nothing is polled again; 0: not by the clock
	stop    atomic.Bool
}

// linger is how long a source that has nothing is left alone, in nanoseconds, unless it wakes its task.
const linger = 5e6

type tickNode struct {
	n    *node
	t    Ticker
	next types.Instant
	off  bool
}

// Wake makes the scheduler step the task again. It never blocks.
func (t *Task) Wake() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// Step does a bounded piece of work.
func (t *Task) Step() (Progress, error) {
	p := t.step()
	if t.fail != nil {
		return Finished, t.fail
	}
	return p, nil
}

func (t *Task) step() Progress {
	t.again = 0
	if t.full() {
		return Waiting
	}
	if t.tick() {
		return Worked
	}
	for _, n := range t.nodes { // children stand before their parents
		if n.owes {
			n.drain(&t.fail)
			return Worked
		}
	}
	if t.ended || t.satisfied() {
		return Finished
	}
	if t.source != nil {
		return t.poll()
	}
	in, it, ok := t.gate.Next()
	if !ok {
		return Waiting
	}
	if it.Kind == Rows {
		t.head.process(in, it.Batch, &t.fail)
		return Worked
	}
	t.deliver(it)
	return Worked
}

// satisfied reports whether nobody wants the task's rows any more; it then closes the channels that lead to it.
func (t *Task) satisfied() bool {
	if !t.mayEnd {
		return false
	}
	if t.source != nil {
		return t.root.satisfied()
	}
	if !t.head.satisfied() {
		return false
	}
	t.gate.close()
	return true
}

func (t *Task) poll() Progress {
	if t.stop.Load() {
		t.end(Item{Kind: End, N: 1})
		return Worked
	}
	s, err := t.source.Poll(t.root)
	if err != nil {
		t.fail = err
		return Finished
	}
	switch s {
	case More:
		return Worked
	case Done:
		t.end(Item{Kind: End})
		return Worked
	}
	t.again = t.env.Now() + linger
	return Waiting
}

func (t *Task) deliver(it Item) {
	t.ended = t.ended || it.Kind == End
	t.head.signal(it, &t.fail)
}

func (t *Task) end(it Item) {
	t.ended = true
	t.root.signal(it)
}

func (t *Task) full() bool {
	for _, w := range t.writers {
		if w.full() {
			return true
		}
	}
	return false
}

// tick calls the tickers that are due and reports whether there was one.
func (t *Task) tick() bool {
	if len(t.tickers) == 0 {
		return false
	}
	now := t.env.Now()
	did := false
	for i := range t.tickers {
		k := &t.tickers[i]
		if k.off || k.next > now || k.n.owes {
			continue
		}
		next, err := k.t.Tick(now, k.n.out)
		if err != nil {
			t.fail = err
			return true
		}
		did = true
		k.next, k.off = next, next == 0
		if d, ok := k.n.op.(Drainer); ok {
			if k.n.owes, err = d.Drain(k.n.out); err != nil {
				t.fail = err
				return true
			}
		}
	}
	return did
}

// nextTick returns when the task wants to be stepped without being woken; 0 is never.
func (t *Task) nextTick() types.Instant {
	next := t.again
	for i := range t.tickers {
		if k := &t.tickers[i]; !k.off && (next == 0 || k.next < next) {
			next = k.next
		}
	}
	return next
}
