package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/lang/syntax"
)

// Summary says in a line how much was found and what can be mended; "" if nothing was found.
func (r *Report) Summary() string {
	if len(r.Found) == 0 {
		return ""
	}
	var parts []string
	for _, s := range []struct {
		severity  syntax.Severity
		one, many string
	}{{syntax.SevError, "error", "errors"}, {syntax.SevWarn, "warning", "warnings"}, {syntax.SevInfo, "note", "notes"}} {
		if n := r.count(s.severity); n > 0 {
			parts = append(parts, plural(n, s.one, s.many))
		}
	}
	text := strings.Join(parts, ", ")
	safe, unsafe := 0, 0
	for _, f := range r.Found {
		switch {
		case f.Fix == nil:
		case f.Fix.Applicability == lint.Unsafe:
			unsafe++
		default:
			safe++
		}
	}
	switch {
	case safe > 0 && unsafe > 0:
		text += fmt.Sprintf("; --fix mends %d, --unsafe-fixes %d more", safe, unsafe)
	case safe > 0:
		text += fmt.Sprintf("; --fix mends %d", safe)
	case unsafe > 0:
		text += fmt.Sprintf("; --unsafe-fixes mends %d", unsafe)
	}
	return text + "\n"
}

// Counts counts findings by code, the most frequent first.
func (r *Report) Counts() []Count {
	times := map[string]int{}
	for _, f := range r.Found {
		times[f.Code]++
	}
	var counts []Count
	for _, c := range lint.Codes() {
		if n := times[c]; n > 0 {
			counts = append(counts, Count{lint.Find(c), n})
		}
	}
	slices.SortStableFunc(counts, func(a, b Count) int { return cmp.Compare(b.Times, a.Times) })
	return counts
}

// countLines are statistics for people.
func countLines(w io.Writer, counts []Count) error {
	var b strings.Builder
	for _, c := range counts {
		fmt.Fprintf(&b, "%5d  %s  %-5s  %s\n", c.Times, c.Rule.Code, c.Rule.Severity, c.Rule.Name)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
