package testrun

import (
	"fmt"
	"strings"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
)

// Options say how tests are run.
type Options struct {
	Set         map[string]string // params
	Parallelism int               // 0: 1
	Seed        uint64            // of the first storm of a test
	Chaos       int               // how many storms each test is run under
	Match       func(name string) bool
	Cover       bool
}

// Script is a script with its tests.
type Script struct {
	Name  string
	Text  string // with as many empty lines before it as its page has
	Tests []*check.Test

	streams []string // that its statements define
	checked *check.Script
	from    Text
	files   disk.FS
	options Options
}

// Load checks a script and its tests. With errors among the diagnostics there is no script.
func Load(t Text, o Options) (*Script, []check.Diagnostic) {
	name, text := t.Name, t.whole()
	s := &Script{Name: name, Text: syntax.NewSource(name, text).Text, from: t, files: t.Files, options: o}
	if s.files == nil {
		s.files = disk.OS{}
	}
	env := exec.OS().ReadOnly()
	env.FS = disk.ReadOnly{FS: s.files}
	env.Stdin = noInput()
	w := &world{}
	tree, _ := syntax.Parse(name, text)
	for _, x := range tree.Stmts {
		if x, ok := x.(*syntax.Stream); ok {
			s.streams = append(s.streams, x.Name.Name)
		}
	}
	checked, diags := check.Text(name, text, &planner.World{Catalog: w.catalog(), Env: env}, check.Options{Set: o.Set})
	for _, d := range diags {
		if d.Severity == syntax.SevError {
			return nil, diags
		}
	}
	s.Tests, s.checked = checked.Tests, checked
	return s, diags
}

// Test runs a test and then, if it passes, runs it under storms.
func (s *Script) Test(t *check.Test) *Result {
	r := &Result{File: s.Name, LineNo: t.Start.Line, Name: t.What, Test: t, from: s.from}
	r.Failures = s.once(t, nil, r)
	if len(r.Failures) > 0 || s.options.Chaos == 0 {
		return r
	}
	if r.Spared = spared(t); r.Spared != "" {
		return r
	}
	for k := range s.options.Chaos {
		seed := s.options.Seed + uint64(k)
		r.Storms++
		if r.Failures = s.once(t, newStorm(seed, r.rows), nil); len(r.Failures) > 0 {
			r.Stormy, r.Seed = true, seed
			return r
		}
	}
	return r
}

// once runs a test, undisturbed or under a storm, and returns what is not as it should be.
func (s *Script) once(t *check.Test, st *storm, into *Result) (out []Failure) {
	run := newTestRun(s, t, st)
	defer func() {
		if p := recover(); p != nil {
			out = append(out, Failure{At: run.at, Text: fmt.Sprintf("internal error: %v\n%s", p, stack())})
		}
	}()
	out = run.do()
	if into != nil {
		into.rows = run.rows
	}
	return out
}

// textOf is the script with statements that keep the rows of the streams that a test speaks of. Where an error is expected
// all streams of the script run, for it may come about in any.
func (s *Script) textOf(t *check.Test) string {
	var b strings.Builder
	b.WriteString(s.Text)
	b.WriteString("\n")
	seen := map[string]bool{}
	keep := func(name string) {
		if !seen[name] {
			seen[name] = true
			fmt.Fprintf(&b, "%s |> into %s(%q)\n", types.QuoteName(name), captureName, name)
		}
	}
	for _, x := range t.Steps {
		switch {
		case x.Verb != "expect" || x.Kind == "sink":
		case x.Mode == "error":
			for _, name := range s.streams {
				keep(name)
			}
		case x.Name != nil:
			keep(x.Name.Name)
		}
	}
	return b.String()
}

// Result is what became of a test.
type Result struct {
	File     string
	LineNo   int
	Name     string
	Test     *check.Test
	Failures []Failure
	Storms   int    // that it was run under
	Spared   string // why it is not run under storms
	Stormy   bool   // it failed under the storm of Seed, and not without
	Seed     uint64

	rows int
	from Text
}

// Passed reports whether everything was as it should be.
func (r *Result) Passed() bool { return len(r.Failures) == 0 }

// Failure is something in a test that is not as it should be.
type Failure struct {
	At   syntax.Span
	Text string // of one or more lines
	Diff *Diff  // of rows; may be nil
}
