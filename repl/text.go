package repl

import (
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
