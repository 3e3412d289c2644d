package syntax

import (
	"io"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// The grammars, one struct a rule. All are predictive: participle runs without lookahead, so a rule that has taken a token
// is committed to.

type (
	gUse struct {
		Path gString `parser:"'use' @@"`
	}
	gParam struct {
		Name    gName  `parser:"'param' @@"`
		Colon   gColon `parser:"@@"`
		Type    gType  `parser:"@@"`
		Default *gExpr `parser:"('=' @@)?"`
	}
	gFn struct {
		Name   gName   `parser:"'fn' @@"`
		Params gParams `parser:"@@"`
		Eq     gEq     `parser:"@@"`
		Body   gExpr   `parser:"@@"`
	}
	gPipe struct {
		Name   gName   `parser:"'pipe' @@"`
		Params gParams `parser:"@@"`
		Eq     gEq     `parser:"@@"`
	}
	gSet struct {
		Key   []gName `parser:"'set' @@ ('.' @@)*"`
		Eq    gEq     `parser:"@@"`
		Value gExpr   `parser:"@@"`
	}
	gTest struct {
		What gString `parser:"'test' @@"`
	}
)

// Blocks.
type (
	gCase struct {
		When   *gExpr  `parser:"( 'when' @@ | 'else' )"`
		Arrow  gArrow  `parser:"@@"`
		Target gTarget `parser:"@@"`
	}
	gStep struct {
		Link  string `parser:"( (?! Ident '=') @('then' | 'next') )?"`
		Not   bool   `parser:"( (?! 'not' '=') @'not' )?"`
		Name  gName  `parser:"@@"`
		Eq    gEq    `parser:"@@"`
		Cond  gExpr  `parser:"@@"`
		Times *gExpr `parser:"( 'times' @@ )?"`
		For   *gExpr `parser:"( 'for' @@ )?"`
	}
	gGiven struct {
		Name  gName `parser:"'given' @@"`
		Eq    gEq   `parser:"@@"`
		Value gExpr `parser:"@@"`
	}
	gOneCall struct {
		Call gCall `parser:"@@"`
	}
	gExpect struct {
		Mode  string      `parser:"'expect' ( (?! Ident '=') @('ordered' | 'changes') )?"`
		Of    gNameOrFile `parser:"@@"`
		Eq    gEq         `parser:"@@"`
		Value gExpr       `parser:"@@"`
	}
	gExpectError struct {
		Value gExpr `parser:"'expect' 'error' @@"`
	}
	gAdvance struct {
		Value gExpr `parser:"'advance' @@"`
	}
	gRestore struct {
		Parallelism bool   `parser:"'restore' @'parallelism'?"`
		Value       *gExpr `parser:"@@?"`
	}
	gVerb struct {
		Verb string `parser:"@('checkpoint' | 'crash' | 'rollback')"`
	}
	gVerbValue struct {
		Verb  string `parser:"@('checkpoint' | 'rollback')"`
		Value gExpr  `parser:"@@"`
	}
)

// Definition is the lexer of the language in the form that participle takes.
var Definition lexer.Definition = definition{}

type definition struct{}

// Symbols implements lexer.Definition.
func (definition) Symbols() map[string]lexer.TokenType {
	return map[string]lexer.TokenType{"EOF": lexer.EOF, "Space": lexer.TokenType(KindSpace), "Comment": lexer.TokenType(KindComment),
		"Ident": lexer.TokenType(KindIdent), "Quoted": lexer.TokenType(KindQuoted), "Number": lexer.TokenType(KindNumber),
		"Duration": lexer.TokenType(KindDuration), "Time": lexer.TokenType(KindTime), "String": lexer.TokenType(KindString),
		"Raw": lexer.TokenType(KindRaw), "Open": lexer.TokenType(KindOpen), "Close": lexer.TokenType(KindClose), "Comma": lexer.TokenType(KindComma),
		"Pipe": lexer.TokenType(KindPipe), "Assign": lexer.TokenType(KindAssign), "Arrow": lexer.TokenType(KindArrow), "Op": lexer.TokenType(KindOp),
		"Bad": lexer.TokenType(KindBad), "Unknown": lexer.TokenType(KindUnknown)}
}

// Lex implements lexer.Definition.
func (d definition) Lex(name string, r io.Reader) (lexer.Lexer, error) {
	var b strings.Builder
	if _, err := io.Copy(&b, r); err != nil {
		return nil, err
	}
	return d.LexString(name, b.String())
}

// LexString implements lexer.StringDefinition. Bad input is a token, not an error.
func (definition) LexString(name, text string) (lexer.Lexer, error) {
	return &streamLexer{name: name, s: newScanner(NewSource(name, text))}, nil
}

type streamLexer struct {
	name string
	s    *scanner
}

// Next implements lexer.Lexer.
func (l *streamLexer) Next() (lexer.Token, error) {
	t := l.s.next()
	typ := lexer.TokenType(t.Kind)
	if t.Kind == KindEOF {
		typ = lexer.EOF
	}
	p := t.Span.Start
	return lexer.Token{Type: typ, Value: t.Text, Pos: lexer.Position{Filename: l.name, Offset: p.Offset, Line: p.Line, Column: p.Column}}, nil
}

// grammar is a parser that is built when it is first needed.
type grammar[G any] struct {
	once   sync.Once
	parser *participle.Parser[G]
}

func (g *grammar[G]) get() *participle.Parser[G] {
	g.once.Do(func() {
		g.parser = participle.MustBuild[G](participle.Lexer(Definition), participle.UseLookahead(0))
	})
	return g.parser
}
