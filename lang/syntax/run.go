package syntax

import (
	"errors"
	"fmt"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// tokenFeed is the tokens of a piece as participle reads them; the Offset of a position is the index of the token.
type tokenFeed struct {
	p     *parser
	i, to int
}

// Next implements lexer.Lexer.
func (f *tokenFeed) Next() (lexer.Token, error) {
	if f.i >= f.to {
		return lexer.EOFToken(lexer.Position{Offset: f.to}), nil
	}
	i := f.i
	t := &f.p.tokens[i]
	if end, ok := f.p.lists[i]; ok && end < f.to {
		f.i = end // what a long list holds matters to no grammar
	} else {
		f.i++
	}
	return lexer.Token{Type: lexer.TokenType(t.Kind), Value: t.Text,
		Pos: lexer.Position{Offset: i, Line: t.Span.Start.Line, Column: t.Span.Start.Column}}, nil
}

// reader keeps the token stream of a long piece between runs: it would take quadratic time to make a new one for each case
// of a long block.
type reader struct {
	lex  *lexer.PeekingLexer
	to   int
	from int // where the last run began
	mark lexer.Checkpoint
}

// longPiece is the number of tokens from which on a stream is kept.
const longPiece = 256

// feed returns the tokens from..to-1 for participle.
func (p *parser) feed(from, to int) *lexer.PeekingLexer {
	r := &p.reader
	if r.lex != nil && r.to == to && r.from <= from {
		if r.lex.Peek().Pos.Offset > from {
			r.lex.LoadCheckpoint(r.mark)
		}
		for r.lex.Peek().Pos.Offset < from {
			r.lex.Next()
		}
		if r.lex.Peek().Pos.Offset == from {
			r.from, r.mark = from, r.lex.MakeCheckpoint()
			return r.lex
		}
	}
	lex, _ := lexer.Upgrade(&tokenFeed{p: p, i: from, to: to})
	if to-from >= longPiece {
		*r = reader{lex: lex, to: to, from: from, mark: lex.MakeCheckpoint()}
	}
	return lex
}

// run parses tokens with a grammar. It returns the index of the first token that the grammar did not take and the error, if any.
func run[G any](p *parser, g *grammar[G], from, to int) (*G, int, *fault) {
	lex := p.feed(from, to)
	tree, err := g.get().ParseFromLexer(lex, participle.AllowTrailing(true))
	if err == nil {
		return tree, lex.Peek().Pos.Offset, nil
	}
	f := faultOf(err, lex)
	return tree, f.from, f
}

// faultOf is an error of participle or of a leaf.
func faultOf(err error, lex *lexer.PeekingLexer) *fault {
	var f *fault
	if errors.As(err, &f) {
		return f
	}
	var unexpected *participle.UnexpectedTokenError
	if errors.As(err, &unexpected) {
		i := unexpected.Unexpected.Pos.Offset
		return &fault{code: P003, from: i, to: i + 1, missing: true, msg: "unexpected " + show(&unexpected.Unexpected)}
	}
	// The only other error is a list longer than participle.MaxIterations.
	at := lex.Peek().Pos.Offset
	return &fault{code: P043, from: at, to: at + 1, msg: fmt.Sprintf("the list has more than %d elements", participle.MaxIterations)}
}
