package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Status is how a run that began at start comes along, in a line:
// `1.2M rows in (3.4M/s), 45k out (…/s), watermark 2026-01-31T10:00:00Z lag 3s, 2 late`.
func Status(s *exec.Stats, start, now time.Time) string {
	secs := max(now.Sub(start).Seconds(), 0.001)
	in, out := s.RowsIn.Load(), s.RowsOut.Load()
	t := fmt.Sprintf("%s rows in (%s/s), %s out (%s/s)", Count(in), Count(int64(float64(in-s.InBefore.Load())/secs)),
		Count(out), Count(int64(float64(out-s.OutBefore.Load())/secs)))
	if w := s.Watermark.Load(); w != 0 && w != types.MinInstant {
		at := time.Unix(0, w).UTC()
		t += ", watermark " + at.Format("2006-01-02T15:04:05Z")
		if s.Unbounded.Load() {
			t += " lag " + Span(now.Sub(at).Round(time.Second))
		}
	}
	if n := s.Late.Load(); n > 0 {
		t += fmt.Sprintf(", %s late", Count(n))
	}
	if n := s.Errors.Load(); n > 0 {
		t += fmt.Sprintf(", %s errors", Count(n))
	}
	if id := s.Checkpoint.Load(); id > 0 {
		t += fmt.Sprintf(", checkpoint %d %s ago", id, now.Sub(time.Unix(0, s.Checkpointed.Load())).Round(time.Second))
	}
	return t
}

// Count prints a number as people read it: 999, 12.3k, 4.56M, 7.8G.
func Count(n int64) string {
	for _, u := range []struct {
		size int64
		name string
	}{{1_000_000_000, "G"}, {1_000_000, "M"}, {10_000, "k"}} {
		if n >= u.size {
			size := u.size
			if u.name == "k" {
				size = 1000
			}
			return strings.TrimSuffix(strings.TrimSuffix(fmt.Sprintf("%.2f", float64(n)/float64(size)), "0"), ".0") + u.name
		}
	}
	return fmt.Sprint(n)
}

// Span prints how long something took with three digits or so: 850µs, 12.3ms, 4.5s, 3m12s, 5h7m, 12d.
func Span(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 10*time.Microsecond:
		return d.String()
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < 10*time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	case d < time.Second:
		return d.Round(100 * time.Microsecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	case d < 48*time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}
