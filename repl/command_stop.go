package repl

import (
	"fmt"

	"github.com/ebb-lang/ebb/repl/job"
)

var _ = command(Command{
	Name: "stop", Args: "[--drain] [-j JOB]", Group: "jobs",
	Summary: "end a job with a final checkpoint, from which .resume and .run go on",
	Text:    "Windows that are open are not flushed: they are part of the checkpoint. --drain ends the input instead: windows are flushed, and the job has finished.",
	Flags:   []Flag{{"--drain", "", "end the input and flush windows"}, jobFlag},
	Run: func(s *Session, a *Args) error {
		j, err := s.live(a)
		if err != nil {
			return err
		}
		end := j.Stop
		if a.Has("--drain") {
			if j.State() == job.Paused {
				return fmt.Errorf("%s is paused and flushes nothing; .resume lets it go on, then .stop --drain", j)
			}
			end = j.Drain
		}
		j.expected.Store(true)
		if err := s.wait(j, end); err != nil {
			return err
		}
		if j.State() == job.Stopped {
			s.Screen.Note(j.left())
		} else {
			s.Screen.Note(j.ending())
		}
		return nil
	},
})
