package repl

import (
	"fmt"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/repl/inspect"
	"github.com/ebb-lang/ebb/repl/view"
)

// picture is a plan with what is known of the job that runs it.
type picture struct {
	plan  *planner.Compiled
	title string
	text  string      // of the script
	facts [][2]string // of the job
	notes planner.Notes
}

// picture draws the job of -j or the newest one; without a job, the script of the session.
func (s *Session) picture(a *Args) (*picture, error) {
	if len(s.jobs) == 0 && !a.Has("-j") {
		c, err := s.plan("")
		if err != nil {
			return nil, err
		}
		return &picture{plan: c, title: "plan of " + s.name(), text: s.script.text()}, nil
	}
	j, err := s.job(a)
	if err != nil {
		return nil, err
	}
	c, err := j.Planned()
	if err != nil {
		return nil, err
	}
	p := &picture{plan: c, title: j.String(), text: j.Text()}
	t := j.Totals()
	rates, byStage := j.rates()
	fact := func(name, format string, args ...any) {
		p.facts = append(p.facts, [2]string{name, fmt.Sprintf(format, args...)})
	}
	fact("state", "%s, for %s", j.State(), view.Span(t.For))
	if err := j.Err(); err != nil {
		fact("error", "%v", err)
	}
	fact("in", "%s, %s", plural(t.RowsIn, "row"), inspect.Rate(rates.In))
	fact("out", "%s, %s", plural(t.RowsOut, "row"), inspect.Rate(rates.Out))
	fact("in flight", "%s", plural(t.FlightRows, "row"))
	fact("late", "%s, %s dropped", plural(t.Late, "row"), count(t.LateDropped))
	fact("errors", "%s", count(t.Errors))
	fact("watermark", "%s", instant(t.Watermark))
	if t.Checkpoint != 0 {
		fact("checkpoint", "%d, %s ago, state %s, in %s", t.Checkpoint, view.Span(time.Since(time.Unix(0, t.Checkpointed))), inspect.Size(t.StateBytes), j.Folder())
	}
	fact("drawn", "%s", time.Now().UTC().Format("2006-01-02 15:04:05 MST"))
	counts := map[string]exec.StageCount{}
	for _, c := range j.Stages() {
		counts[c.ID] = c
	}
	state := j.weigh()
	p.notes = func(stage string) (out []string) {
		if c, ok := counts[stage]; ok {
			var ways []string
			if !c.Source {
				ways = append(ways, fmt.Sprintf("%s in (%s)", plural(c.In, "row"), inspect.Rate(byStage[stage].In)))
			}
			if !c.Sink {
				ways = append(ways, fmt.Sprintf("%s out (%s)", plural(c.Out, "row"), inspect.Rate(byStage[stage].Out)))
			}
			line := strings.Join(ways, ", ")
			if c.W != types.MinInstant && c.W != types.MaxInstant {
				line += ", watermark " + instant(c.W)
			}
			if c.Waiting > 0 {
				line += ", " + plural(c.Waiting, "row") + " in flight to it"
			}
			out = append(out, line)
		}
		if n := state.bytes[stage]; n > 0 {
			of := ""
			if state.saved > 0 {
				of = fmt.Sprintf(" (checkpoint %d)", state.saved)
			}
			out = append(out, "state: "+inspect.Size(n)+of)
		}
		return out
	}
	return p, nil
}

// draw draws the job of a command into the file that it names. head is what such a file begins with.
func (s *Session) draw(a *Args, head string, text func(*picture) string) error {
	p, err := s.picture(a)
	if err != nil {
		return err
	}
	if err := redraw(a.Arg(0), head, text(p)); err != nil {
		return err
	}
	s.Screen.Note(p.title + " is drawn in " + a.Arg(0))
	return nil
}

// page is the picture as a page of HTML that needs nothing else: no network, no script.
func (p *picture) page() string {
	var notes []string
	if p.plan.Physical.Logical != nil {
		notes = p.plan.Physical.Logical.Notes
	}
	return page(p.title, p.facts, p.plan.Physical.SVG(p.notes), p.text, strings.Join(notes, "\n"))
}
