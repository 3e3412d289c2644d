package syntax

import (
	"github.com/alecthomas/participle/v2/lexer"
)

// The leaves of pipelines: what they start with, and their stages.

// takeInput takes a connector call with its clauses; nil if none starts here.
func takeInput(lex *lexer.PeekingLexer) (*gInput, error) {
	t := lex.Peek()
	if k := kindOf(t); k != KindQuoted && (k != KindIdent || isReserved(t.Value)) {
		return nil, nil
	}
	if next := peekAt(lex, 1); next.Value != "(" {
		return nil, nil
	}
	in := &gInput{}
	return in, in.Parse(lex)
}

// gHead is what a pipeline starts with: a connector call, or a name.
type gHead struct {
	At    int
	Input *gInput // nil: a name
}

// Parse implements participle.Parseable.
func (g *gHead) Parse(lex *lexer.PeekingLexer) (err error) {
	t := lex.Peek()
	g.At = t.Pos.Offset
	if g.Input, err = takeInput(lex); g.Input != nil || err != nil {
		return err
	}
	if k := kindOf(t); k == KindQuoted || k == KindIdent && !isReserved(t.Value) {
		lex.Next()
		return nil
	}
	return expected(lex, P053, "a pipeline starts with a stream, a source or a connector call, for example `csv(\"orders.csv\")`",
		"a stream, a source or a connector call")
}

// gJoinInput is what `join` and `union` read: a connector call, or an expression that names a stream.
type gJoinInput struct {
	From, To int
	Input    *gInput // nil: Expr
	Expr     gExpr
}

// gStage is a name, arguments, clauses. How its arguments are written is known before.
type gStage struct {
	args form

	Items   gItems
	Call    gArgs
	Target  *gTarget
	Inputs  []gJoinInput
	Clauses gClauses
}

// Parse implements participle.Parseable.
func (g *gStage) Parse(lex *lexer.PeekingLexer) error {
	err := takeStageName(lex)
	if err != nil {
		return err
	}
	switch g.args {
	case formItems:
		err = g.Items.Parse(lex)
	case formTarget:
		g.Target = &gTarget{}
		err = g.Target.Parse(lex)
	case formJoin, formUnion:
		err = g.inputs(lex)
	case formCall:
		err = g.Call.Parse(lex)
	}
	if err != nil {
		return err
	}
	return g.Clauses.Parse(lex)
}

// takeStageName takes the name of a stage, several words for joins.
func takeStageName(lex *lexer.PeekingLexer) error {
	t := lex.Peek()
	if k := kindOf(t); k != KindIdent && k != KindQuoted {
		return expected(lex, P054, "a stage starts with its name, for example `|> where amount > 0`", "the name of a stage")
	}
	lex.Next()
	if kindOf(t) == KindIdent && !isStageWord(t.Value) {
		for range joinWords(func(i int) string { return peekAt(lex, i-1).Value }) - 1 {
			lex.Next()
		}
	}
	return nil
}

func (g *gStage) inputs(lex *lexer.PeekingLexer) error {
	for {
		in := gJoinInput{From: lex.Peek().Pos.Offset}
		var err error
		if in.Input, err = takeInput(lex); in.Input == nil && err == nil {
			err = in.Expr.Parse(lex)
		}
		if err != nil {
			return err
		}
		in.To = lex.Peek().Pos.Offset
		g.Inputs = append(g.Inputs, in)
		if lex.Peek().Value != "," {
			return nil
		}
		lex.Next()
	}
}

// gRest is what is left of a stage after a mistake: the parser only looks for further ones.
type gRest struct{}

// Parse implements participle.Parseable.
func (*gRest) Parse(lex *lexer.PeekingLexer) error {
	start := lex.MakeCheckpoint()
	if err := new(gItems).Parse(lex); err != nil {
		if lex.Cursor() > start.Cursor() {
			return err
		}
		lex.LoadCheckpoint(start) // nothing stands here that could be an item
	}
	return new(gClauses).Parse(lex)
}
