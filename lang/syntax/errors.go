package syntax

import (
	"fmt"

	"github.com/alecthomas/participle/v2/lexer"
)

// fault is a syntax error on its way from a leaf of the grammar to the list of diagnostics. It speaks of tokens by
// their index in the parser's list.
type fault struct {
	code     Code
	from, to int  // tokens; to is exclusive
	missing  bool // something is missing in front of the token from
	msg      string
	help     string
}

func (f *fault) Error() string { return f.msg }

func faultAt(t *lexer.Token, code Code, help, format string, args ...any) *fault {
	return &fault{code: code, from: t.Pos.Offset, to: t.Pos.Offset + 1, msg: fmt.Sprintf(format, args...), help: help}
}

// expected reports that what is wanted does not stand here. The message names the token before and the one that is there.
func expected(lex *lexer.PeekingLexer, code Code, help, what string) *fault {
	t := lex.Peek()
	msg := "expected " + what
	if prev := before(lex); prev != nil {
		msg += " after " + show(prev)
	}
	if !t.EOF() {
		msg += ", found " + show(t)
	}
	f := faultAt(t, code, help, "%s", msg)
	f.missing = true
	return f
}

// before is the token in front of the cursor, nil at the start.
func before(lex *lexer.PeekingLexer) *lexer.Token {
	c := lex.RawCursor()
	if c == 0 {
		return nil
	}
	return &lex.Range(c-1, c)[0]
}

// peekAt looks n tokens ahead; 0 is the next one.
func peekAt(lex *lexer.PeekingLexer, n int) lexer.Token {
	cp := lex.MakeCheckpoint()
	for ; n > 0; n-- {
		lex.Next()
	}
	t := *lex.Peek()
	lex.LoadCheckpoint(cp)
	return t
}

func kindOf(t *lexer.Token) Kind {
	if t.EOF() {
		return KindEOF
	}
	return Kind(t.Type)
}

// show names a token in a message.
func show(t *lexer.Token) string {
	switch kindOf(t) {
	case KindEOF:
		return "the end"
	case KindString, KindRaw:
		return "string " + shorten(t.Value)
	case KindNumber:
		return "number `" + shorten(t.Value) + "`"
	case KindDuration:
		return "duration `" + shorten(t.Value) + "`"
	case KindTime:
		return "time `" + shorten(t.Value) + "`"
	}
	return "`" + shorten(t.Value) + "`"
}

// display names a Token in a message.
func display(t Token) string {
	return show(&lexer.Token{Type: lexer.TokenType(t.Kind), Value: t.Text})
}
