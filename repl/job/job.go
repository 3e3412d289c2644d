// Package job runs scripts in the background of a session: it starts, pauses and stops them, takes checkpoints and goes
// back to them, and tells how they stand.
package job

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// State is how a job stands.
type State int

// The states of a job.
const (
	Running  State = iota
	Paused         // processes no rows, but takes checkpoints
	Stopped        // by a person; goes on from its checkpoint
	Finished       // its input has ended
	Failed
)

func (s State) String() string {
	return [...]string{"running", "paused", "stopped", "finished", "failed"}[s]
}

// Over reports whether nothing of the job runs any more.
func (s State) Over() bool { return s >= Stopped }

// Options say what a job runs.
type Options struct {
	Name   string // of the script's file
	Text   string
	Plan   planner.Options
	Launch planner.Launch
	Lib    *stdlib.Catalog
	Env    *exec.Env // of the session: each run of the job gets a copy with totals of its own
	Paused bool      // it stands still until Resume
}

// A Job is a script that runs in the background. Its methods may be called from any goroutine; those that change what it
// does wait for each other.
type Job struct {
	ctx context.Context
	o   Options

	op sync.Mutex // held by Pause, Resume, Stop and what goes back

	mu       sync.Mutex // guards what follows
	run      *life
	state    State
	stopping bool
	err      error
	done     chan struct{}
	taken    []*checkpoint.Manifest // the last few
}

// life is one run of a job, from a start or a rollback on.
type life struct {
	exec     *exec.Job
	launched *planner.Launched
	env      *exec.Env
	cancel   context.CancelFunc
	started  time.Time
	ended    time.Time // zero while it runs; held by mu of the job
}

// mostTaken is how many manifests are remembered for those who asked for a checkpoint.
const mostTaken = 16

// A ScriptError is a script that does not compile.
type ScriptError struct{ Diags []check.Diagnostic }

func (e *ScriptError) Error() string {
	var out []string
	for _, d := range e.Diags {
		out = append(out, strings.TrimRight(check.Render(d), "\n"))
	}
	return strings.Join(out, "\n")
}

// Start compiles a script and runs it. Cancelling the context ends the job at once. Errors are *ScriptError and those of
// planner.Compiled.Launch and exec.Start.
func Start(ctx context.Context, o Options) (*Job, error) {
	j := &Job{ctx: ctx, o: o}
	if err := j.launchAs(o.Launch, o.Paused); err != nil {
		return nil, err
	}
	return j, nil
}

// launch starts the script. Nothing of the job runs.
func (j *Job) launch(o planner.Launch) error { return j.launchAs(o, false) }

func (j *Job) launchAs(o planner.Launch, paused bool) error {
	env := j.newEnv()
	c, err := j.compile(env)
	if err != nil {
		return err
	}
	told := o.Taken
	o.Taken = func(m *checkpoint.Manifest) {
		j.note(m)
		if told != nil {
			told(m)
		}
	}
	l, err := c.Launch(j.o.Name, j.o.Text, j.o.Lib, env, o)
	if err != nil {
		return err
	}
	if k := l.Setup.Checkpoints; k != nil { // the folder is taken now: another session is refused before it touches an output
		if _, err := k.Open(); err != nil {
			return errors.Join(err, l.Discard(env))
		}
	}
	l.Setup.Paused = paused
	ctx, cancel := context.WithCancel(j.ctx)
	run, err := exec.Start(ctx, l.Graph, env, l.Setup)
	if err != nil {
		cancel()
		return errors.Join(err, l.Discard(env))
	}
	l.Begun(env)
	j.begin(&life{exec: run, launched: l, env: env, cancel: cancel, started: time.Now()}, paused)
	return nil
}

func (j *Job) newEnv() *exec.Env {
	env := *j.o.Env
	env.Stats, env.Splits, env.Pauses = &exec.Stats{}, &exec.Splits{}, &exec.Pauses{}
	return &env
}

func (j *Job) compile(env *exec.Env) (*planner.Compiled, error) {
	c, diags, err := planner.Compile(j.o.Name, j.o.Text, j.o.Lib, env, j.o.Plan)
	if err == nil && c == nil {
		err = &ScriptError{diags}
	}
	return c, err
}

// begin makes a run that of the job.
func (j *Job) begin(r *life, paused bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.run, j.state, j.stopping, j.err, j.taken = r, Running, false, nil, nil
	if paused {
		j.state = Paused
	}
	if j.done == nil || closed(j.done) {
		j.done = make(chan struct{})
	}
	go j.watch(r)
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// watch waits for the end of a run.
func (j *Job) watch(r *life) {
	<-r.exec.Done()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.run != r { // another has taken its place
		return
	}
	err := r.exec.Wait()
	if errors.Is(err, exec.ErrReaderGone) {
		err = nil
	}
	j.end(r, err)
}

// end makes a job one that does not run. mu is held.
func (j *Job) end(r *life, err error) {
	r.cancel()
	r.ended = time.Now()
	if e := r.launched.Close(); err == nil && e != nil {
		err = &exec.OutputError{Err: e}
	}
	j.err = err
	switch {
	case err != nil:
		j.state = Failed
	case j.stopping:
		j.state = Stopped
	default:
		j.state = Finished
	}
	close(j.done)
}

// note remembers a checkpoint that was published.
func (j *Job) note(m *checkpoint.Manifest) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.taken = append(j.taken, m)
	if len(j.taken) > mostTaken {
		j.taken = j.taken[1:]
	}
}

// now returns the run at the moment and how the job stands.
func (j *Job) now() (*life, State) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.run, j.state
}

// Name is that of the script's file, Text what it says.
func (j *Job) Name() string { return j.o.Name }

// Text is the script.
func (j *Job) Text() string { return j.o.Text }

// State is how the job stands.
func (j *Job) State() State {
	_, s := j.now()
	return s
}

// Err is why the job failed; nil if it did not.
func (j *Job) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Done is closed when the job is over. One that goes on after its end has another channel then.
func (j *Job) Done() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.done
}

// Folder is where its checkpoints lie; "" if it takes none. Why says why not.
func (j *Job) Folder() string {
	r, _ := j.now()
	return r.launched.Dir
}

// Why says why no checkpoints are taken; "" if they are.
func (j *Job) Why() string {
	r, _ := j.now()
	return r.launched.Why
}

// From is the checkpoint the run went on from; nil for a fresh start.
func (j *Job) From() *checkpoint.Manifest {
	r, _ := j.now()
	return r.launched.From
}

// Rewind is what the run reads again that the run before it had read.
func (j *Job) Rewind() checkpoint.Rewind {
	r, _ := j.now()
	return r.launched.Rewind
}

// Notes is what people should know about how it started.
func (j *Job) Notes() []string {
	r, _ := j.now()
	return r.launched.Notes
}

// Checkpoint takes a checkpoint and returns when it is durable and its outputs are committed. name may be "".
func (j *Job) Checkpoint(name string) (*checkpoint.Manifest, error) {
	r, state := j.now()
	if r.launched.Dir == "" {
		return nil, fmt.Errorf("the job takes no checkpoints: %s", r.launched.Why)
	}
	if state.Over() {
		return nil, fmt.Errorf("the job is %s; only one that runs takes checkpoints", state)
	}
	if name != "" {
		nameable := checkpoint.CheckName
		if s := r.launched.Store(); s != nil {
			nameable = s.Nameable
		}
		if err := nameable(name); err != nil {
			return nil, err
		}
	}
	answer := r.exec.Checkpoint(name)
	var out exec.Outcome
	select {
	case out = <-answer:
	case <-r.exec.Done():
		select {
		case out = <-answer:
		default:
			if errors.Is(r.exec.Wait(), exec.ErrRolledBack) {
				return nil, errors.New("the job was rolled back before the checkpoint was taken")
			}
			return nil, errors.New("the run ended before the checkpoint was taken")
		}
	}
	if out.Err != nil {
		return nil, out.Err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := len(j.taken) - 1; i >= 0; i-- {
		if m := j.taken[i]; m.ID == out.ID {
			if m.Name != name {
				return m, fmt.Errorf("checkpoint %d was taken, but another was named %q meanwhile", m.ID, name)
			}
			return m, nil
		}
	}
	return nil, fmt.Errorf("checkpoint %d was taken, but is not known any more", out.ID)
}

// Stop ends the job with a last checkpoint, from which Resume goes on. Without checkpoints its sources end. Either way
// windows are not flushed.
func (j *Job) Stop() error {
	j.op.Lock()
	defer j.op.Unlock()
	j.mu.Lock()
	r, over, done := j.run, j.state.Over(), j.done
	if !over {
		j.stopping = true
	}
	j.mu.Unlock()
	if over {
		return fmt.Errorf("the job is %s already", j.State())
	}
	r.exec.Stop()
	<-done
	return j.Err()
}

// Kill ends the job at once, without a checkpoint, and returns when it is over.
func (j *Job) Kill() {
	r, state := j.now()
	if state.Over() {
		return
	}
	r.cancel()
	<-j.Done()
}

// Delete deletes a checkpoint of the job, also while it runs.
func (j *Job) Delete(id checkpoint.ID) error {
	r, _ := j.now()
	s := r.launched.Store()
	if s == nil {
		return errors.New("the job does not hold its checkpoint folder")
	}
	return s.Delete(id)
}
