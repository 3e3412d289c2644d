package repl

import (
	"fmt"

	"github.com/ebb-lang/ebb/repl/job"
)

var _ = command(Command{
	Name: "resume", Args: "[-j JOB]", Group: "jobs",
	Summary: "let a paused job go on; one that was stopped or has failed goes on from its newest checkpoint",
	Text: "It runs the script that it was started with. .run goes on from the checkpoint with the script as it is now. A job that is not the " +
		"newest of several becomes the newest.",
	Flags: []Flag{jobFlag},
	Run: func(s *Session, a *Args) error {
		j, err := s.job(a)
		if err != nil {
			return err
		}
		before := j.State()
		switch before {
		case job.Running:
			return fmt.Errorf("%s is running; .pause and .stop end that", j)
		case job.Finished:
			return fmt.Errorf("%s has finished; .run runs it again", j)
		}
		if before.Over() {
			if err := s.free(j); err != nil {
				return err
			}
		}
		if err := j.Resume(); err != nil {
			return startError(err)
		}
		s.newest(j)
		if before == job.Paused {
			s.Screen.Note(fmt.Sprintf("%s goes on", j))
			return nil
		}
		s.Screen.Note(j.begins())
		return nil
	},
})
