package repl

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/repl/inspect"
	"github.com/ebb-lang/ebb/repl/job"
	"github.com/ebb-lang/ebb/repl/view"
)

var _ = command(Command{
	Name: "rollback", Args: "[ID] [--pause] [-y] [-j JOB]", Group: "time travel", Most: 1,
	Summary: "take a job back to a checkpoint: sources, state, rows in flight and outputs; the session lives on",
	Text: "It says first what it will do, asks, and does it; then the job goes on. ID is the number or name of a checkpoint, or -N for the N-th before the newest; without " +
		"one it is the newest. Checkpoints after it stay beside the line, and a rollback to one of them goes forward again. A job that is over goes on, too.",
	Flags: []Flag{
		{"--pause", "", "the job stands still afterwards; .resume lets it go on"},
		{"-y", "", "do not ask"},
		jobFlag,
	},
	Complete: (*Session).checkpointIDs,
	Run: func(s *Session, a *Args) error {
		j, err := s.job(a)
		if err != nil {
			return err
		}
		var id checkpoint.ID
		err = s.within(a, func(f *inspect.Folder) error {
			i, err := f.Find(a.Arg(0))
			id = i.ID
			return err
		})
		if err != nil {
			return err
		}
		plan, err := j.PlanRollback(id)
		if err != nil {
			return rollbackError(j, err)
		}
		if err := tellPlan(s, j, plan); err != nil {
			return err
		}
		if !a.Has("-y") && !s.Screen.Ask(fmt.Sprintf("Take %s to checkpoint %d?", j, id)) {
			s.Screen.Note("nothing was changed")
			return nil
		}
		var done *job.Done
		err = s.wait(j, func() (err error) { done, err = j.Rollback(id, a.Has("--pause")); return err })
		if err != nil {
			return rollbackError(j, err)
		}
		stands := "it goes on"
		if a.Has("--pause") {
			stands = "it stands still; .resume lets it go on"
		}
		return s.say("%s is at checkpoint %d, %s in flight put back; that took %s; %s\n", j, done.To.ID, plural(done.Flight, "row"), view.Span(done.Took), stands)
	},
})

// rollbackError says that the job goes on as before where that is so.
func rollbackError(j *sessionJob, err error) error {
	if refused, ok := errors.AsType[*planner.RefusedError](err); ok && !j.State().Over() {
		return fmt.Errorf("%w\n%s goes on as before", refused, j)
	}
	return err
}

// tellPlan says what a rollback will do.
func tellPlan(s *Session, j *sessionJob, p *job.Plan) error {
	var b strings.Builder
	way := "back"
	if p.To.ID > p.Head {
		way = "forward"
	}
	fmt.Fprintf(&b, "%s goes %s to checkpoint %s, taken %s ago:\n", j, way, checkpoint.Label(p.To.ID, p.To.Name), view.Span(p.Age))
	switch {
	case p.Rows > 0:
		b.WriteString(readAgain(p.To, plural(p.Rows, "row")))
	case p.Rows < 0:
		fmt.Fprintf(&b, "  %s of the input are passed over, up to row %s\n", plural(-p.Rows, "row"), count(p.To.Stats["rows_in"]))
	}
	for _, x := range p.Sources {
		if x.To.Text != "" {
			fmt.Fprintf(&b, "    %s: from %s on\n", x.Source, x.To.Text)
		}
	}
	if n := p.To.FlightRows; n > 0 {
		fmt.Fprintf(&b, "  %s in flight return\n", plural(n, "row"))
	}
	for _, x := range p.States {
		if x.From != x.To && !strings.HasSuffix(x.Stage, "/source") && !strings.HasSuffix(x.Stage, "/sink") {
			fmt.Fprintf(&b, "  state of %s: %s instead of %s\n", x.Stage, inspect.Size(x.To), inspect.Size(x.From))
		}
	}
	for _, o := range p.Outputs {
		fmt.Fprintf(&b, "  %s: %s\n", o.Output, undone(o))
	}
	return s.say("%s", b.String())
}

// readAgain says what is read a second time by a job that goes on from a checkpoint.
func readAgain(m *checkpoint.Manifest, rows string) string {
	return fmt.Sprintf("  the input is read again from row %s on: %s\n", count(m.Stats["rows_in"]), rows)
}

// undone says what becomes of an output.
func undone(o exec.Undone) string {
	var words []string
	if o.Cut > 0 {
		rows := ""
		if o.Rows > 0 {
			rows = " (" + plural(o.Rows, "row") + ")"
		}
		words = append(words, plural(o.Cut, "byte")+rows+" are cut off and set aside")
	}
	if o.Back > 0 {
		words = append(words, fmt.Sprintf("%s are put back", plural(o.Back, "byte")))
	}
	switch {
	case o.Why != "":
		return "is not undone: " + o.Why
	case len(words) == 0:
		return "stays as it is"
	}
	return strings.Join(words, ", ")
}
