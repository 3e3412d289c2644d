package testrun

import (
	"regexp"
	"strings"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
)

// Text is a script, or one that stands in a page.
type Text struct {
	Name  string
	Text  string
	Block *syntax.Block // of a page, that the text stands in; nil: it is a file of its own
	Files disk.FS       // that scripts name; nil: those of the machine
}

// before is how many lines of the page stand before the text.
func (t Text) before() int {
	if t.Block == nil {
		return 0
	}
	return t.Block.Lift(syntax.Pos{Line: 1}).Line - 1
}

// whole is the text with as many empty lines before it that every place in it has the line of the page.
func (t Text) whole() string { return strings.Repeat("\n", t.before()) + t.Text }

// place is where a place of whole lies in the page: behind the indentation of its block.
func (t Text) place(p syntax.Pos) syntax.Pos {
	if t.Block == nil {
		return p
	}
	n := t.before()
	return t.Block.Lift(syntax.Pos{Offset: p.Offset - n, Line: p.Line - n, Column: p.Column})
}

// lifted is a diagnostic of whole as one of the page.
func (t Text) lifted(d check.Diagnostic) check.Diagnostic {
	if t.Block != nil && d.Source.Name == t.Name {
		d.Source, d.Span = t.Block.Page, syntax.Span{Start: t.place(d.Span.Start), End: t.place(d.Span.End)}
	}
	return d
}

// Add runs the tests of a script and adds what became of them. It returns nil if there are none, whatever else is wrong with
// the script, or if it has errors.
func (r *Report) Add(t Text, o Options) *Script {
	if !hasTests(t) {
		return nil
	}
	name := t.Name
	s, diags := Load(t, o)
	if s == nil {
		var all []string
		for i, d := range diags {
			d = t.lifted(d)
			diags[i] = d
			all = append(all, strings.TrimRight(check.Render(d), "\n"))
		}
		r.Broken = append(r.Broken, Broken{File: name, Text: strings.Join(all, "\n"), Diags: diags})
		return nil
	}
	cover := s.coverage()
	for _, t := range s.Tests {
		if o.Match != nil && !o.Match(t.What) {
			continue
		}
		r.Results = append(r.Results, s.Test(t))
		if o.Cover {
			s.cover(t, cover)
		}
	}
	if o.Cover {
		cover.finish()
		for _, p := range cover.Parts {
			p.Column = s.from.place(syntax.Pos{Line: p.Line, Column: p.Column}).Column
		}
		r.Cover = append(r.Cover, cover)
	}
	return s
}

// Pattern makes what decides which tests are run: those whose name a regular expression matches somewhere.
func Pattern(text string) (func(name string) bool, error) {
	if text == "" {
		return nil, nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	return re.MatchString, nil
}

func quotePattern(s string) string { return regexp.QuoteMeta(s) }

func hasTests(t Text) bool {
	tree, _ := syntax.Parse(t.Name, t.Text)
	for _, x := range tree.Stmts {
		if _, ok := x.(*syntax.Test); ok {
			return true
		}
	}
	tokens, _ := syntax.Lex(tree.Source) // one that does not parse is not passed over
	for _, t := range tokens {
		if t.Kind == syntax.KindIdent && t.Text == "test" && t.Span.Start.Column == 1 {
			return true
		}
	}
	return false
}
