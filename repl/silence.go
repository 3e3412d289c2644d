package repl

import (
	"fmt"
	"sync"
	"time"

	"github.com/ebb-lang/ebb/repl/job"
	"github.com/ebb-lang/ebb/repl/view"
)

// silence notices a job with windows that emits nothing for twice its largest window, though it has read rows. It says so
// once, and again only after rows have come out.
type silence struct {
	mu    sync.Mutex
	rows  int64 // that were out
	since time.Time
	told  bool
}

func (s *silence) look(j *sessionJob, t job.Totals, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() || t.RowsOut != s.rows || t.RowsIn == t.InBefore || j.State() != job.Running {
		s.rows, s.since, s.told = t.RowsOut, now, false
		return ""
	}
	if s.told {
		return ""
	}
	longest := int64(0)
	for _, w := range j.windows() {
		longest = max(longest, w.Size)
	}
	quiet := now.Sub(s.since)
	if longest == 0 || quiet < max(2*time.Duration(longest), 2*still) {
		return ""
	}
	why := j.holds(now)
	if why == "" {
		return ""
	}
	s.told = true
	return fmt.Sprintf("%s has emitted nothing for %s, with windows of %s\n%s", j, view.Span(quiet), view.Span(time.Duration(longest)), why)
}
