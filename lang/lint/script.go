package lint

import (
	"cmp"
	"slices"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// Script is a text and what is known of it. Of a script with errors the rest is there: what is wrong, and what depends on
// it, is missing.
type Script struct {
	Tree    *syntax.Script
	Checked *check.Script
	Errors  []check.Diagnostic // of the parser and the checker
	Exprs   []*check.Seen      // of this text, once for each use
	Stages  []Stage            // of this text, once for each use
	Uses    map[*syntax.Use]Used
	Facts   Facts

	// What several rules ask for, once one asks.
	ordered  []*check.Seen // Exprs in the order of the text
	readings [][]*reading
	wherever map[*syntax.Expr][]*reading
	names    *mentions
	defined  []definition
	ways     *flow

	gathered map[*Rule]any
}

// forget lets go of what nothing asks for any more when the rules of the script itself are done: all but its text, what rules
// across scripts have gathered, and what suppresses findings.
func (s *Script) forget() {
	tree := s.Tree
	if !slices.ContainsFunc(tree.Comments, func(c syntax.Token) bool { return directive.MatchString(c.Text) }) {
		tree = &syntax.Script{Source: tree.Source}
	}
	*s = Script{Tree: tree, gathered: s.gathered}
}

// Used is what a used file defines, and what it has from the files that it uses: param, let, fn, pipe, source, sink or stream,
// by name.
type Used struct{ Own, Further map[string]string }

// Stage is a use of a stage: as it is written, and as it is understood.
type Stage struct {
	Tree    *syntax.Stage
	Checked *check.Stage
	exprs   []*check.Seen // of this use
}

// Facts is what the rules ask of a plan and of the catalog. The planner answers.
type Facts interface {
	// Grows says what the stage keeps for ever if its input never ends, in words for people ("a row for each `user`"), or
	// "": a window, `retain` or a number bounds it, or the script says that it is meant.
	Grows(*check.Stage) string
	// Marks reports whether a row that comes behind its watermark is late for the stage.
	Marks(*check.Stage) bool
	// Passes reports whether the rows that the stage gives out are rows that it was given, perhaps with other columns.
	Passes(*check.Stage) bool
	// Reads says what is known of a source.
	Reads(*check.Source) Reads
	// Writes says what is known of an output.
	Writes(*check.Write) Writes
	// Shuffles lists the exchanges by key, in the order of the plan.
	Shuffles() []Shuffle
	// Deprecated says whether a "func", "agg", "stage" or "conn" of the catalog is deprecated, or an option of a connector, ""
	// for the thing itself; nil: it is not, or nothing is called so.
	Deprecated(kind, name, option string) *types.Deprecated
	// Fits compares the script with a checkpoint; nil without one.
	Fits() []Fit
}

// Reads is what is known of a source.
type Reads struct {
	Rewinds bool // can be read again from where a checkpoint stood
	Splits  bool // may consist of several parts, each with an event time of its own
	Outside bool // its rows come from elsewhere, and may cease for a while
	// Takes reports whether the source reads what is written to a place (Writes.Place).
	Takes func(place string) bool
}

// Writes is what is known of an output.
type Writes struct {
	ExactlyOnce bool   // what it writes becomes visible with its checkpoint, once
	Shown       bool   // it is gone when it is written: a terminal, standard output
	Place       string // where it lies, "" if that means nothing: two outputs there would write over each other
	File        string // that it may write, where its place is a folder
}

// Shuffle is an exchange by key in front of a stage.
type Shuffle struct {
	Stage *check.Stage
	// Sums tells that rows are aggregated before the exchange, so that many of one key are few when they are sent.
	Sums bool
	Rows int // stages with the same number read the same rows
}

// Fit is what becomes of one state of a checkpoint, or of one of the script.
type Fit struct {
	Name  string // stable name of the stage, source or sink, or of the edge that rows are in flight on
	Wrong string // why the script has no place for it; "": it fits
	New   bool   // the checkpoint has nothing of it: it begins empty
}

// Pass is one rule on its way over one script.
type Pass struct {
	*Script
	rule  *Rule
	found *[]Finding
}

// Gathered is what Gather of a rule took from a script. Of the script itself no more than its text needs to be there.
type Gathered struct {
	*Pass
	What any
}

// Report adds a finding at a span of the script's own text.
func (p *Pass) Report(at syntax.Span, message, help string, fix *Fix) {
	d := check.Diagnostic{Source: p.Tree.Source, Diagnostic: syntax.Diagnostic{Code: p.rule.Code, Severity: p.rule.Severity, Span: at, Message: message, Help: help}}
	*p.found = append(*p.found, Finding{Diagnostic: d, Rule: p.rule, Fix: fix})
}

// Look reads a text and finds what its rules say, sorted by position. facts is asked for the facts of what is right in the
// script; it may be nil. Lint does the rest: rules across scripts, what is chosen, what is suppressed.
func Look(name, text string, env check.Env, facts func(*check.Script) Facts) (*Script, []Finding) {
	tree, broken := syntax.Parse(name, text)
	s := &Script{Tree: tree, Uses: map[*syntax.Use]Used{}}
	var wrong []check.Diagnostic
	var stages []*syntax.Stage // in the order of the text
	for _, x := range tree.Stmts {
		stages = append(stages, syntax.Stages(x)...)
	}
	told := map[*syntax.Stage][]*check.Seen{} // expressions of the next use of a stage
	s.Checked, wrong = check.Check(tree, env, check.Options{Set: standIns(tree), Watch: &check.Watch{
		Expr: func(e *check.Seen) {
			if e.Expr.Source == tree.Source {
				s.Exprs = append(s.Exprs, e)
				i, found := slices.BinarySearchFunc(stages, e.Expr.Start.Offset, func(t *syntax.Stage, at int) int { return cmp.Compare(t.Start.Offset, at) })
				if !found {
					i--
				}
				if i >= 0 && holds(stages[i].Span, e.Expr.Span) {
					told[stages[i]] = append(told[stages[i]], e)
				}
			}
		},
		Stage: func(src *syntax.Source, t *syntax.Stage, made *check.Stage) {
			if src == tree.Source {
				s.Stages = append(s.Stages, Stage{t, made, told[t]})
				told[t] = nil
			}
		},
		Use: func(u *syntax.Use, own, further map[string]string) { s.Uses[u] = Used{own, further} },
	}})
	for _, d := range broken {
		s.Errors = append(s.Errors, check.Diagnostic{Diagnostic: d, Source: tree.Source})
	}
	for _, d := range wrong {
		if d.Code != "U512" { // nothing runs, so no param needs its value
			s.Errors = append(s.Errors, d)
		}
	}
	if facts != nil {
		s.Facts = facts(s.Checked)
	}
	var found []Finding
	byCode := map[string]*Rule{}
	for _, r := range rules {
		byCode[r.Code] = r
	}
	for _, d := range s.Errors {
		f := Finding{Diagnostic: d, Rule: byCode[d.Code], Refuses: true}
		if d.Code == unopened {
			f.Severity, f.Refuses = syntax.SevInfo, false
		}
		if f.Rule != nil && f.Rule.Mend != nil && d.Source == tree.Source {
			f.Fix = f.Rule.Mend(s, d)
		}
		if f.Fix == nil && d.Source == tree.Source {
			f.Fix = meantWord(d)
		}
		found = append(found, f)
	}
	for _, r := range rules {
		if r.Check != nil {
			r.Check(&Pass{Script: s, rule: r, found: &found})
		}
		if r.Gather != nil {
			if s.gathered == nil {
				s.gathered = map[*Rule]any{}
			}
			s.gathered[r] = r.Gather(&Pass{Script: s, rule: r, found: &found})
		}
	}
	return s, sorted(found)
}

// standIns gives params that must be set when the script runs a value, so that what depends on them can be looked at.
func standIns(tree *syntax.Script) map[string]string {
	values := map[string]string{"int": "1", "float": "1.5", "bool": "true", "string": "text", "duration": "1m", "time": "2026-01-31"}
	set := map[string]string{}
	for _, x := range tree.Stmts {
		if p, ok := x.(*syntax.Param); ok && p.Default == nil && values[p.Type.Name] != "" {
			set[p.Name.Name] = values[p.Type.Name]
		}
	}
	return set
}

// across finds what the rules across scripts say of all scripts of a run, each finding with its own Source.
func across(scripts []*Script) []Finding {
	var found []Finding
	for _, r := range rules {
		if r.Across == nil {
			continue
		}
		all := make([]Gathered, len(scripts))
		for i, s := range scripts {
			all[i] = Gathered{&Pass{Script: s, rule: r, found: &found}, s.gathered[r]}
		}
		r.Across(all)
	}
	return found
}

// sorted puts findings into the order of the text, and keeps one of those that say the same of one place: the stages of a
// pipe are looked at wherever it is called.
func sorted(found []Finding) []Finding {
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Source.Name, b.Source.Name), cmp.Compare(a.Span.Start.Offset, b.Span.Start.Offset), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(found, func(a, b Finding) bool {
		return a.Source == b.Source && a.Span == b.Span && a.Code == b.Code && a.Message == b.Message
	})
}
