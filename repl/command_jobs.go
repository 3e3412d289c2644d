package repl

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/repl/inspect"
	"github.com/ebb-lang/ebb/repl/job"
	"github.com/ebb-lang/ebb/repl/view"
)

var _ = command(Command{
	Name: "jobs", Args: "[JOB]", Group: "jobs", Most: 1,
	Summary: "list the jobs: rows, rates, watermark, errors, state, last checkpoint; with JOB also its stages",
	Text: "Rates are those of the last three seconds; of a job that has ended, those of its last run. Rows are counted over restarts, those of stages since the run began. " +
		"Rows in flight wait before the stage; many of them say that it is the slow one. State is what the stage holds now, as a checkpoint would save it.",
	Complete: func(s *Session, _ []string) []string { return s.jobNames() },
	Run: func(s *Session, a *Args) error {
		if name := a.Arg(0); name != "" {
			return s.showJob(name)
		}
		if len(s.jobs) == 0 {
			s.Screen.Note("there is no job; .run starts the pipelines that write `into` something")
			return nil
		}
		jobs := slices.SortedFunc(slices.Values(s.jobs), func(a, b *sessionJob) int { return a.number - b.number })
		for _, j := range jobs {
			if err := s.say("%s", j.stands()); err != nil {
				return err
			}
		}
		return nil
	},
})

// showJob shows how a job and its stages stand.
func (s *Session) showJob(name string) error {
	j, err := s.called(name)
	if err != nil {
		return err
	}
	if err := s.say("%s", j.stands()); err != nil {
		return err
	}
	_, rates := j.rates()
	return inspect.PrintStages(s.printer(), j.Stages(), rates, j.weigh().bytes)
}

// stands says how a job stands.
func (j *sessionJob) stands() string {
	t, state := j.Totals(), j.State()
	rates, _ := j.rates()
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	add("%s in (%s), %s out (%s)", plural(t.RowsIn, "row"), inspect.Rate(rates.In), count(t.RowsOut), inspect.Rate(rates.Out))
	if w := watermarkOf(t, state); w != "" {
		lines[0] += ", " + w
	}
	late := plural(t.Late, "late row")
	if t.LateDropped > 0 {
		late += fmt.Sprintf(" (%s dropped)", count(t.LateDropped))
	}
	add("%s, %s, %s in flight", late, plural(t.Errors, "error"), plural(t.FlightRows, "row"))
	switch {
	case j.Folder() == "":
		add("no checkpoints: %s", j.Why())
	case t.Checkpoint == 0:
		add("no checkpoint yet")
	default:
		add("checkpoint %d, %s ago, state %s, in %s", t.Checkpoint, view.Span(time.Since(time.Unix(0, t.Checkpointed))), inspect.Size(t.StateBytes), j.Folder())
	}
	if state == job.Failed {
		add("%s", strings.ReplaceAll(j.Err().Error(), "\n", "\n   "))
	}
	return fmt.Sprintf("%d  %s: %s %s\n   %s\n", j.number, j.called, state, ranFor(t, state), strings.Join(lines, "\n   "))
}

func ranFor(t job.Totals, s job.State) string {
	if s.Over() {
		return "after " + view.Span(t.For)
	}
	return "for " + view.Span(t.For)
}

// watermarkOf says where event time stands, "" if nothing is to be said.
func watermarkOf(t job.Totals, s job.State) string {
	if t.Watermark == 0 || t.Watermark == types.MinInstant || t.Watermark == types.MaxInstant {
		return ""
	}
	out := "watermark " + instant(t.Watermark)
	if lag := time.Since(time.Unix(0, t.Watermark)); t.BytesTotal < 0 && !s.Over() && lag > 0 {
		out += fmt.Sprintf(" (lag %s)", view.Span(lag))
	}
	return out
}
