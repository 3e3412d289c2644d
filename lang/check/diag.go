package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
)

// Diagnostic is a finding and the text it is about: errors in a file that is used point into that file.
type Diagnostic struct {
	syntax.Diagnostic
	Source *syntax.Source
	Notes  []Note // further places that explain it
}

// Note is a further place that a diagnostic speaks of, such as the call of a pipe whose stages do not fit.
type Note struct {
	Source *syntax.Source
	Span   syntax.Span
	Text   string
}

// Render prints a diagnostic as the user sees it: its first line `FILE:LINE:COL: error[CODE]: …`, the source line with a
// caret, the notes in the same way, and the remedy last.
func Render(d Diagnostic) string { return RenderIn(d, 1<<20) }

// RenderIn is Render for a terminal of so many columns.
func RenderIn(d Diagnostic, columns int) string {
	plain := d.Diagnostic
	plain.Help = ""
	var b strings.Builder
	b.WriteString(syntax.RenderIn(d.Source, plain, columns))
	for _, n := range d.Notes {
		note := syntax.Diagnostic{Severity: syntax.SevInfo, Span: n.Span, Message: n.Text}
		b.WriteString(strings.Replace(syntax.RenderIn(n.Source, note, columns), "info[]", "note", 1))
	}
	if d.Help != "" {
		b.WriteString("help: " + d.Help + "\n")
	}
	return b.String()
}

// diags collects diagnostics. The same finding at the same place is kept once: the body of a pipe or a fn is checked at
// every use.
type diags struct {
	list []Diagnostic
	seen map[finding]bool
}

type finding struct {
	src           *syntax.Source
	offset        int
	code, message string
}

func (l *diags) add(d Diagnostic) {
	f := finding{d.Source, d.Span.Start.Offset, d.Code, d.Message}
	if l.seen == nil {
		l.seen = map[finding]bool{}
	}
	if l.seen[f] {
		return
	}
	l.seen[f] = true
	l.list = append(l.list, d)
}

// sorted returns the diagnostics by text, in the order in which rank gives the texts, and position.
func (l *diags) sorted(rank func(*syntax.Source) int) []Diagnostic {
	slices.SortStableFunc(l.list, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(rank(a.Source), rank(b.Source)), cmp.Compare(a.Span.Start.Offset, b.Span.Start.Offset), cmp.Compare(a.Code, b.Code))
	})
	return l.list
}

const maxNotes = 3

// report adds an error. Inside of the stages of a pipe it notes the calls that led there.
func (c *checker) report(src *syntax.Source, span syntax.Span, code, message, help string) {
	d := Diagnostic{Source: src, Diagnostic: syntax.Diagnostic{Code: code, Severity: syntax.SevError, Span: span, Message: message, Help: help}}
	for f := c.frame; f != nil && f.call != nil; f = f.up {
		if len(d.Notes) >= maxNotes && f.up.call != nil {
			continue // of a long chain the ends matter
		}
		d.Notes = append(d.Notes, Note{Source: f.up.file.src, Span: f.call.Name.Span, Text: "in the stages of the pipe `" + f.call.Name.Name + "`, called here"})
	}
	c.diags.add(d)
}

// quietly runs f and forgets what it reports; nobody is told of what it understands.
func (c *checker) quietly(f func()) {
	was := c.diags
	c.diags = diags{}
	c.quiet++
	f()
	c.quiet--
	c.diags = was
}
