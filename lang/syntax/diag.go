package syntax

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Severity says how bad a diagnostic is.
type Severity uint8

// The severities. Syntax knows only errors; lint uses all of them.
const (
	SevError Severity = iota
	SevWarn
	SevInfo
)

func (s Severity) String() string {
	switch s {
	case SevError:
		return "error"
	case SevWarn:
		return "warn"
	}
	return "info"
}

// Diagnostic is one finding about a text.
type Diagnostic struct {
	Code     string
	Severity Severity
	Span     Span
	Message  string
	Help     string // the remedy where it is longer than the message, else ""
}

// Error is the finding in one line, without the name of the text.
func (d Diagnostic) Error() string {
	return fmt.Sprintf("%d:%d: %s[%s]: %s", d.Span.Start.Line, d.Span.Start.Column, d.Severity, d.Code, visible(d.Message))
}

// Sort orders diagnostics by position, those of one place by code.
func Sort(diags []Diagnostic) {
	slices.SortStableFunc(diags, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Span.Start.Offset, b.Span.Start.Offset), cmp.Compare(a.Code, b.Code))
	})
}

// maxDiags bounds the diagnostics of one text: a file that is no script at all should not print a million lines.
const maxDiags = 1000

type diagList struct {
	list []Diagnostic
	full bool
}

func (l *diagList) add(code Code, span Span, message, help string) {
	if len(l.list) >= maxDiags {
		if !l.full {
			l.list = append(l.list, Diagnostic{Code: string(P099), Span: span, Message: fmt.Sprintf("more than %d errors; the rest is not shown", maxDiags)})
		}
		l.full = true
		return
	}
	l.list = append(l.list, Diagnostic{Code: string(code), Span: span, Message: message, Help: help})
}

// The width that Render shows of a longer line, and how much of it stands before the caret.
const (
	renderWidth = 150
	renderLeft  = 60
)

// Render prints a diagnostic as the user sees it: `FILE:LINE:COL: error[CODE]: message`, the source line, a caret line
// under the text it speaks of, and the help if there is one. Of a very long line only the part around the caret is shown.
func Render(src *Source, d Diagnostic) string { return RenderIn(src, d, renderWidth+2) }

// RenderIn is Render for a terminal of so many columns: the source line is cut to them.
func RenderIn(src *Source, d Diagnostic, columns int) string {
	width := min(max(columns-2, 20), renderWidth) // two may be for the signs that it is cut
	left := width * renderLeft / renderWidth
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%s\n", visible(src.Name), d.Error())
	start := min(max(d.Span.Start.Offset, 0), len(src.Text))
	from := strings.LastIndexByte(src.Text[:start], '\n') + 1
	to := len(src.Text)
	if i := strings.IndexByte(src.Text[start:], '\n'); i >= 0 {
		to = start + i
	}
	end := max(min(d.Span.End.Offset, to), start) // of a span of several lines only the first
	prefix, suffix := "", ""
	if start-from > width*utf8.UTFMax || cells(src.Text[from:start]) > width-left {
		from, prefix = backCells(src.Text, start, left), "…"
	}
	if cut := forwardCells(src.Text[:to], from, width); cut < to {
		to, suffix = cut, "…"
		end = min(end, to)
	}
	if line := src.Text[from:to]; strings.TrimSpace(line) != "" || start > from {
		b.WriteString(prefix + visible(line) + suffix + "\n")
		if prefix != "" {
			b.WriteByte(' ')
		}
		for _, r := range src.Text[from:start] {
			if r == '\t' {
				b.WriteByte('\t')
			} else {
				b.WriteString(strings.Repeat(" ", cell(r)))
			}
		}
		b.WriteString(strings.Repeat("^", max(cells(src.Text[start:end]), 1)) + "\n")
	}
	if d.Help != "" {
		b.WriteString("help: " + visible(d.Help) + "\n")
	}
	return b.String()
}

// visible replaces control characters, which would garble a terminal, or worse. Tabs stay, for the caret line copies them, and line
// breaks.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && r != '\n' && unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// isWide reports whether terminals print a rune two columns wide (East Asian wide forms and most emoji).
func isWide(r rune) bool {
	return r >= 0x1100 && (r <= 0x115F || r >= 0x2E80 && r <= 0xA4CF || r >= 0xAC00 && r <= 0xD7A3 || r >= 0xF900 && r <= 0xFAFF ||
		r >= 0xFE30 && r <= 0xFE6F || r >= 0xFF00 && r <= 0xFF60 || r >= 0xFFE0 && r <= 0xFFE6 || r >= 0x1F300 && r <= 0x1FAFF ||
		r >= 0x20000 && r <= 0x3FFFD)
}

// cell is how many columns of a terminal a rune takes, cells those of a text.
func cell(r rune) int {
	switch {
	case isWide(r):
		return 2
	case unicode.Is(unicode.Mn, r):
		return 0
	}
	return 1
}

func cells(s string) (n int) {
	for _, r := range s {
		n += cell(r)
	}
	return n
}

// backCells and forwardCells go over at most so many columns of a text.
func backCells(s string, from, columns int) int {
	for from > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:from])
		if columns -= cell(r); columns < 0 {
			break
		}
		from -= size
	}
	return from
}

func forwardCells(s string, from, columns int) int {
	for from < len(s) {
		r, size := utf8.DecodeRuneInString(s[from:])
		if columns -= cell(r); columns < 0 {
			break
		}
		from += size
	}
	return from
}

// shorten makes a text fit into a message: one line, at most about 30 characters.
func shorten(s string) string {
	s, _, cut := strings.Cut(s, "\n")
	if n := forwardCells(s, 0, 30); n < len(s) {
		s, cut = s[:n], true
	}
	if cut {
		s += "…"
	}
	return visible(s)
}

func showRune(r rune) string {
	if unicode.IsPrint(r) && !unicode.Is(unicode.Mn, r) {
		return fmt.Sprintf("`%c`", r)
	}
	return fmt.Sprintf("U+%04X", r)
}
