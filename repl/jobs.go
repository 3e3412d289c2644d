package repl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/repl/job"
	"github.com/ebb-lang/ebb/repl/view"
)

// sessionJob is a job of the session. It keeps its number when it is run again under the same name.
type sessionJob struct {
	*job.Job
	number  int
	called  string
	outputs []string // that it writes, as outputsOf names them
	check   *check.Script
	plan    *planner.Compiled
	meter   meter
	silent  silence
	// expected tells that a person has asked for the end that comes next: it is not news.
	expected atomic.Bool
	quit     chan struct{} // closed when nobody is to be told of the job any more
	warned   bool          // that the session's script is no longer the job's
	origin   *origin       // of a fork
	stepped  string        // the stage that .step was at last
}

func (j *sessionJob) String() string { return fmt.Sprintf("job %d (%s)", j.number, j.called) }

// jobFlag is taken by every command that acts on a job.
var jobFlag = Flag{"-j", "JOB", "number or name of the job; without it the newest"}

// job returns the job that a command acts on: that of -j, else the newest, the one that was started last.
func (s *Session) job(a *Args) (*sessionJob, error) {
	if len(s.jobs) == 0 {
		return nil, errors.New("there is no job; .run starts the pipelines of the session that write `into` something")
	}
	if name, given := a.Flags["-j"]; given {
		return s.called(name)
	}
	return s.jobs[len(s.jobs)-1], nil
}

// called returns the job of a number or a name.
func (s *Session) called(name string) (*sessionJob, error) {
	var names []string
	for _, j := range s.jobs {
		if j.called == name || strconv.Itoa(j.number) == name {
			return j, nil
		}
		names = append(names, j.called)
	}
	if m := syntax.Suggest(name, names); m != "" {
		return nil, fmt.Errorf("there is no job %s; did you mean %s?", name, m)
	}
	return nil, fmt.Errorf("there is no job %s; .jobs lists them", name)
}

// live returns the job that a command acts on if it has not ended.
func (s *Session) live(a *Args) (*sessionJob, error) {
	j, err := s.job(a)
	if err != nil {
		return nil, err
	}
	other := ""
	for _, x := range s.running() {
		other += fmt.Sprintf("; %s is %s: -j %s", x, x.State(), x.called)
	}
	switch j.State() {
	case job.Stopped:
		return nil, fmt.Errorf("%s is stopped; .resume goes on from its last checkpoint%s", j, other)
	case job.Finished:
		return nil, fmt.Errorf("%s has finished; .run runs it again%s", j, other)
	case job.Failed:
		return nil, fmt.Errorf("%s has failed: %v; .run tries again from its last checkpoint%s", j, j.Err(), other)
	}
	return j, nil
}

// running returns the jobs that have not ended.
func (s *Session) running() []*sessionJob {
	s.held.Lock()
	defer s.held.Unlock()
	var out []*sessionJob
	for _, j := range s.jobs {
		if !j.State().Over() {
			out = append(out, j)
		}
	}
	return out
}

// jobNames are offered where a job may stand.
func (s *Session) jobNames() []string {
	var out []string
	for _, j := range s.jobs {
		out = append(out, j.called)
	}
	return out
}

// start runs a script as a job, which stands still if it is to be paused. A job of that name that has ended gives its number to the new one.
func (s *Session) start(name, text string, plan planner.Options, launch planner.Launch, paused bool) (*sessionJob, error) {
	env := s.env()
	env.Stdout = s.Screen
	c, diags, err := planner.Compile(name+".ebb", text, s.lib, env, plan)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, &job.ScriptError{Diags: diags}
	}
	j := &sessionJob{called: name, number: s.numbers + 1, outputs: outputsOf(c.Script, env.FS), check: c.Script, plan: c, quit: make(chan struct{})}
	old := slices.IndexFunc(s.jobs, func(x *sessionJob) bool { return x.called == name })
	if old >= 0 {
		if x := s.jobs[old]; !x.State().Over() {
			return nil, fmt.Errorf("%s is %s; .stop ends it, `.run OTHER` starts a second one under another name", x, x.State())
		}
		j.number = s.jobs[old].number
	}
	if err := s.free(j); err != nil {
		return nil, err
	}
	launch.Engine = s.opts.Version
	launch.Owner = checkpoint.ThisProcess(time.Now().UnixNano(), "ebb "+strings.Join(os.Args[1:], " "))
	if j.Job, err = s.launch(job.Options{Name: name + ".ebb", Text: text, Plan: plan, Launch: launch, Lib: s.lib, Env: env, Paused: paused}); err != nil {
		return nil, err
	}
	s.held.Lock()
	defer s.held.Unlock()
	if old >= 0 {
		close(s.jobs[old].quit)
		s.jobs = slices.Delete(s.jobs, old, old+1)
	} else {
		s.numbers++
	}
	s.jobs = append(s.jobs, j)
	go s.attend(j)
	return j, nil
}

// free checks that no other job writes what j would.
func (s *Session) free(j *sessionJob) error {
	for _, x := range s.running() {
		for _, o := range j.outputs {
			if slices.Contains(x.outputs, o) {
				return fmt.Errorf("%s writes %s already; stop it first, or write somewhere else", x, shown(o))
			}
		}
	}
	return nil
}

// newest makes a job the one that commands act on.
func (s *Session) newest(j *sessionJob) {
	s.held.Lock()
	defer s.held.Unlock()
	if i := slices.Index(s.jobs, j); i >= 0 {
		s.jobs = append(slices.Delete(s.jobs, i, i+1), j)
	}
}

// launch starts a job.
func (s *Session) launch(o job.Options) (*job.Job, error) {
	j, err := planner.Patiently(func() (*job.Job, error) { return job.Start(context.Background(), o) })
	var locked *checkpoint.LockedError
	if errors.As(err, &locked) && locked.Owner.PID == os.Getpid() {
		for _, x := range s.running() {
			if x.Folder() == locked.Dir {
				return nil, fmt.Errorf("%s keeps its checkpoints in %s; stop it first, or set another `checkpoint.dir`", x, locked.Dir)
			}
		}
	}
	return j, err
}

// outputsOf names what a script writes: the absolute paths, of connectors that have one.
func outputsOf(c *check.Script, fsys exec.FS) []string {
	var out []string
	for _, path := range planner.Outputs(c, fsys) {
		if abs, err := filepath.Abs(path); err == nil && !slices.Contains(out, abs) {
			out = append(out, abs)
		}
	}
	return out
}

// shown is a path as people would write it here.
func shown(path string) string {
	if dir, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(dir, path); err == nil && !strings.HasPrefix(rel, "..") {
			return rel
		}
	}
	return path
}

// attend measures a job and tells at once when it ends by itself.
func (s *Session) attend(j *sessionJob) {
	tick := time.NewTicker(sampled)
	defer tick.Stop()
	for {
		t := j.Totals()
		j.meter.take(sampleOf(time.Now(), t, j.Stages()))
		select {
		case <-tick.C:
			if text := j.silent.look(j, t, time.Now()); text != "" {
				s.Screen.Note(text)
			}
			continue
		case <-j.quit:
			return
		case <-j.Done():
		}
		if text := j.ending(); text != "" && !j.expected.Swap(false) {
			s.Screen.Note(text)
		}
		for j.State().Over() { // it may go on: .resume, .rollback
			select {
			case <-tick.C:
			case <-j.quit:
				return
			}
		}
		j.meter.reset()
	}
}

// ending says how a job has ended, and what to do if that was not meant.
func (j *sessionJob) ending() string {
	t := j.Totals()
	switch j.State() {
	case job.Failed:
		what := ".run starts it again"
		if t.Checkpoint > 0 {
			what = fmt.Sprintf("when the cause is mended, .run goes on from checkpoint %d", t.Checkpoint)
		}
		return fmt.Sprintf("%s has failed: %v\n%s", j, j.Err(), what)
	case job.Finished:
		return fmt.Sprintf("%s has finished in %s: %s in, %s out", j, view.Span(t.For), plural(t.RowsIn, "row"), count(t.RowsOut))
	case job.Stopped:
		return fmt.Sprintf("%s is stopped", j)
	}
	return ""
}

// stopTime is how long Close waits for jobs to take their final checkpoints.
var stopTime = 30 * time.Second

// Close ends the jobs of the session with final checkpoints and says which of them do not end within a time.
func (s *Session) Close() error {
	jobs := s.running()
	errs := make([]error, len(jobs))
	var wg sync.WaitGroup
	for i, j := range jobs {
		j.expected.Store(true)
		wg.Add(1)
		go func() {
			defer wg.Done()
			gone := make(chan error, 1)
			go func() { gone <- j.Stop() }()
			select {
			case err := <-gone:
				if err != nil && j.State() != job.Finished { // by itself, meanwhile
					errs[i] = fmt.Errorf("%s: %w", j, err)
				}
			case <-time.After(stopTime):
				errs[i] = fmt.Errorf("%s has not stopped within %s and is left behind%s", j, view.Span(stopTime), j.goesOn())
			}
		}()
	}
	wg.Wait()
	for i, j := range jobs {
		if errs[i] == nil && j.State() != job.Finished {
			s.Screen.Note(j.left())
		}
	}
	return errors.Join(errs...)
}

// left says where a stopped job can go on.
func (j *sessionJob) left() string {
	if j.Folder() == "" {
		return fmt.Sprintf("%s is stopped; it has no checkpoint to go on from: %s", j, j.Why())
	}
	return fmt.Sprintf("%s is stopped%s", j, j.goesOn())
}

func (j *sessionJob) goesOn() string {
	if id := j.Totals().Checkpoint; id > 0 {
		return fmt.Sprintf("; the next .run goes on from checkpoint %d in %s", id, j.Folder())
	}
	return ""
}

// changed tells that the script of the session has changed. Each running job hears of it once.
func (s *Session) changed() {
	for _, j := range s.running() {
		if !j.warned {
			j.warned = true
			s.Screen.Note(fmt.Sprintf("%s keeps running the script it was started with; .stop and .run take the new one", j))
		}
	}
}
