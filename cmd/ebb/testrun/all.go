package testrun

import (
	"os"
	"regexp"
	"strings"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
)

// Files runs the tests of scripts.
func Files(paths []string, o Options) *Report {
	r := &Report{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			r.Broken = append(r.Broken, Broken{File: path, Text: "cannot read the script " + err.Error()})
			continue
		}
		r.Add(path, string(text), o)
	}
	return r
}

// Add runs the tests of a script and adds what became of them. It returns nil if there are none, whatever else is wrong with
// the script, or if it has errors.
func (r *Report) Add(name, text string, o Options) *Script {
	if !hasTests(name, text) {
		return nil
	}
	s, diags := Load(name, text, o)
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

func hasTests(name, text string) bool {
	tree, _ := syntax.Parse(name, text)
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
