package syntax

import (
	"fmt"
	"slices"
	"sort"

	"github.com/alecthomas/participle/v2"
)

// Parse reads a script. It always returns one, with the statements that are right; each of the others has left at least one
// diagnostic. Diagnostics are sorted by position.
func Parse(name, text string) (*Script, []Diagnostic) {
	src := NewSource(name, text)
	p := &parser{src: src, script: &Script{Source: src}}
	p.lex()
	p.script.tokens, p.script.lost = p.tokens, p.lost
	if len(p.tokens) > 0 {
		p.statements(p.statement)
	}
	p.done()
	Sort(p.diags.list)
	return p.script, p.diags.list
}

// parser holds one text on its way to a Script. Everything after the lexer speaks of tokens by their index.
type parser struct {
	src    *Source
	tokens []Token // without trivia and without the end
	lost   []int   // tokens in front of which Unknown characters were left out, ascending
	bad    []int   // malformed literals, ascending
	script *Script
	diags  diagList

	lists  map[int]int // long lists in brackets: from the opening to the closing one (cut.go)
	reader *reader

	failed    bool // the current statement or block has an error
	inBracket bool // the last statement ended inside a bracket
}

// lex fills tokens. Characters that mean nothing are left out, so that the rest of their statement is parsed as well.
func (p *parser) lex() {
	s := newScanner(p.src)
	p.tokens = slices.Grow(p.tokens[:0], min(len(p.src.Text)/4, 4096)+16)
	for {
		t := s.next()
		// Growing by appending would copy a large list many times; the text so far tells how long it will be.
		if n := len(p.tokens); n == cap(p.tokens) {
			perByte := float64(n+1) / float64(s.off+1)
			p.tokens = slices.Grow(p.tokens, max(n, int(1.05*perByte*float64(len(p.src.Text)-s.off)))+1)
		}
		switch t.Kind {
		case KindEOF:
			p.diags = s.diags
			return
		case KindSpace:
			continue
		case KindComment:
			p.script.Comments = append(p.script.Comments, t)
			continue
		case KindUnknown:
			p.lost = append(p.lost, len(p.tokens))
			continue
		case KindBad:
			p.bad = append(p.bad, len(p.tokens))
		}
		p.tokens = append(p.tokens, t)
	}
}

// damaged reports whether the lexer had something to say about a range of tokens.
func (p *parser) damaged(from, to int) bool {
	i := sort.SearchInts(p.lost, from)
	j := sort.SearchInts(p.bad, from)
	return i < len(p.lost) && p.lost[i] < to || j < len(p.bad) && p.bad[j] < to
}

// holeAt reports whether Unknown characters were left out right in front of a token: what seems to be wrong there follows
// from them, and they have had their diagnostic.
func (p *parser) holeAt(i int) bool {
	j := sort.SearchInts(p.lost, i)
	return j < len(p.lost) && p.lost[j] == i
}

func (p *parser) errorAt(i int, code Code, help, format string, args ...any) {
	p.failed = true
	if p.holeAt(i) {
		return
	}
	p.diags.add(code, p.tokens[i].Span, fmt.Sprintf(format, args...), help)
}

// report turns a fault into a diagnostic. What is missing at the end of a line is shown right behind its last token.
func (p *parser) report(f *fault, end int) {
	p.failed = true
	var span Span
	at := min(f.from, end)
	if p.holeAt(at) || p.holeAt(min(f.to, end)) {
		return
	}
	switch {
	case at > 0 && (at >= end || f.missing && p.tokens[at].Lead != LeadNone):
		span = Span{p.tokens[at-1].Span.End, p.tokens[at-1].Span.End}
	case at < len(p.tokens):
		span = Span{p.tokens[at].Span.Start, p.tokens[max(min(f.to, end), at+1)-1].Span.End}
	}
	p.diags.add(f.code, span, f.msg, f.help)
}

// whole parses tokens that a grammar must take to the end; a rest is reported by stray.
func whole[G any](p *parser, g *grammar[G], from, to int, what string) *G {
	tree, at, f := run(p, g, from, to)
	if !p.ended(at, f, from, to, what) {
		return nil
	}
	return tree
}

// define is whole for `KEYWORD NAME = …`.
func (p *parser) define(of participle.Parseable, from, to int, what string) *gDefinition {
	g := &gDefinition{of: of}
	if at, f := p.read(g, from, to); !p.ended(at, f, from, to, what) {
		return nil
	}
	return g
}

// ended reports whether a grammar took all tokens, and says what is wrong if not.
func (p *parser) ended(at int, f *fault, from, to int, what string) bool {
	switch {
	case f != nil:
		p.report(f, to)
	case at < to:
		p.stray(at, from, to, what)
	default:
		return true
	}
	return false
}
