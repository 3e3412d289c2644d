package repl

import (
	"strings"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/planner"
)

// typed is how messages call the text that has been typed.
const typedName = "<session>"

// compile compiles what was typed together with other statements of the session. The typed text comes first, so that its
// lines count as they were typed; a diagnostic elsewhere is given the name of its statement and counts in that.
func (s *Session) compile(typed string, others []statement, o planner.Options) (*planner.Compiled, error) {
	text := typed
	if text != "" {
		text += "\n"
	}
	var starts []int
	for _, x := range others {
		starts = append(starts, len(text))
		text += x.text + "\n"
	}
	c, diags, err := planner.Compile(typedName, text, s.lib, s.env().ReadOnly(), o) // again and again: no pipe is to be read for it
	if err != nil {
		return nil, err
	}
	if c != nil {
		return c, nil
	}
	if s.forget(diags, o.Set) {
		return s.compile(typed, others, o)
	}
	place := func(src *syntax.Source, span syntax.Span) (*syntax.Source, syntax.Span) {
		if src == nil || src.Name != typedName {
			return src, span
		}
		for i := len(starts) - 1; i >= 0; i-- {
			if span.Start.Offset >= starts[i] {
				own := syntax.NewSource("<"+others[i].what+">", others[i].text)
				return own, syntax.Span{Start: own.Pos(span.Start.Offset - starts[i]), End: own.Pos(span.End.Offset - starts[i])}
			}
		}
		return src, span
	}
	var out []check.Diagnostic
	for _, d := range diags {
		if d.Severity != syntax.SevError {
			continue
		}
		d.Source, d.Span = place(d.Source, d.Span)
		for k, n := range d.Notes {
			d.Notes[k].Source, d.Notes[k].Span = place(n.Source, n.Span)
		}
		out = append(out, d)
	}
	return nil, &ScriptError{Diags: out}
}

// A ScriptError is a statement with errors.
type ScriptError struct {
	Lead  string // a line before them; "": none
	Diags []check.Diagnostic
	Help  string // a line behind them; "": none
	Width int    // of the terminal that they are shown on; 0: there is none
}

func (e *ScriptError) Error() string {
	var out []string
	if e.Lead != "" {
		out = append(out, e.Lead)
	}
	width := e.Width
	if width == 0 {
		width = 1 << 20
	}
	for _, d := range e.Diags {
		out = append(out, strings.TrimRight(check.RenderIn(d, width), "\n"))
	}
	if e.Help != "" {
		out = append(out, "help: "+e.Help)
	}
	return strings.Join(out, "\n")
}

// typedOnly reports whether all errors are in what was typed.
func (e *ScriptError) typedOnly() bool {
	for _, d := range e.Diags {
		if d.Source != nil && strings.HasPrefix(d.Source.Name, "<") && d.Source.Name != typedName {
			return false
		}
	}
	return true
}

// wrong returns the errors of the parser.
func wrong(diags []syntax.Diagnostic, src *syntax.Source) error {
	var out []check.Diagnostic
	for _, d := range diags {
		if d.Severity == syntax.SevError {
			out = append(out, check.Diagnostic{Diagnostic: d, Source: src})
		}
	}
	if len(out) == 0 {
		return nil
	}
	return &ScriptError{Diags: out}
}
