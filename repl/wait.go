package repl

import (
	"fmt"
	"time"

	"github.com/ebb-lang/ebb/repl/view"
)

// wait does something to a job that may take long. Ctrl-C and the end of patience give the waiting up, not the work.
func (s *Session) wait(j *sessionJob, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	patience := time.NewTimer(stopTime)
	defer patience.Stop()
	select {
	case err := <-done:
		return err
	case <-s.Screen.Interrupts():
		j.expected.Store(false)
		return fmt.Errorf("%s is still at it; .jobs shows how it stands", j)
	case <-patience.C:
		j.expected.Store(false)
		return fmt.Errorf("%s is not done after %s; it goes on in the background, .jobs shows how it stands", j, view.Span(stopTime))
	}
}
