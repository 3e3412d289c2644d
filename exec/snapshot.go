package exec

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// A Saver has something to remember over a restart.
type Saver interface {
	// Save writes what Load needs. It is called between other calls, must be quick, and emits nothing: small state is
	// copied, large state goes by Writer.Later. A sink seals what it was given; if that fails the run ends. Where anything
	// else fails only the checkpoint is given up.
	Save(w *checkpoint.Writer) error
	// Load is called before any other call, on an instance made with the same arguments: once with what was written in
	// full, then with each delta in order. The bytes may be damaged.
	Load(r *checkpoint.Reader) error
}

// A Merger keeps state by key and can be restored at another parallelism.
type Merger interface {
	Saver
	// Merge takes over the groups of another, loaded instance of the same operator whose key hashes owns accepts, as
	// copies, and what is not kept by key such that nothing is lost: the smaller watermark. It may be called for several.
	Merge(from Operator, owns func(hash uint64) bool) error
}

// An order is what the keeper tells a task about a snapshot.
type order struct {
	what    orderKind
	id      checkpoint.ID
	parent  checkpoint.ID // newest checkpoint that a delta may build on
	aligned bool
	until   types.Instant   // of an aligned one: it is taken then, whether its marks have come or not; 0: it waits for them
	open    []checkpoint.ID // all that are open, ascending
	final   bool            // the run ends with it: nothing is done after the step
	call    func()          // of a call
}

type orderKind uint8

const (
	trigger orderKind = iota
	abort
	call // something is done between two steps
)

// order hands an order to the task. Any goroutine may call it.
func (t *Task) order(o order) {
	t.mu.Lock()
	t.orders = append(t.orders, o)
	t.ordered.Store(true)
	t.mu.Unlock()
	t.Wake()
}

// obey carries out the orders that have come.
func (t *Task) obey() {
	t.mu.Lock()
	orders := t.orders
	t.orders = nil
	t.ordered.Store(false)
	t.mu.Unlock()
	for _, o := range orders {
		switch {
		case o.what == abort:
			t.snaps.abort(t, o.id)
		case o.what == call:
			o.call()
		case o.aligned && t.source == nil && !t.ended:
			if o.id > t.snaps.last { // else its mark was here first
				t.snaps.announced = append(t.snaps.announced, o)
			}
		default:
			t.snaps.upTo(t, o)
		}
	}
	runtime.Gosched() // a checkpoint is not to wait for what this task does next
}

// snapshots is what a task knows of the snapshots it takes part in.
type snapshots struct {
	writer    func(id, parent checkpoint.ID) (*checkpoint.Writer, *ahead)
	report    func(*Snapshot)                      // to the keeper, when a snapshot is complete or failed
	stepped   func(id checkpoint.ID, aligned bool) // to the keeper, when the step is done
	final     bool                                 // the run ends with the last one, which has been taken
	last      checkpoint.ID                        // the newest taken
	announced []order                              // aligned ones that wait for their marks, ascending
	dead      []checkpoint.ID                      // aborted ones whose marks may still come
	writing   []*Snapshot                          // whose large state is not written yet
}

// mostDead bounds the memory of aborted snapshots: marks of older ones do not come any more.
const mostDead = 64

// upTo takes the snapshot of an order and before it every open one that has not been taken, in order of their ids.
func (s *snapshots) upTo(t *Task, o order) {
	for _, id := range o.open {
		if id < o.id && !fault.On("skip-older") {
			s.take(t, id, o.parent, false)
		}
	}
	s.take(t, o.id, o.parent, o.aligned)
	s.final = s.final || o.final
}

// due returns when the first of the announced is taken, whether its marks have come or not; 0: it waits for them. A task
// looks at the clock itself: to be told, it would have to wait until whoever tells it has a core.
func (s *snapshots) due() types.Instant {
	if len(s.announced) == 0 || fault.On("no-switch") {
		return 0
	}
	return s.announced[0].until
}

// late takes what is announced and has waited for its marks as long as it may.
func (s *snapshots) late(t *Task) {
	for at := s.due(); at != 0 && at <= t.env.Now(); at = s.due() {
		o := s.announced[0]
		o.aligned = false
		s.upTo(t, o)
		runtime.Gosched() // as after an order
	}
}

// reached takes a snapshot whose mark has been reached.
func (s *snapshots) reached(t *Task, it Item) {
	t.obey() // what was said before the mark was made
	id := checkpoint.ID(it.N)
	for len(s.announced) > 0 && s.announced[0].id <= id {
		o := s.announced[0]
		s.take(t, o.id, o.parent, o.aligned)
	}
	s.take(t, id, 0, it.Aligned)
	for _, in := range t.inputs {
		if fault.On("reached-drops-cuts") {
			in.ch.Abort(id)
		}
		in.ch.pass(id) // if nobody waits for the mark any more
	}
}

// rest takes what is announced once the task has ended: nothing can lie before the marks any more.
func (s *snapshots) rest(t *Task) {
	for len(s.announced) > 0 && !fault.On("ended-waits") {
		o := s.announced[0]
		s.take(t, o.id, o.parent, o.aligned)
	}
}

func (s *snapshots) abort(t *Task, id checkpoint.ID) {
	if !fault.On("abort-forgotten") {
		s.dead = append(s.dead, id)
	}
	if s.last == id {
		s.final = false
	}
	if len(s.dead) > mostDead {
		s.dead = s.dead[1:]
	}
	s.announced = slices.DeleteFunc(s.announced, func(o order) bool { return o.id == id && !fault.On("abort-stays-announced") })
	s.writing = slices.DeleteFunc(s.writing, func(x *Snapshot) bool {
		if x.ID != id {
			return false
		}
		for _, n := range x.nodes { // what keeps copies of its state for it must not go on
			n.w.Abort()
		}
		return true
	})
	for _, in := range t.inputs {
		in.ch.Abort(id)
	}
	for _, w := range t.writers {
		for _, c := range w.chans {
			c.Abort(id)
		}
	}
}

// A Snapshot is what one task contributes to a checkpoint.
type Snapshot struct {
	ID    checkpoint.ID
	Err   error
	task  *Task
	data  taskData
	nodes []savedNode
	// flights are what was in flight: of each input, and of the feed of a source.
	flights []savedFlight
	read    int64 // rows that its source has emitted in this run
	pause   int64 // the longest that the task did nothing else for it at a time
	align   int64 // from the first mark that was reached to the step
	done    int64 // when it was complete
	missing atomic.Int64
	report  func(*Snapshot)
}

type savedNode struct {
	id, fit, kind string
	keep          bool // also if it is empty
	w             *checkpoint.Writer
	ahead         *ahead
}

type savedFlight struct {
	edge      string
	from, to  int
	fromWidth int
	toWidth   int
	old       bool
	nth       int
	Flight
	ports  []int // of the feed: where each item was emitted to
	schema []byte
}

// take is the snapshot step: one step, so atomic against rows, watermarks and timers.
func (s *snapshots) take(t *Task, id, parent checkpoint.ID, aligned bool) {
	s.announced = slices.DeleteFunc(s.announced, func(o order) bool { return o.id == id })
	if id <= s.last || slices.Contains(s.dead, id) && !fault.On("step-aborted") {
		return
	}
	s.last = id
	from := t.env.Now()
	t.cutHere(id)
	x := &Snapshot{ID: id, task: t, report: s.report, align: t.gate.waited(id, from), flights: make([]savedFlight, len(t.inputs), len(t.inputs)+1)}
	x.missing.Store(int64(len(t.inputs)) + 1)
	for i, w := range t.writers {
		if i > 0 && fault.On("mark-first-edge") {
			break
		}
		for _, c := range w.chans {
			c.Mark(id, aligned)
		}
	}
	for i, in := range t.inputs {
		f := &x.flights[i]
		*f = savedFlight{edge: in.edge.ID, from: in.from, to: t.index, fromWidth: in.fromWidth, toWidth: t.width, old: in.old, nth: in.nth, schema: in.edge.Schema}
		if in.old && !fault.On("old-unmarked") {
			in.ch.Mark(id, false)
		}
		in.ch.Step(id, func(fl Flight) {
			f.Flight = fl
			x.arrived()
		})
	}
	if t.source != nil && len(t.feed.waiting()) > 0 && !fault.On("forget-feed") {
		x.flights = append(x.flights, t.feed.saved(t))
	}
	if t.source != nil && !t.ended && len(t.feed.waiting()) == 0 && fault.On("source-runs-on") {
		t.poll()
	}
	x.data = t.data()
	if t.source != nil {
		x.read = t.root.gave.Load()
	}
	s.stepped(id, aligned)
	if err := x.save(t, parent); err != nil {
		x.Err = fmt.Errorf("%s: %w", t.name, err)
		if _, output := errors.AsType[*OutputError](err); output && !fault.On("lost-output-tolerated") {
			t.fail = err // what it has not sealed may be lost to it, as after a Write that fails
		}
	}
	x.pause = t.env.Now() - from
	if x.pending() {
		s.writing = append(s.writing, x)
		return
	}
	x.arrived()
}

// save freezes the state of the source and of all operators.
func (x *Snapshot) save(t *Task, parent checkpoint.ID) error {
	one := func(n savedNode, it any) error {
		s, ok := it.(interface { // a source loads by being opened
			Save(w *checkpoint.Writer) error
		})
		if !ok {
			return nil
		}
		n.w, n.ahead = t.snaps.writer(x.ID, parent)
		if err := s.Save(n.w); err != nil {
			return fmt.Errorf("saving %s: %w", n.id, err)
		}
		x.nodes = append(x.nodes, n)
		return nil
	}
	if err := one(savedNode{id: sourceOf(t.group), fit: t.fit, kind: t.kind, keep: true}, t.source); err != nil {
		return err
	}
	for _, n := range t.nodes {
		if err := one(savedNode{id: n.id, fit: n.fit}, n.op); err != nil {
			return err
		}
	}
	return nil
}

// sourceOf names the state of a source among the nodes of its task.
func sourceOf(group string) string { return group + "/source" }

// writeTime is how long a task goes on with the pieces of large state at a time, half of a step: the sooner all are written,
// the fewer rows are copied because they change before. In nanoseconds.
const writeTime = stepTime / 2

// write writes some of the large state of the oldest snapshot, at least a piece unless that has to wait for the storage.
func (s *snapshots) write(t *Task) {
	if !s.busy() {
		return
	}
	x := s.writing[0]
	from := t.env.Now()
	for x.piece(); x.ready() && t.env.StepRows == nil && t.env.Now()-from < writeTime; x.piece() {
	}
	x.pause = max(x.pause, t.env.Now()-from)
	if !x.pending() {
		s.writing = s.writing[1:]
		x.arrived()
	}
}

// busy reports whether there is something to write.
func (s *snapshots) busy() bool { return len(s.writing) > 0 && s.writing[0].ready() }

// next returns the first node that is not written yet; nil: all are.
func (x *Snapshot) next() *savedNode {
	for i := range x.nodes {
		if x.nodes[i].w.Pending() {
			return &x.nodes[i]
		}
	}
	return nil
}

func (x *Snapshot) pending() bool { return x.next() != nil }

// ready reports whether there is a piece to write now.
func (x *Snapshot) ready() bool {
	n := x.next()
	return n != nil && !n.ahead.full()
}

// piece writes a piece.
func (x *Snapshot) piece() { x.next().w.Continue() }

// arrived counts what has come in: the interval of a channel, or the state. The last one reports the snapshot.
func (x *Snapshot) arrived() {
	if x.missing.Add(-1) == 0 {
		x.done = x.task.env.Now()
		x.report(x)
	}
}

// saved returns a copy of what waits: a source may use the memory of its rows again.
func (f *feed) saved(t *Task) savedFlight {
	out := savedFlight{edge: t.group, from: t.index, to: t.index, fromWidth: t.width, toWidth: t.width, schema: t.schema}
	for _, x := range f.waiting() {
		it := x.Item
		if it.Batch != nil {
			it.Batch, _, _ = vec.DecodeBlock(vec.AppendBlock(nil, it.Batch))
		}
		out.Items = append(out.Items, it)
		out.ports = append(out.ports, x.port)
	}
	return out
}
