package langserver

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/ebb-lang/ebb/lang/syntax"
)

// text is a document as its editor has it, and as the language reads it: without byte-order mark, `\r\n` as `\n`. Offsets are
// those of the language, in bytes; positions those of the protocol, in lines and UTF-16 units. It is immutable.
type text struct {
	raw   string
	plain string
	cut   []int // offsets of the bytes of raw that plain lacks
	lines []int // offsets in raw at which lines begin; a lone `\r` ends one, too
}

func newText(raw string) *text {
	t := &text{raw: raw, plain: syntax.NewSource("", raw).Text, lines: []int{0}}
	if strings.HasPrefix(raw, "\uFEFF") {
		t.cut = []int{0, 1, 2}
	}
	for i := 0; i < len(raw); i++ {
		switch {
		case raw[i] == '\r' && i+1 < len(raw) && raw[i+1] == '\n':
			t.cut = append(t.cut, i)
		case raw[i] == '\n' || raw[i] == '\r':
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// offset finds the place of a position. One behind the end of its line is the end of the line.
func (t *text) offset(p position) int {
	raw := t.rawOffset(p)
	return raw - sort.SearchInts(t.cut, raw)
}

func (t *text) rawOffset(p position) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(t.lines) {
		return len(t.raw)
	}
	at := t.lines[p.Line]
	end := len(t.raw)
	if p.Line+1 < len(t.lines) {
		end = t.lines[p.Line+1] - 1
		if end > at && t.raw[end] == '\n' && t.raw[end-1] == '\r' {
			end--
		}
	}
	for units := 0; at < end; {
		r, n := utf8.DecodeRuneInString(t.raw[at:end])
		if units += width(r); units > p.Character {
			break
		}
		at += n
	}
	return at
}

// position finds the line and the unit of an offset.
func (t *text) position(offset int) position {
	offset = min(max(offset, 0), len(t.plain))
	raw := offset + sort.Search(len(t.cut), func(i int) bool { return t.cut[i]-i >= offset })
	line := sort.SearchInts(t.lines, raw+1) - 1
	p := position{Line: line}
	for _, r := range t.raw[t.lines[line]:raw] {
		p.Character += width(r)
	}
	return p
}

// span is the range of a span.
func (t *text) span(s syntax.Span) textRange {
	return textRange{t.position(s.Start.Offset), t.position(s.End.Offset)}
}

// whole is the range of all of it.
func (t *text) whole() textRange { return textRange{End: t.position(len(t.plain))} }

// with replaces a range.
func (t *text) with(r textRange, by string) *text {
	from, to := t.rawOffset(r.Start), t.rawOffset(r.End)
	if from > to {
		from, to = to, from
	}
	return newText(t.raw[:from] + by + t.raw[to:])
}

// width is how many UTF-16 units a rune takes.
func width(r rune) int {
	if r >= 0x10000 {
		return 2
	}
	return 1
}
