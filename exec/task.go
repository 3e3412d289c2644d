package exec

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/ebb-lang/ebb/lang/types"
)

// Progress is what a step did.
type Progress uint8

// The progress of a step.
const (
	Worked   Progress = iota // step again
	Waiting                  // nothing to do until woken or until the next tick
	Finished                 // all rows are through; what is left to do is to answer for snapshots when woken
)

// Task runs a source or a gate and the operators behind it. Step does a bounded piece of work and never blocks. A task
// that has finished stays: it takes part in every snapshot until the job ends.
type Task struct {
	actor
	group string // stable name of its group
	fit   string // of its source
	kind  string
	index int
	width int // of the group
	parts int // tasks of the group that have a part of the source: chunk k belongs to task k mod parts
	env   *Env

	source  Source
	schema  []byte // of its rows
	feed    *feed
	root    *Out // of the source, into the feed
	heads   *Out // behind the feed
	gate    *Gate
	inputs  []inputOf // of the gate
	head    *node
	nodes   []*node
	tickers []tickNode
	bursts  []*node // whose operators are Bursters
	writers []*writer
	chunk   int64 // of the rows at hand
	pace    Pace
	fail    error
	ended   bool
	mayEnd  bool          // a Satisfier stands somewhere behind the head
	again   types.Instant // when a source that had nothing is polled again; 0: not by the clock
	paused  *atomic.Bool  // of the run
	atOnce  int           // rows that a step takes; 0: as many as are done in a millisecond
	stop    atomic.Bool
	drain   atomic.Bool
	drained bool // the source was ended by it
	// finished is called once, when the task has come to its end.
	finished func()
	over     bool // it was called

	ordered atomic.Bool // there are orders
	mu      sync.Mutex
	orders  []order
	snaps   snapshots
}

// inputOf names a channel that leads to a task.
type inputOf struct {
	edge      *Edge
	from      int // task of edge.From
	fromWidth int // tasks of edge.From
	ch        *Channel
	old       bool // holds what was in flight when the run was restored at another width; nobody pushes to it
	nth       int  // of the old ones of the task: several may have been between the same tasks
}

// linger is how long a source that has nothing is left alone, in nanoseconds, unless it wakes its task.
const linger = 5e6

type tickNode struct {
	n    *node
	t    Ticker
	next types.Instant
	off  bool
}

// Step does a bounded piece of work.
func (t *Task) Step() (Progress, error) {
	t.again = 0
	if t.ordered.Load() {
		t.obey()
	}
	t.snaps.late(t)
	t.snaps.write(t)
	p := t.step()
	if t.fail != nil {
		return Finished, t.fail
	}
	if p != Worked && t.snaps.busy() { // also what the step has begun
		return Worked, nil
	}
	return p, nil
}

func (t *Task) step() Progress {
	if t.paused.Load() {
		t.snaps.standing(t)
		return Waiting
	}
	return t.move()
}

// move does the step of a task that is not paused.
func (t *Task) move() Progress {
	if t.fail != nil || t.snaps.final || t.full() {
		return Waiting
	}
	if t.tick() {
		return Worked
	}
	for _, n := range t.bursts {
		if c, ok := n.op.(Burster).Due(t.reached()); ok {
			t.chunk, n.owes = c, true
		}
	}
	for _, n := range t.nodes { // children stand before their parents
		if n.owes {
			n.drain(&t.fail)
			return Worked
		}
	}
	if t.source != nil && t.feed.ready() {
		t.fed()
		return Worked
	}
	if t.ended || t.satisfied() {
		t.snaps.rest(t)
		if !t.over {
			t.over = true
			t.finished()
		}
		return Finished
	}
	if t.source != nil {
		return t.poll()
	}
	in, it, ok := t.gate.Next(t.rows())
	if !ok {
		return Waiting
	}
	switch it.Kind {
	case markItem:
		t.snaps.reached(t, it)
	case Rows:
		t.chunk = it.N
		t.timed(it.Batch.Rows(), func() { t.head.process(in, it.Batch, &t.fail) })
	default:
		t.chunk = it.N
		t.deliver(it)
	}
	return Worked
}

// reached returns the chunk of what the task takes next.
func (t *Task) reached() int64 {
	if t.source == nil || t.ended {
		return math.MaxInt64
	}
	return t.feed.reached()
}

// rows returns how many rows the next step may take.
func (t *Task) rows() int {
	if t.atOnce > 0 {
		return t.atOnce
	}
	if t.env.StepRows != nil {
		return t.env.StepRows()
	}
	return t.pace.Rows()
}

// timed runs a step over a number of rows and lets the pace know how long it took.
func (t *Task) timed(rows int, f func()) {
	from := t.env.Now()
	f()
	t.pace.Took(rows, t.env.Now()-from)
}

// fed processes a piece of what the source has emitted.
func (t *Task) fed() {
	x := t.feed.take(t.rows())
	if t.feed.watch != nil {
		t.feed.watch.Took(t.feed.line, x.Item)
	}
	t.chunk = x.N
	switch {
	case x.Kind == Rows:
		t.timed(x.Batch.Rows(), func() { t.heads.EmitTo(x.port, x.Batch) })
	default:
		t.heads.signal(x.Item)
	}
}

// satisfied reports whether nobody wants the task's rows any more; it then closes the channels that lead to it.
func (t *Task) satisfied() bool {
	if !t.mayEnd {
		return false
	}
	if t.source != nil {
		t.ended = t.heads.satisfied()
		return t.ended
	}
	if !t.head.satisfied() {
		return false
	}
	t.ended = true
	t.gate.close()
	return true
}

func (t *Task) poll() Progress {
	if t.stop.Load() {
		t.end(Item{Kind: End, N: 1})
		return Worked
	}
	if t.drain.Load() {
		t.drained = true
		t.end(Item{Kind: End})
		return Worked
	}
	if t.feed.held() {
		if t.feed.ready() {
			return Worked
		}
		return Waiting
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
	if t.feed.ready() {
		return Worked
	}
	if s, ok := t.source.(Sleeper); ok {
		t.again = s.Until()
	} else {
		t.again = t.env.Now() + linger
	}
	return Waiting
}

func (t *Task) deliver(it Item) {
	t.ended = t.ended || it.Kind == End
	t.head.signal(it, &t.fail)
}

// end ends the source: what it emitted comes first.
func (t *Task) end(it Item) {
	t.ended = true
	t.feed.push(allPorts, it)
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

// NextTick returns when the task wants to be stepped without being woken; 0 is never.
func (t *Task) NextTick() types.Instant {
	if t.paused.Load() { // what is announced has been taken
		return 0
	}
	next := t.again
	if at := t.snaps.due(); at > 0 && (next == 0 || at < next) {
		next = at
	}
	for i := range t.tickers {
		if k := &t.tickers[i]; !k.off && (next == 0 || k.next < next) {
			next = k.next
		}
	}
	return next
}
