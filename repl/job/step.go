package job

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// A Step says how far a paused job is to go on.
type Step struct {
	Rows     int // that are taken at a time, at most
	Patience time.Duration
	Stop     <-chan struct{} // closed: give it up
}

// Passage finds the source or stage that people mean by a name or a part of one; "" is the first that keeps something.
func (j *Job) Passage(word string) (*planner.Passage, error) {
	r, _ := j.now()
	all := r.launched.Compiled().Passages(j.o.Lib, r.env.ReadOnly())
	var names []string
	var like []*planner.Passage
	for _, p := range all {
		switch {
		case word == "" && p.State, p.ID == word && word != "":
			return p, nil
		case word != "" && strings.Contains(p.ID, word):
			like = append(like, p)
		}
		names = append(names, p.ID)
	}
	if stages := slices.DeleteFunc(slices.Clone(like), func(p *planner.Passage) bool { return !p.State }); len(like) > 1 && len(stages) == 1 {
		like = stages // revenue is rather revenue/aggregate than the rows before it
	}
	switch {
	case len(like) == 1:
		return like[0], nil
	case len(like) > 1:
		names = nil
		for _, p := range like {
			names = append(names, p.ID)
		}
		return nil, fmt.Errorf("%q may be %s; give more of the name", word, strings.Join(names, ", "))
	case word == "":
		if len(all) == 0 {
			return nil, fmt.Errorf("the job has no stages")
		}
		return all[len(all)-1], nil
	}
	return nil, fmt.Errorf("the job has no stage %q; it has %s", word, strings.Join(names, ", "))
}

// PassageNames are the names that Passage takes.
func (j *Job) PassageNames() (out []string) {
	r, _ := j.now()
	for _, p := range r.launched.Compiled().Passages(j.o.Lib, r.env.ReadOnly()) {
		out = append(out, p.ID)
	}
	return out
}

// Step lets a paused job go on until something has passed a stage, and returns what that is. The job stays paused. Errors
// are those of exec.Job.Step, and that of a job that is not paused.
func (j *Job) Step(p *planner.Passage, s Step) ([]exec.Passed, error) {
	j.op.Lock()
	defer j.op.Unlock()
	r, err := j.still()
	if err != nil {
		return nil, err
	}
	return r.exec.Step(exec.Step{Nodes: p.Nodes(), Rows: s.Rows, Patience: s.Patience, Stop: s.Stop})
}

func (j *Job) still() (*life, error) {
	r, state := j.now()
	if state != Paused {
		return nil, fmt.Errorf("the job is %s; only one that is paused can be stepped", state)
	}
	return r, nil
}

// A Live is the state of a stage of a running job, to be read by the operators of its plan.
type Live struct {
	Plan *planner.Compiled
	Lib  *stdlib.Catalog
	Env  *exec.Env
	Kept []exec.Kept
}

// Live returns the state of a stage as it is now. One that is more than so many bytes refuses with exec.ErrTooLarge.
func (j *Job) Live(p *planner.Passage, most int) (*Live, error) {
	r, state := j.now()
	if state.Over() {
		return nil, exec.ErrRunOver
	}
	kept, err := r.exec.Kept(p.Nodes(), most)
	return &Live{r.launched.Compiled(), j.o.Lib, r.env, kept}, err
}
