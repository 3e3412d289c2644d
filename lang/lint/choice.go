package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
)

// Choice says which findings are wanted, by codes or the beginnings of codes ("W", "W4", "W406"). Of two that fit a code the
// longer one counts, and Ignore if they are equally long. Errors that keep a script from running are always wanted.
type Choice struct {
	Select       []string // empty: all
	ExtendSelect []string
	Ignore       []string
}

// Takes reports whether findings with a code are wanted.
func (c Choice) Takes(code string) bool {
	in := max(longest(code, c.Select), longest(code, c.ExtendSelect))
	if len(c.Select) == 0 {
		in = max(in, 0)
	}
	return in > longest(code, c.Ignore)
}

// longest is the length of the longest prefix that a code starts with, -1 without one.
func longest(code string, prefixes []string) int {
	n := -1
	for _, p := range prefixes {
		if strings.HasPrefix(code, p) {
			n = max(n, len(p))
		}
	}
	return n
}

// Codes returns all codes that a finding can have, sorted: those of rules, of the parser and of the checker.
func Codes() []string {
	all := map[string]bool{}
	for _, r := range rules {
		all[r.Code] = true
	}
	for c := range syntax.Codes {
		all[string(c)] = true
	}
	for c := range check.Codes {
		all[c] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// CheckPrefix says what is wrong with the beginning of a code.
func CheckPrefix(prefix string) error {
	codes := Codes()
	if prefix != "" && slices.ContainsFunc(codes, func(c string) bool { return strings.HasPrefix(c, prefix) }) {
		return nil
	}
	hint := "; `ebb lint --explain all` lists the codes"
	if up := strings.ToUpper(prefix); up != prefix && CheckPrefix(up) == nil {
		hint = "; did you mean `" + up + "`?"
	} else if s := syntax.Suggest(prefix, codes); s != "" {
		hint = "; did you mean `" + s + "`?"
	}
	return fmt.Errorf("no rule has a code that starts with %q%s", prefix, hint)
}
