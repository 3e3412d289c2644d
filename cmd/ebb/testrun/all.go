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
	Line  int     // of the page, from 1, that the text begins on; 0: it is a file of its own
	Files disk.FS // that scripts name; nil: those of the machine
}

// whole is the text with as many empty lines before it that every place in it has the line of the page.
func (t Text) whole() string { return strings.Repeat("\n", max(0, t.Line-1)) + t.Text }

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
		for _, d := range diags {
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
