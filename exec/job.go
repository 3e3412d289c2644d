package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Job is a running graph.
type Job struct {
	env   *Env
	tasks []*Task

	cancel context.CancelFunc
	done   chan struct{}
	once   sync.Once
	err    error
}

// Start builds the tasks of a graph and runs them. Cancelling the context ends the run with the context's error.
func Start(ctx context.Context, g *Graph, env *Env) (*Job, error) {
	tasks, closers, err := Build(g, env)
	if err != nil {
		return nil, errors.Join(err, closeAll(closers))
	}
	ctx, cancel := context.WithCancel(ctx)
	j := &Job{env: env, tasks: tasks, cancel: cancel, done: make(chan struct{})}
	var wg sync.WaitGroup
	for _, t := range tasks {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := run(ctx, t); err != nil {
				j.fail(err)
			}
		}()
	}
	go func() {
		wg.Wait()
		if err := closeAll(closers); err != nil && j.err == nil {
			j.err = err
		}
		cancel()
		close(j.done)
	}()
	return j, nil
}

func (j *Job) fail(err error) {
	j.once.Do(func() {
		j.err = err
		j.cancel()
	})
}

// Wait returns when the run has ended, with its first error.
func (j *Job) Wait() error {
	<-j.done
	return j.err
}

// Done is closed when the run has ended.
func (j *Job) Done() <-chan struct{} { return j.done }

// Stop makes the sources end now. Rows in flight are still written, windows are not flushed, and outputs become visible.
func (j *Job) Stop() {
	for _, t := range j.tasks {
		t.stop.Store(true)
		t.Wake()
	}
}

// run steps a task until it has finished: the production scheduler, one goroutine a task.
func run(ctx context.Context, t *Task) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: internal error: %v\n%s", t.name, p, stack())
		}
	}()
	var timer *time.Timer
	for ctx.Err() == nil {
		p, err := t.Step()
		if err != nil {
			return err
		}
		switch p {
		case Worked:
			continue
		case Finished:
			return nil
		}
		var tick <-chan time.Time
		if next := t.nextTick(); next > 0 {
			d := time.Duration(next - t.env.Now())
			if timer == nil {
				timer = time.NewTimer(d)
			} else {
				timer.Reset(d)
			}
			tick = timer.C
		}
		select {
		case <-t.wake:
		case <-tick:
		case <-ctx.Done():
		}
		if timer != nil {
			timer.Stop()
		}
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
