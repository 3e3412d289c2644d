package syntax

import (
	"io"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// The grammars, one struct a rule. All are predictive: participle runs without lookahead, so a rule that has taken a token
// is committed to. Pos and EndPos are set by participle; their Offset is a token index (parser.feed), not a byte.

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
	gLet struct {
		Name gName `parser:"'let' @@"`
		Eq   gEq   `parser:"@@"`
		Expr gExpr `parser:"@@"`
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
	gSource struct {
		Name  gName  `parser:"'source' @@"`
		Eq    gEq    `parser:"@@"`
		Input gInput `parser:"@@"`
	}
	gSink struct {
		Name  gName  `parser:"'sink' @@"`
		Eq    gEq    `parser:"@@"`
		Input gInput `parser:"@@"`
	}
	gStream struct {
		Name gName `parser:"'stream' @@"`
		Eq   gEq   `parser:"@@"`
		Head gHead `parser:"@@"`
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

// Parts of statements.
type (
	gCall struct {
		Pos, EndPos lexer.Position
		Name        gConnector `parser:"@@"`
		Args        gArgs      `parser:"@@"`
	}
	gInput struct {
		Pos, EndPos lexer.Position
		Call        gCall          `parser:"@@"`
		Clauses     []gInputClause `parser:"@@*"`
	}
	gInputClause struct {
		Pos, EndPos lexer.Position
		Schema      *gSchema  `parser:"(?! (Ident | Quoted) '=') ( 'schema' @@"`
		Time        *gTime    `parser:"| 'time' @@"`
		Key         []gName   `parser:"| 'key' @@ (',' @@)*"`
		OnError     *gOnError `parser:"| 'on_error' @@ )"`
	}
	gTime struct {
		Expr gExpr      `parser:"@@"`
		Opts []gTimeOpt `parser:"@@*"`
	}
	gTimeOpt struct {
		Pos, EndPos lexer.Position
		Lag         *gExpr `parser:"'lag' @@"`
		Idle        *gExpr `parser:"| 'idle' @@"`
	}
	gTarget struct {
		Pos, EndPos lexer.Position
		Name        gTargetName `parser:"@@"`
		Args        *gArgs      `parser:"( (?= '(') @@ )?"`
		Schema      *gSchema    `parser:"( 'schema' @@ )?"`
	}
)

// Operands of clauses; those that are lists are leaves (lists.go).
type (
	gEmit struct {
		Word  gEmitWord `parser:"@@"`
		Every *gExpr    `parser:"( 'every' @@ )?"`
	}
	gKeep struct {
		Word gKeepWord `parser:"@@"`
	}
	gLate struct {
		Drop  bool        `parser:"@'drop'"`
		Into  *gTarget    `parser:"| 'into' @@"`
		Allow *gExpr      `parser:"| 'allow' @@"`
		None  gNoLateWord `parser:"| @@"`
	}
	gOnError struct {
		Word string       `parser:"@('drop' | 'fail')"`
		Into *gTarget     `parser:"| 'into' @@"`
		None gNoErrorWord `parser:"| @@"`
	}
)

// Blocks.
type (
	gCase struct {
		Pos, EndPos lexer.Position
		When        *gExpr  `parser:"( 'when' @@ | 'else' )"`
		Arrow       gArrow  `parser:"@@"`
		Target      gTarget `parser:"@@"`
	}
	gStep struct {
		Pos, EndPos lexer.Position
		Link        string `parser:"( (?! Ident '=') @('then' | 'next') )?"`
		Not         bool   `parser:"( (?! 'not' '=') @'not' )?"`
		Name        gName  `parser:"@@"`
		Eq          gEq    `parser:"@@"`
		Cond        gExpr  `parser:"@@"`
		Times       *gExpr `parser:"( 'times' @@ )?"`
		For         *gExpr `parser:"( 'for' @@ )?"`
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
