package repl

import (
	"fmt"

	"github.com/ebb-lang/ebb/repl/job"
)

var _ = command(Command{
	Name: "errors", Args: "[-j JOB]", Group: "jobs",
	Summary: "show the last rows of a job that failed: stage, position, reason, text",
	Text: "They are those that `on_error drop` and `on_error into` took, of this run of the job. Without on_error the first row that fails " +
		"ends the job; then its message is shown.",
	Flags: []Flag{jobFlag},
	Run: func(s *Session, a *Args) error {
		j, err := s.job(a)
		if err != nil {
			return err
		}
		list := j.Rejected()
		if len(list) == 0 && j.State() != job.Failed {
			s.Screen.Note(fmt.Sprintf("no row of %s has failed", j))
			return nil
		}
		n := j.Totals().Errors
		if err := writeSamples(s.Screen, list, n, plural(n, "row")+" that failed"); err != nil {
			return err
		}
		if j.State() == job.Failed {
			return s.say("%s has failed: %v\n", j, j.Err())
		}
		return nil
	},
})
