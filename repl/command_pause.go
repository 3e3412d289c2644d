package repl

import (
	"fmt"

	"github.com/ebb-lang/ebb/repl/job"
)

var _ = command(Command{
	Name: "pause", Args: "[-j JOB]", Group: "jobs",
	Summary: "let a job stand still: no rows, no timers; .resume lets it go on",
	Text:    "A paused job still takes the checkpoints that are asked for.",
	Flags:   []Flag{jobFlag},
	Run: func(s *Session, a *Args) error {
		j, err := s.live(a)
		if err != nil {
			return err
		}
		if j.State() == job.Paused {
			return fmt.Errorf("%s is paused already; .resume lets it go on", j)
		}
		if err := s.wait(j, j.Pause); err != nil {
			return err
		}
		if t := j.Totals(); !j.State().Over() {
			s.Screen.Note(fmt.Sprintf("%s is paused after %s, %s in flight; .resume lets it go on", j, plural(t.RowsIn, "row"), plural(t.FlightRows, "row")))
		}
		return nil
	},
})
