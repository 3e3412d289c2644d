package eval

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// Regexp is a compiled pattern with a quick test before it: a text without the literal that every match contains is not
// searched. It may be used by several tasks.
type Regexp struct {
	re   *regexp.Regexp
	need string // "" is none
	all  bool   // a text matches exactly if it contains need
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
	}
	if prefix, whole := re.LiteralPrefix(); whole {
		r.need, r.all = prefix, true
	}
	return r, nil
}

// Match reports whether s contains a match.
func (r *Regexp) Match(s string) bool {
	if r.need != "" && !strings.Contains(s, r.need) {
		return false
	}
	return r.all || r.re.MatchString(s)
}

// Find returns the places of the leftmost match and its groups as pairs of byte offsets (-1 where a group took no part),
// nil if there is none.
func (r *Regexp) Find(s string) []int {
	if r.need != "" && !strings.Contains(s, r.need) {
		return nil
	}
	return r.re.FindStringSubmatchIndex(s)
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

// FindGroup returns where group g (0: the whole match) of the leftmost match stands, -1 if there is no match or the
// group took no part.
func (r *Regexp) FindGroup(s string, g int) (lo, hi int) {
	loc := r.Find(s)
	if loc == nil {
		return -1, -1
	}
	return loc[2*g], loc[2*g+1]
}
