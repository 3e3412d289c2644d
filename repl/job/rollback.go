package job

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/planner"
)

// A Plan says what a rollback would do.
type Plan struct {
	To      *checkpoint.Manifest
	Head    checkpoint.ID // the newest checkpoint on the branch at hand
	Age     time.Duration // of To
	Rows    int64         // of all sources, that are read again; less than 0: so many are not, it goes forward
	Sources []planner.SourceMove
	Outputs []exec.Undone // what becomes of the files; Why says what cannot be undone
	States  []StateMove
}

// StateMove is how large what a stage keeps was at the newest checkpoint and is at the one to go to.
type StateMove struct {
	Stage    string
	From, To int64 // bytes
}

// Done says what a rollback has done.
type Done struct {
	From    checkpoint.ID // the newest checkpoint before
	To      *checkpoint.Manifest
	Outputs []exec.Undone
	Flight  int64 // rows in flight that were put back
	Took    time.Duration
}

// PlanRollback says what Rollback would do, and refuses what Rollback would. It changes nothing.
func (j *Job) PlanRollback(to checkpoint.ID) (*Plan, error) {
	j.op.Lock()
	defer j.op.Unlock()
	r, state := j.now()
	if !state.Over() {
		return j.plan(r, r.launched, to)
	}
	if err := j.hasFolder(r); err != nil {
		return nil, err
	}
	env := j.newEnv()
	c, err := j.compile(env)
	if err != nil {
		return nil, err
	}
	l, err := c.Look(j.o.Name, j.o.Text, j.o.Lib, env, j.again())
	if err != nil {
		return nil, err
	}
	p, err := j.plan(r, l, to)
	return p, errors.Join(err, l.Close())
}

func (j *Job) plan(r *life, l *planner.Launched, to checkpoint.ID) (*Plan, error) {
	done, err := l.PlanRollback(to, r.env)
	if err != nil {
		return nil, err
	}
	s := l.Store()
	p := &Plan{To: done.To, Head: done.From, Outputs: done.Outputs, Rows: r.env.Stats.RowsIn.Load() - done.To.Stats["rows_in"],
		Age: time.Duration(r.env.Now() - done.To.Durable)}
	head, err := s.Manifest(done.From)
	if err != nil { // it is only told of
		return p, nil
	}
	p.Sources = planner.CompareSources(planner.SourcePositions(head, s.Read, j.o.Lib), planner.SourcePositions(done.To, s.Read, j.o.Lib))
	p.States = compareStates(head, done.To)
	return p, nil
}

// compareStates lists the stages whose saved state differs in size, in the order of the first.
func compareStates(from, to *checkpoint.Manifest) (out []StateMove) {
	at := map[string]int{}
	add := func(m *checkpoint.Manifest, size func(*StateMove) *int64) {
		for _, t := range m.Tasks {
			for _, n := range t.Nodes {
				k, ok := at[n.ID]
				if !ok {
					k = len(out)
					at[n.ID] = k
					out = append(out, StateMove{Stage: n.ID})
				}
				*size(&out[k]) += checkpoint.Bytes(n.Blocks)
			}
		}
	}
	add(from, func(x *StateMove) *int64 { return &x.From })
	add(to, func(x *StateMove) *int64 { return &x.To })
	return out
}

func (j *Job) hasFolder(r *life) error {
	if r.launched.Dir == "" {
		return &planner.RefusedError{Text: fmt.Sprintf("the job takes no checkpoints: %s", r.launched.Why)}
	}
	return nil
}

// Rollback takes the job back to a checkpoint, or forward to one that an earlier rollback has left behind: state, rows in
// flight, event time, places of the sources, and outputs. It then goes on, or stands still if pause is set; also a job that
// is over goes on. After an error of *planner.RefusedError all is as before.
func (j *Job) Rollback(to checkpoint.ID, pause bool) (*Done, error) {
	j.op.Lock()
	defer j.op.Unlock()
	from := time.Now()
	r, state := j.now()
	if err := j.hasFolder(r); err != nil {
		return nil, err
	}
	var done *Done
	var err error
	if state.Over() {
		done, err = j.rollbackOver(to, pause)
	} else {
		done, err = j.rollbackLive(r, to, pause)
	}
	if done != nil {
		done.Took = time.Since(from)
	}
	return done, err
}

func (j *Job) rollbackLive(r *life, to checkpoint.ID, pause bool) (*Done, error) {
	if _, err := r.launched.PlanRollback(to, r.env); err != nil {
		return nil, err
	}
	next := &life{env: j.newEnv(), started: time.Now(), cancel: r.cancel} // whose context is that of all runs up to the end
	var back *planner.RolledBack
	var late *planner.RefusedError // the run had ended when it was found out
	j.mu.Lock()
	if j.state.Over() {
		j.mu.Unlock()
		return j.rollbackOver(to, pause)
	}
	paused := j.state == Paused
	between := *r
	j.run = &between // so that nobody takes the end of the old one for that of the job
	j.mu.Unlock()

	run, err := r.exec.Rollback(exec.Rollback{Back: func() (*exec.Graph, *exec.Env, exec.Setup, error) {
		l, done, err := r.launched.Rollback(to, next.env)
		if err != nil && !errors.As(err, &late) {
			return nil, nil, exec.Setup{}, err
		}
		back = done
		if late != nil {
			pause = paused
		}
		l.Setup.Paused = pause
		next.launched = l
		return l.Graph, next.env, l.Setup, nil
	}})
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil {
		err = fmt.Errorf("the rollback to checkpoint %d was not finished: %w; `.resume` goes on with it", to, err)
		j.stopping = false
		if next.launched != nil {
			between.launched = next.launched // it has the store
		}
		j.end(j.run, err)
		return nil, err
	}
	next.exec = run
	j.run, j.taken = next, nil
	j.state, j.stopping = Running, false
	if pause {
		j.state = Paused
	}
	go j.watch(next)
	if late != nil {
		return nil, late
	}
	return &Done{From: back.From, To: back.To, Outputs: back.Outputs, Flight: next.launched.Setup.From.Rows()}, nil
}

// rollbackOver takes back a job of which nothing runs.
func (j *Job) rollbackOver(to checkpoint.ID, pause bool) (*Done, error) {
	o := j.again()
	o.From = strconv.FormatUint(uint64(to), 10)
	if err := j.launchAs(o, pause); err != nil {
		return nil, err
	}
	r, _ := j.now()
	d := &Done{To: r.launched.From, Flight: r.launched.Setup.From.Rows()}
	if b := r.launched.Back; b != nil {
		d.From, d.Outputs = b.From, b.Outputs
	}
	return d, nil
}
