package repl

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ebb-lang/ebb/lang/types"
)

// Numbers as people read them.

// count prints a number with commas: 1,234,567.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural prints a number and what it counts: 1 row, 2 rows.
func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return count(n) + " " + what + "s"
}

// rate prints how many of something come a second: 0/s, 12.3/s, 45.6k/s.
func rate(r float64) string {
	unit := ""
	for _, u := range []string{"k", "M", "G"} {
		if r < 999.5 {
			break
		}
		r, unit = r/1000, u
	}
	switch {
	case r == 0:
		return "0/s"
	case r < 99.95:
		return strconv.FormatFloat(r, 'f', 1, 64) + unit + "/s"
	}
	return strconv.FormatFloat(r, 'f', 0, 64) + unit + "/s"
}

// size prints bytes: 999 B, 12.3 KiB.
func size(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	f, unit := float64(n)/1024, "KiB"
	for _, u := range []string{"MiB", "GiB", "TiB"} {
		if f < 1000 {
			break
		}
		f, unit = f/1024, u
	}
	if f < 100 {
		return fmt.Sprintf("%.1f %s", f, unit)
	}
	return fmt.Sprintf("%.0f %s", f, unit)
}

// span prints a duration with two parts at most: 850ms, 4.5s, 3m12s, 5h7m, 12d3h.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + span(-d)
	case d < time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm%ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%dh", int(d.Hours())/24, int(d.Hours())%24)
}

// instant prints an event time.
func instant(t types.Instant) string {
	switch t {
	case types.MinInstant:
		return "none yet"
	case types.MaxInstant:
		return "at its end"
	}
	return time.Unix(0, t).UTC().Format("2006-01-02 15:04:05.999999999")
}
