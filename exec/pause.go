package exec

import (
	"sync"
	"sync/atomic"

	"github.com/ebb-lang/ebb/checkpoint"
)

// Pausing: no task takes rows or calls timers, but each still takes snapshots and answers orders. A snapshot of a paused
// run cuts where its tasks stand, in every mode: marks do not move.

// Pauses is how long a run has stood still. Its zero value is a run that never did.
type Pauses struct {
	since atomic.Int64 // when it was paused; 0: it is not
	sum   atomic.Int64 // of the pauses that are over
}

// Clock is what rates and idleness are measured by: Now, but that it stands still while the run is paused.
func (e *Env) Clock() int64 {
	now := e.Now()
	if e.Pauses == nil {
		return now
	}
	if at := e.Pauses.since.Load(); at != 0 {
		now = at
	}
	return now - e.Pauses.sum.Load()
}

// Pause makes the run stand still; the channel is closed once all of its tasks do. A run that is over never answers.
func (r *Run) Pause() <-chan struct{} {
	if !r.paused.Swap(true) {
		r.env.Pauses.since.Store(r.env.Now())
		r.held(true)
	}
	return r.Between(func(*Task) {})
}

// Resume lets a paused run go on.
func (r *Run) Resume() {
	if !r.paused.Load() {
		return
	}
	p := r.env.Pauses
	p.sum.Add(r.env.Now() - p.since.Load())
	p.since.Store(0)
	r.paused.Store(false)
	r.held(false)
	for _, t := range r.tasks {
		t.Wake()
	}
}

// Paused reports whether the run is paused.
func (r *Run) Paused() bool { return r.paused.Load() }

// held tells the keeper whether the run is paused: then only those checkpoints are taken that are asked for, for all would
// be the same and push older ones out.
func (r *Run) held(on bool) {
	if k := r.keeper; k != nil {
		k.post(func() []checkpoint.Action { return k.coord.Hold(k.now(), on) })
	}
}

// Between calls f for each task between two of its steps, on the goroutine that steps it; the channel is closed after the
// last. f must be quick. A run that is over never answers.
func (r *Run) Between(f func(t *Task)) <-chan struct{} {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Add(len(r.tasks))
	for _, t := range r.tasks {
		t.order(order{what: call, call: func() { f(t); wg.Done() }})
	}
	go func() {
		wg.Wait()
		close(done)
	}()
	return done
}

// standing takes what a paused task has promised: the marks that it waits for do not come.
func (s *snapshots) standing(t *Task) {
	for len(s.announced) > 0 {
		o := s.announced[0]
		s.take(t, o.id, o.parent, false)
	}
}
