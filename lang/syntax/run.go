package syntax

import (
	"errors"
	"fmt"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// reader holds the tokens that participle reads: of one piece, then of the next in the same memory. The Offset of a position is
// the index of the token.
type reader struct {
	lex    *lexer.PeekingLexer
	tokens []lexer.Token // of lex
	start  lexer.Checkpoint
	to     int // where the piece ends

	// Where the last run began. The cases of a long block are read one after the other: to fill the tokens anew for each would take
	// quadratic time.
	from int
	mark lexer.Checkpoint
}

// readers are kept for the next texts: making one takes as long as parsing a few statements.
var readers = sync.Pool{New: func() any { return &reader{} }}

// done gives the reader back.
func (p *parser) done() {
	if r := p.reader; r != nil && len(r.tokens) <= 1024 {
		clear(r.tokens)
		r.to = -1 // it holds no piece
		readers.Put(r)
	}
	p.reader = nil
}

// blanks is a number of tokens that are filled in later, and the end.
type blanks int

// Next implements lexer.Lexer.
func (n *blanks) Next() (lexer.Token, error) {
	if *n--; *n < 0 {
		return lexer.EOFToken(lexer.Position{}), nil
	}
	return lexer.Token{}, nil
}

// feed returns the tokens from..to-1 for participle. They hold until the next call.
func (p *parser) feed(from, to int) *lexer.PeekingLexer {
	if p.reader == nil {
		p.reader = readers.Get().(*reader)
	}
	r := p.reader
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
	if size := to - from; size >= len(r.tokens) {
		n := blanks(max(64, 2*size))
		r.lex, _ = lexer.Upgrade(&n)
		r.start = r.lex.MakeCheckpoint()
		r.tokens = r.lex.Range(0, lexer.RawCursor(max(64, 2*size)))
	}
	n := 0
	for i := from; i < to; n++ {
		t := &p.tokens[i]
		r.tokens[n] = lexer.Token{Type: lexer.TokenType(t.Kind), Value: t.Text,
			Pos: lexer.Position{Offset: i, Line: t.Span.Start.Line, Column: t.Span.Start.Column}}
		if end, ok := p.lists[i]; ok && end < to {
			i = end // what a long list holds matters to no grammar
		} else {
			i++
		}
	}
	r.tokens[n] = lexer.EOFToken(lexer.Position{Offset: to})
	r.lex.LoadCheckpoint(r.start)
	r.from, r.to, r.mark = from, to, r.start
	return r.lex
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

// read is run for a leaf.
func (p *parser) read(leaf participle.Parseable, from, to int) (int, *fault) {
	lex := p.feed(from, to)
	if err := leaf.Parse(lex); err != nil {
		f := faultOf(err, lex)
		return f.from, f
	}
	return lex.Peek().Pos.Offset, nil
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
