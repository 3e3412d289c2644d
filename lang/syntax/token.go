package syntax

import (
	"strings"
	"unicode/utf8"
)

// Kind classifies a Token.
type Kind uint8

// The kinds of tokens. Words of the language are soft, so they are plain Idents.
const (
	KindEOF      Kind = iota
	KindSpace         // blanks and line breaks
	KindComment       // `//` to the end of the line, or `/* */`
	KindIdent         // a name or a word
	KindQuoted        // @"order id"
	KindNumber        // 12, 1_000, 0xff, 1.5, 1e9
	KindDuration      // 1h30m
	KindTime          // @2026-01-31T10:00:00Z
	KindString        // '…' or "…", also b"…"
	KindRaw           // `…`
	KindOpen          // ( [ {
	KindClose         // ) ] }
	KindComma         // ,
	KindPipe          // |>
	KindAssign        // =
	KindArrow         // =>
	KindOp            // every other operator
	KindBad           // a malformed literal; a diagnostic says why
	KindUnknown       // characters that mean nothing; a diagnostic says so
)

// Lead says how a token stands on its line.
type Lead uint8

// The values of Lead. A comment in front of a token counts as part of it.
const (
	LeadNone   Lead = iota // something stands before it
	LeadIndent             // first of an indented line
	LeadMargin             // first of a line, at the left margin
)

// Token is a piece of a source text.
type Token struct {
	Kind Kind
	Lead Lead
	Text string
	Span Span
}

// Trivia reports whether the token means nothing to the parser.
func (t Token) Trivia() bool { return t.Kind == KindSpace || t.Kind == KindComment }

// operand reports whether the token by itself is a complete value.
func (k Kind) operand() bool {
	switch k {
	case KindQuoted, KindNumber, KindDuration, KindTime, KindString, KindRaw, KindBad:
		return true
	}
	return false
}

// NewSource makes a Source of a text as read from a file: a byte-order mark is dropped and `\r\n` becomes `\n`.
// All offsets count in the result's Text.
func NewSource(name, text string) *Source {
	text = strings.TrimPrefix(text, "\uFEFF")
	if strings.Contains(text, "\r\n") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	return &Source{Name: name, Text: text}
}

// Pos finds line and column of a byte offset. It takes time in proportion to the offset.
func (s *Source) Pos(offset int) Pos {
	offset = min(max(offset, 0), len(s.Text))
	before := s.Text[:offset]
	return Pos{
		Offset: offset,
		Line:   strings.Count(before, "\n") + 1,
		Column: utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1,
	}
}

// Slice is the text of a span.
func (s *Source) Slice(span Span) string { return s.Text[span.Start.Offset:span.End.Offset] }
