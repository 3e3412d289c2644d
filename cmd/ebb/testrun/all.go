package testrun

import (
	"os"
	"regexp"
	"strings"

	"github.com/ebb-lang/ebb/lang/check"
)

// Files runs the tests of scripts. each is told of every result as it comes; nil: nobody.
func Files(paths []string, o Options, each func(*Result)) *Report {
	r := &Report{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			r.Broken = append(r.Broken, Broken{File: path, Text: "cannot read the script " + err.Error()})
			continue
		}
		r.Add(path, string(text), o, each)
	}
	return r
}

// Add runs the tests of a script and adds what became of them.
func (r *Report) Add(name, text string, o Options, each func(*Result)) {
	s, diags := Load(name, text, o)
	if s == nil {
		var all []string
		for _, d := range diags {
			all = append(all, strings.TrimRight(check.Render(d), "\n"))
		}
		r.Broken = append(r.Broken, Broken{File: name, Text: strings.Join(all, "\n"), Diags: diags})
		return
	}
	for _, t := range s.Tests {
		if o.Match != nil && !o.Match(t.What) {
			continue
		}
		x := s.Test(t)
		r.Results = append(r.Results, x)
		if each != nil {
			each(x)
		}
	}
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
