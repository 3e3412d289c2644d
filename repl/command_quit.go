package repl

import (
	"fmt"
)

var _ = command(Command{
	Name: "quit", Group: "session",
	Summary: "end the session; running jobs take a final checkpoint",
	Text:    "It asks first if jobs run. One that does not stop within 30 seconds is left behind; the next run of it goes on from its last checkpoint.",
	Run: func(s *Session, _ *Args) error {
		if !s.MayQuit() {
			return nil
		}
		return ErrQuit
	},
})

// MayQuit asks whether the session may end if jobs run.
func (s *Session) MayQuit() bool {
	jobs := s.running()
	switch len(jobs) {
	case 0:
		return true
	case 1:
		return s.Screen.Ask(fmt.Sprintf("%s runs. Stop it with a final checkpoint and quit?", jobs[0]))
	}
	return s.Screen.Ask(fmt.Sprintf("%d jobs run. Stop them with final checkpoints and quit?", len(jobs)))
}
