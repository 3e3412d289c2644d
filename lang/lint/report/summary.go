package report

import (
	"cmp"
	"fmt"
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

// Statistics counts findings by code, the most frequent first.
func (r *Report) Statistics() string {
	counts := map[string]int{}
	for _, f := range r.Found {
		counts[f.Code]++
	}
	codes := lint.Codes()
	slices.SortStableFunc(codes, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	var b strings.Builder
	for _, c := range codes {
		if n := counts[c]; n > 0 {
			rule := lint.Find(c)
			fmt.Fprintf(&b, "%5d  %s  %-5s  %s\n", n, c, rule.Severity, rule.Name)
		}
	}
	return b.String()
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
