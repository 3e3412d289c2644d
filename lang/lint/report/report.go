// Package report writes what the linter found, for people and for programs.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/lang/syntax"
)

// Report is what a run of the linter says. Names of files are relative, with slashes.
type Report struct {
	Version string // of ebb
	Files   []string
	Found   []lint.Finding // by file, in the order of the text
	Width   int            // of the terminal that a text is for; 0: there is none
}

// Format is a way to write a report. Each is one file, and defines itself there.
type Format struct {
	Name  string
	Text  string // for whom it is
	Write func(w io.Writer, r *Report) error
	// Statistics writes how often each code was found, the most frequent first; nil: the format has no place for that.
	Statistics func(w io.Writer, counts []Count) error
}

// Count is how often a code was found.
type Count struct {
	Rule  *lint.Rule
	Times int
}

var formats []*Format

func define(f Format) bool {
	formats = append(formats, &f)
	return true
}

// Formats returns all formats by name.
func Formats() []*Format {
	slices.SortFunc(formats, func(a, b *Format) int { return strings.Compare(a.Name, b.Name) })
	return formats
}

// Find returns the format with a name.
func Find(name string) (*Format, error) {
	var names []string
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	hint := ""
	if s := syntax.Suggest(name, names); s != "" {
		hint = "; did you mean `" + s + "`?"
	}
	return nil, fmt.Errorf("no output is called %q: there are %s%s", name, strings.Join(names, ", "), hint)
}

// count counts findings by severity.
func (r *Report) count(s syntax.Severity) (n int) {
	for _, f := range r.Found {
		if f.Severity == s {
			n++
		}
	}
	return n
}
