package eval

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Regexp is a compiled pattern: a plain one, as most are that take text apart, is matched by a scanner of its own
// (scan.go), the rest by package regexp, after a test for a literal that every match contains. It may be used by several
// tasks.
type Regexp struct {
	re   *regexp.Regexp
	scan *scanner // nil: not plain
	need string   // "" is none
	all  bool     // a text matches exactly if it contains need
}

// CompileRegexp compiles a pattern (RE2 syntax). The error is one sentence for users.
func CompileRegexp(pattern string) (*Regexp, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		if s, ok := err.(*syntax.Error); ok {
			return nil, fmt.Errorf("bad regular expression %q: %s at `%s`", pattern, s.Code, s.Expr)
		}
		return nil, fmt.Errorf("bad regular expression %q: %w", pattern, err)
	}
	r := &Regexp{re: re}
	if tree, err := syntax.Parse(pattern, syntax.Perl); err == nil {
		r.need = required(tree)
		r.scan = newScanner(tree)
		r.all = tree.Op == syntax.OpLiteral && r.need != ""
	}
	return r, nil
}

// Match reports whether s contains a match.
func (r *Regexp) Match(s string) bool {
	if r.lacks(s) {
		return false
	}
	if r.all {
		return true
	}
	if r.scan != nil {
		var loc [maxScanSlots]int
		if found, ok := r.scan.find(s, loc[:r.scan.slots]); ok {
			return found
		}
	}
	return r.re.MatchString(s)
}

// lacks reports whether s does not contain what every match does. Scanners with a literal look for it themselves.
func (r *Regexp) lacks(s string) bool {
	return r.need != "" && (r.all || r.scan == nil || r.scan.literal == "") && !strings.Contains(s, r.need)
}

// Find appends the places of the leftmost match and its groups to loc, as pairs of byte offsets (-1 where a group took no
// part). It returns nil if there is no match.
func (r *Regexp) Find(s string, loc []int) []int {
	if r.lacks(s) {
		return nil
	}
	if r.scan != nil {
		n := len(loc)
		all := slices.Grow(loc, r.scan.slots)[:n+r.scan.slots]
		if found, ok := r.scan.find(s, all[n:]); ok {
			if !found {
				return nil
			}
			return all
		}
	}
	got := r.re.FindStringSubmatchIndex(s)
	if got == nil {
		return nil
	}
	return append(loc, got...)
}

// Groups returns the number of groups, the whole match not counted.
func (r *Regexp) Groups() int { return r.re.NumSubexp() }

// GroupNames returns the names of the groups from 0, the whole match; "" for those without one.
func (r *Regexp) GroupNames() []string { return r.re.SubexpNames() }

// required returns the longest literal that is part of every match, "" if none is known.
func required(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		best := ""
		for _, sub := range re.Sub {
			if s := required(sub); len(s) > len(best) {
				best = s
			}
		}
		return best
	}
	return ""
}
