// Package lint says of scripts what is suspicious in them: state that grows without end, late rows that vanish, outputs that
// may repeat. It knows the language and asks Facts for what only a plan can tell; it knows no library and no file.
package lint

import (
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
)

// Rule is one thing that the linter finds. Each family of codes is one file, and defines its rules there.
type Rule struct {
	Code     string // letter of the family and three digits; never used again for anything else
	Name     string // in words with hyphens: `unused-name`
	Severity syntax.Severity
	Text     string // what is found, in one sentence
	Why      string // why it matters, and what to do
	Fix      Applicability
	Bad      string // a script with this finding
	Good     string // the same, mended
	// Check looks at a script. Without Check and Across the checker finds it by itself, as an error with this code.
	Check func(*Pass)
	// Across looks at all scripts of a run together, at what Gather took from each. Bad and Good are then several files, in the
	// form of txtar.
	Gather func(*Pass) any
	Across func([]Gathered)
	// Mend gives the fix of a finding of the checker; nil: there is none.
	Mend func(*Script, check.Diagnostic) *Fix
}

// Applicability says how far a fix can be trusted.
type Applicability uint8

// The applicabilities.
const (
	NoFix  Applicability = iota
	Safe                 // the script means the same, or what was plainly meant
	Unsafe               // the script may mean something else: somebody should look at it
)

func (a Applicability) String() string { return [...]string{"none", "safe", "unsafe"}[a] }

// Fix is a change of the text that removes a finding.
type Fix struct {
	Applicability Applicability
	Text          string // what it does: "write `|>`"
	Edits         []Edit // of one text, ascending, not overlapping
}

// Edit replaces a span of the text; an empty span inserts.
type Edit struct {
	Span syntax.Span
	Text string
}

// Finding is what a rule found. Its span lies in its Source.
type Finding struct {
	check.Diagnostic
	Rule    *Rule // nil: the parser or the checker finds it, and no rule says more of it
	Fix     *Fix  // nil: none
	Refuses bool  // an error of the parser or the checker: the script does not run
}

var rules []*Rule

// Rules returns all rules by code. The caller must not change them.
func Rules() []*Rule {
	slices.SortFunc(rules, func(a, b *Rule) int { return strings.Compare(a.Code, b.Code) })
	return rules
}

// define enters the rules of a family.
func define(family ...Rule) bool {
	for i := range family {
		rules = append(rules, &family[i])
	}
	return true
}
