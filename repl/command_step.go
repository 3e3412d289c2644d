package repl

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/repl/inspect"
	"github.com/ebb-lang/ebb/repl/job"
	"github.com/ebb-lang/ebb/repl/view"
)

var _ = command(Command{
	Name: "step", Args: "[N] [STAGE] [--batch] [-j JOB]", Group: "time travel", Most: 2,
	Summary: "let a paused job go on by one row or watermark, and show what a stage makes of it",
	Text: "It shows what went into the stage, what came out, and which rows of its state have changed. STAGE is a name that .jobs lists, or a part of one; without it it is " +
		"the one that was stepped last, at first the first with state. N is how many steps, of more than ten only the sum is shown. What stands before the stage " +
		"moves as far as it must, what stands behind it where there is no room. The job stays paused, and its checkpoints and outputs are those of one that nobody has stopped.",
	Flags: []Flag{
		{"--batch", "", "let all rows pass that came together, not one"},
		jobFlag,
	},
	Complete: func(s *Session, _ []string) []string {
		if len(s.jobs) == 0 {
			return nil
		}
		return s.jobs[len(s.jobs)-1].PassageNames()
	},
	Run: step,
})

const (
	stepPatience = 3 * time.Second
	mostSteps    = 1_000_000
	shownSteps   = 10       // of more only the sum is shown
	mostShown    = 20       // rows of a table
	mostLooked   = 64 << 20 // bytes of a state that is compared
)

func step(s *Session, a *Args) error {
	n, stage := 1, a.Arg(1)
	switch v, err := strconv.Atoi(a.Arg(0)); {
	case err == nil && (v < 1 || v > mostSteps):
		return a.Usage("the number of steps is from 1 to %s", count(mostSteps))
	case err == nil:
		n = v
	case len(a.Pos) == 2:
		return a.Usage("%q is no number of steps; it stands before the stage", a.Arg(0))
	default:
		stage = a.Arg(0)
	}
	j, err := s.live(a)
	if err != nil {
		return err
	}
	if j.State() != job.Paused {
		return fmt.Errorf("%s is %s; .pause stops it, then .step lets it go on row by row", j, j.State())
	}
	if stage == "" {
		stage = j.stepped
	}
	p, err := j.Passage(stage)
	if err != nil {
		return err
	}
	j.stepped = p.ID
	t := &stepper{s: s, j: j, p: p, rows: 1, stop: make(chan struct{})}
	if a.Has("--batch") {
		t.rows = vec.MaxRows
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-s.Screen.Interrupts():
			close(t.stop)
		case <-done:
		}
	}()
	return t.run(n)
}

// stepper steps a job and shows it.
type stepper struct {
	s    *Session
	j    *sessionJob
	p    *planner.Passage
	rows int
	stop chan struct{}

	steps            int
	in, out, signals int64
}

func (t *stepper) run(n int) error {
	before, why := t.state()
	for t.steps < n {
		passed, err := t.j.Step(t.p, job.Step{Rows: t.rows, Patience: stepPatience, Stop: t.stop})
		if err != nil {
			if t.steps > 0 && n > shownSteps {
				t.sum()
			}
			return t.ends(err)
		}
		t.steps++
		t.count(passed)
		if n > shownSteps {
			continue
		}
		if err := t.show(passed); err != nil {
			return err
		}
		if before, why, err = t.changed(before, why); err != nil {
			return err
		}
	}
	if n <= shownSteps {
		return nil
	}
	t.sum()
	_, _, err := t.changed(before, why)
	return err
}

// ends says why a step was not made.
func (t *stepper) ends(err error) error {
	switch {
	case errors.Is(err, exec.ErrStageEnded), errors.Is(err, exec.ErrRunOver):
		text := fmt.Sprintf("%s: all its input has passed", t.p.ID)
		if t.steps == 0 {
			return errors.New(text)
		}
		t.s.Screen.Note(text)
		return nil
	case errors.Is(err, exec.ErrNothingPassed):
		select {
		case <-t.stop:
			return fmt.Errorf("interrupted after %s; %s is still paused", plural(int64(t.steps), "step"), t.j)
		default:
		}
		return fmt.Errorf("nothing has come to %s in %s; .watermark says what its sources wait for", t.p.ID, view.Span(stepPatience))
	}
	return err
}

func (t *stepper) count(passed []exec.Passed) {
	for _, x := range passed {
		switch {
		case x.Item.Kind != exec.Rows && !x.Out:
			t.signals++
		case x.Item.Kind == exec.Rows && x.Out:
			t.out += int64(x.Item.Batch.Rows())
		case x.Item.Kind == exec.Rows:
			t.in += int64(x.Item.Batch.Rows())
		}
	}
}

func (t *stepper) sum() {
	in := fmt.Sprintf("%s in, ", plural(t.in, "row"))
	if t.p.Source {
		in = ""
	}
	t.s.say("%s at %s: %s%s out, %s\n", plural(int64(t.steps), "step"), t.p.ID, in, plural(t.out, "row"), plural(t.signals, "watermark"))
}

// show shows what has passed.
func (t *stepper) show(passed []exec.Passed) error {
	out := false
	for _, x := range passed {
		if x.Out && x.Item.Kind != exec.Rows && !t.p.Source {
			continue // is said by what came in
		}
		part := t.p.Part(x.Node)
		where := fmt.Sprintf("%s[%d]", x.Node, x.Task)
		text, schema := "", types.Schema{}
		switch {
		case x.Item.Kind == exec.Watermark && x.Item.W == types.MaxInstant:
			text = where + ": event time is over"
		case x.Item.Kind == exec.Watermark:
			text = where + ": event time reaches " + instant(x.Item.W)
		case x.Item.Kind == exec.End:
			text = where + ": its input ends"
		case x.Out:
			out = true
			to := ""
			if x.Port > 0 && part != nil && x.Port <= len(part.Ports) {
				to = " to " + part.Ports[x.Port-1]
			}
			text = fmt.Sprintf("%s gives out %s%s", where, plural(int64(x.Item.Batch.Rows()), "row"), to)
			if part != nil && x.Port == 0 {
				schema = part.Out
			} else if part != nil && len(part.In) > 0 {
				schema = part.In[0]
			}
		default:
			text = fmt.Sprintf("%s takes %s", where, plural(int64(x.Item.Batch.Rows()), "row"))
			if part != nil && x.Port < len(part.In) {
				schema = part.In[x.Port]
			}
		}
		if _, err := fmt.Fprintln(t.s.Screen, text); err != nil {
			return err
		}
		if x.Item.Kind == exec.Rows {
			if err := t.table(schema, x.Item.Batch); err != nil {
				return err
			}
		}
	}
	if !out && !t.p.Source {
		return t.s.say("nothing comes out\n")
	}
	return nil
}

// table prints the first rows of a batch.
func (t *stepper) table(s types.Schema, b *vec.Batch) error {
	b = b.Dense()
	if len(s.Fields) != len(b.Cols) {
		s = types.Schema{}
		for i, c := range b.Cols {
			s.Fields = append(s.Fields, types.Field{Name: fmt.Sprintf("column%d", i+1), Type: c.Type})
		}
	}
	cols := b.Cols
	if b.Change != nil {
		c := vec.New(types.T(types.String), b.N)
		for i := range c.Strs {
			c.Strs[i] = b.Change[i].String()
		}
		s.Fields = append([]types.Field{{Name: "_change", Type: c.Type}}, s.Fields...)
		cols = append([]*vec.Column{c}, cols...)
	}
	all := &vec.Batch{N: b.N, Cols: cols}
	if all.N > mostShown {
		all = all.Slice(0, mostShown)
	}
	if err := t.s.printer().Rows(s, all); err != nil {
		return err
	}
	if more := b.N - mostShown; more > 0 {
		t.s.Screen.Note(fmt.Sprintf("… and %s more", plural(int64(more), "row")))
	}
	return nil
}

// state reads the state of the stage; nil and why if it cannot be.
func (t *stepper) state() (*inspect.State, string) {
	if !t.p.State {
		return nil, ""
	}
	live, err := t.j.Live(t.p, mostLooked)
	if errors.Is(err, exec.ErrTooLarge) {
		return nil, fmt.Sprintf("the state of %s is larger than %s and is not compared; .checkpoint and .diff compare it", t.p.ID, inspect.Size(mostLooked))
	}
	if err != nil {
		return nil, ""
	}
	st, err := inspect.StateOf(live.Plan, live.Lib, live.Env, t.p.ID, live.Kept)
	if err != nil {
		return nil, err.Error()
	}
	return st, ""
}

// changed shows how the state differs from the one before, and returns it.
func (t *stepper) changed(before *inspect.State, why string) (*inspect.State, string, error) {
	if before == nil {
		if why != "" {
			t.s.Screen.Note(why)
		}
		return nil, "", nil
	}
	now, why := t.state()
	if now == nil {
		if why != "" {
			t.s.Screen.Note(why)
		}
		return nil, "", nil
	}
	schema, b := now.Since(before)
	if b.N == 0 {
		err := t.s.say("state: %s, as before\n", plural(now.Len(), "row"))
		return now, "", err
	}
	if err := t.s.say("state: %s, %s before\n", plural(now.Len(), "row"), count(before.Len())); err != nil {
		return now, "", err
	}
	return now, "", t.table(schema, b)
}
