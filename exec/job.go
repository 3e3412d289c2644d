package exec

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Job is a run with a goroutine for each actor.
type Job struct {
	*Run
	parent context.Context
	cancel context.CancelFunc
	failed chan struct{}
	gone   chan struct{}
	once   sync.Once
	err    error // set before failed is closed, else before gone is
}

// Start builds the tasks of a graph and runs them. Cancelling the context ends the run with the context's error.
func Start(ctx context.Context, g *Graph, env *Env, o Setup) (*Job, error) {
	r, err := Build(g, env, o)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	parent := ctx
	ctx, cancel := context.WithCancel(ctx)
	j := &Job{Run: r, parent: parent, cancel: cancel, failed: make(chan struct{}), gone: make(chan struct{})}
	var wg sync.WaitGroup
	for _, a := range r.Actors() {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := run(ctx, env, a, r.done); err != nil {
				j.fail(err)
			}
		}()
	}
	ended, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		if k := o.Checkpoints; k != nil && k.Reached != nil {
			tellReached(&env.Stats.RowsIn, ended, k.Reached)
		}
	}()
	go func() {
		wg.Wait()
		close(ended)
		<-told
		if j.err == nil {
			j.err = r.err
		}
		if err := r.Close(); err != nil && j.err == nil {
			j.err = err
		}
		cancel()
		close(j.gone)
	}()
	return j, nil
}

func (j *Job) fail(err error) {
	j.once.Do(func() {
		j.err = err
		close(j.failed)
		j.cancel()
	})
}

// Failed is closed when the run has failed, for the reason that Failure returns from then on. It is not over before Done is
// closed: a task may be in a step that waits for somebody, such as the reader of a named pipe.
func (j *Job) Failed() <-chan struct{} { return j.failed }

// Failure is why the run failed.
func (j *Job) Failure() error {
	<-j.failed
	return j.err
}

// Wait returns when the run has ended, with its first error.
func (j *Job) Wait() error {
	<-j.gone
	return j.err
}

// Done is closed when the run has ended and everything is released.
func (j *Job) Done() <-chan struct{} { return j.gone }

// reachedTime is how often it is told how far a run has read.
const reachedTime = 200 * time.Millisecond

// tellReached tells how many rows a run has read, until it has ended.
func tellReached(rows *atomic.Int64, ended <-chan struct{}, tell func(rows int64, over bool)) {
	tick := time.NewTicker(reachedTime)
	defer tick.Stop()
	for told := int64(-1); ; {
		if n := rows.Load(); n != told {
			tell(n, false)
			told = n
		}
		select {
		case <-tick.C:
		case <-ended:
			tell(rows.Load(), true)
			return
		}
	}
}

// turn is how long an actor works before others are let in: one step, as pace has it.
const turn = stepTime / 2 // nanoseconds

// run steps an actor until the run is over: the production scheduler, one goroutine an actor.
func run(ctx context.Context, env *Env, a Actor, over <-chan struct{}) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: internal error: %v\n%s", a.Name(), p, stack())
		}
	}()
	var timer *time.Timer
	since := env.Now() // when others were last let in
	for ctx.Err() == nil {
		p, err := a.Step()
		if err != nil {
			return err
		}
		if p == Worked {
			// Nobody is woken while all cores are busy, unless those who work let them in: the runtime would only do so after 10 ms,
			// and a checkpoint passes several goroutines.
			if now := env.Now(); now-since >= turn {
				runtime.Gosched()
				since = now
			}
			continue
		}
		var tick <-chan time.Time
		if next := a.NextTick(); next > 0 {
			d := time.Duration(next - env.Now())
			if timer == nil {
				timer = time.NewTimer(d)
			} else {
				timer.Reset(d)
			}
			tick = timer.C
		}
		select {
		case <-a.Woken():
		case <-tick:
		case <-over:
			return nil
		case <-ctx.Done():
		}
		if timer != nil {
			timer.Stop()
		}
		since = env.Now()
	}
	return ctx.Err()
}

func closeAll(cs []func() error) error {
	var errs []error
	for _, c := range cs {
		if err := c(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
