package exec

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/lang/types"
)

// Run is a graph that has been built: tasks, and what keeps their checkpoints. It is stepped by a scheduler: a goroutine
// for each actor (Job), or one for all of them in an order of its own (exec/sim).
type Run struct {
	env        *Env
	tasks      []*Task
	keeper     *keeper // nil: no checkpoints are taken
	committers []Committer
	closers    []func() error
	paused     atomic.Bool

	mu    sync.Mutex
	ended int
	over  bool
	err   error
	done  chan struct{}
}

// An Actor is something that a scheduler steps: when woken, when its tick has come, and as long as it works.
type Actor interface {
	// Step does a bounded piece of work. An error ends the run.
	Step() (Progress, error)
	// NextTick returns when the actor wants to be stepped without being woken; 0 is never.
	NextTick() types.Instant
	// Woken receives when the actor wants to be stepped.
	Woken() <-chan struct{}
	Name() string
}

// actor is what actors have in common.
type actor struct {
	name string
	wake chan struct{}
}

func newActor(name string) actor { return actor{name, make(chan struct{}, 1)} }

// Wake makes the scheduler step the actor again. It never blocks.
func (a *actor) Wake() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

func (a *actor) Woken() <-chan struct{} { return a.wake }
func (a *actor) Name() string           { return a.name }

// Actors returns what is to be stepped.
func (r *Run) Actors() []Actor {
	var out []Actor
	for _, t := range r.tasks {
		out = append(out, t)
	}
	if r.keeper != nil {
		out = append(out, r.keeper, r.keeper.storage)
	}
	return out
}

// String tells where each task stands, for messages about runs that do not end.
func (r *Run) String() string {
	var s strings.Builder
	for _, t := range r.tasks {
		fmt.Fprintf(&s, "%s: ended %v, over %v, full %v, final %v, announced %d, chunk %d\n", t.name, t.ended, t.over, t.full(), t.snaps.final, len(t.snaps.announced), t.chunk)
		if t.feed != nil {
			fmt.Fprintf(&s, "  feed: %d waiting, %d old, chunk %d\n", len(t.feed.items)-t.feed.next, len(t.feed.old), t.feed.chunk)
		}
		for i, in := range t.inputs {
			p := &t.gate.inputs[i]
			fmt.Fprintf(&s, "  %s from %d of %d: %d items, cuts %s, old %v, ended %v, idle %v, watermark %d\n", in.edge.ID, in.from, in.fromWidth, in.ch.Len(), in.ch.marks(), in.old, p.ended, p.idle, p.w)
		}
		for _, n := range t.nodes {
			fmt.Fprintf(&s, "  node %s: watermark %d, owes %v, done %v, queue %d, after %d\n", n.id, n.w, n.owes, n.done, len(n.queue), len(n.after))
		}
	}
	return s.String()
}

// Over is closed when the run has ended by itself: no actor is to be stepped any more.
func (r *Run) Over() <-chan struct{} { return r.done }

// taskEnded counts the tasks that have come to their end.
func (r *Run) taskEnded(i int) {
	r.mu.Lock()
	r.ended++
	all := r.ended == len(r.tasks)
	r.mu.Unlock()
	switch {
	case r.keeper != nil:
		r.keeper.ended(i, all)
	case all:
		r.end(nil)
	}
}

// Err is why the run ended, nil if it came to its end or was stopped.
func (r *Run) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *Run) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.over, r.err = true, err
		close(r.done)
	}
}

// Checkpoint asks for a checkpoint; the answer comes when it is published and committed, or given up. One whose name may not
// be given, because another has it, is taken without a name.
func (r *Run) Checkpoint(name string) <-chan Outcome {
	if r.keeper == nil {
		c := make(chan Outcome, 1)
		c <- Outcome{Err: errors.New("the run takes no checkpoints")}
		return c
	}
	return r.keeper.request(checkpoint.Request{Reason: "manual", Name: name})
}

// Stop ends the run now. With checkpoints, a final one is taken, and a later run goes on from it; without, the sources
// end. Either way windows are not flushed, and what belongs to the outputs becomes visible.
func (r *Run) Stop() {
	if r.keeper == nil {
		r.Halt()
		return
	}
	r.keeper.final("stop")
}

// Halt makes the sources end now, as if their input ended there, without flushing windows.
func (r *Run) Halt() {
	r.Resume()
	for _, t := range r.tasks {
		t.stop.Store(true)
		t.Wake()
	}
}

// Drain makes the sources end now, as if their input ended there: windows are flushed.
func (r *Run) Drain() {
	r.Resume()
	for _, t := range r.tasks {
		t.drain.Store(true)
		t.Wake()
	}
}

// Close releases what the run has opened; the store is its caller's.
func (r *Run) Close() error {
	return closeAll(r.closers)
}
