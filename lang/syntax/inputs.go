package syntax

import (
	"github.com/alecthomas/participle/v2/lexer"
)

// The leaves of what rows come from and go to.

// accept takes a word if it stands next.
func accept(lex *lexer.PeekingLexer, word string) bool {
	if lex.Peek().Value != word {
		return false
	}
	lex.Next()
	return true
}

// gCall is a connector call, `NAME(ARG, …)`.
type gCall struct {
	From, To int
	Name     gConnector
	Args     gArgs
}

// Parse implements participle.Parseable.
func (g *gCall) Parse(lex *lexer.PeekingLexer) error {
	g.From = lex.Peek().Pos.Offset
	if err := g.Name.Parse(lex); err != nil {
		return err
	}
	err := g.Args.Parse(lex)
	g.To = g.Args.To
	return err
}

// gInput is a connector call with its clauses.
type gInput struct {
	Call    gCall
	Clauses []gInputClause
}

// Parse implements participle.Parseable.
func (g *gInput) Parse(lex *lexer.PeekingLexer) error {
	if err := g.Call.Parse(lex); err != nil {
		return err
	}
	for {
		var c gInputClause
		if taken, err := c.read(lex); !taken || err != nil {
			return err
		}
		g.Clauses = append(g.Clauses, c)
	}
}

// gInputClause is a label and its operand, of which one is set.
type gInputClause struct {
	From, To int
	Schema   *gSchema
	Time     *gTime
	Key      []gName
	OnError  *gOnError
}

// read takes a clause; nothing if none starts here.
func (g *gInputClause) read(lex *lexer.PeekingLexer) (taken bool, err error) {
	t := lex.Peek()
	g.From = t.Pos.Offset
	if peekIsAssign(lex) {
		return false, nil
	}
	switch t.Value {
	case "schema":
		lex.Next()
		g.Schema = &gSchema{}
		err = g.Schema.Parse(lex)
	case "time":
		lex.Next()
		g.Time = &gTime{}
		err = g.Time.Parse(lex)
	case "key":
		lex.Next()
		g.Key, err = names(lex)
	case "on_error":
		lex.Next()
		g.OnError = &gOnError{}
		err = g.OnError.Parse(lex)
	default:
		return false, nil
	}
	g.To = lex.Peek().Pos.Offset
	return true, err
}

// names reads `NAME, …`.
func names(lex *lexer.PeekingLexer) (list []gName, err error) {
	for {
		var name gName
		if err := name.Parse(lex); err != nil {
			return nil, err
		}
		if list = append(list, name); !accept(lex, ",") {
			return list, nil
		}
	}
}

// gTime is `EXPR lag EXPR idle EXPR`.
type gTime struct {
	Expr gExpr
	Opts []gTimeOpt
}

type gTimeOpt struct {
	At   int // of its label
	Expr gExpr
}

// Parse implements participle.Parseable.
func (g *gTime) Parse(lex *lexer.PeekingLexer) error {
	err := g.Expr.Parse(lex)
	for err == nil {
		o := gTimeOpt{At: lex.Peek().Pos.Offset}
		if !accept(lex, "lag") && !accept(lex, "idle") {
			break
		}
		err = o.Expr.Parse(lex)
		g.Opts = append(g.Opts, o)
	}
	return err
}

// gTarget is where rows go: a name, or a connector call.
type gTarget struct {
	From, To int
	Name     gTargetName
	Args     *gArgs
	Schema   *gSchema
}

// Parse implements participle.Parseable.
func (g *gTarget) Parse(lex *lexer.PeekingLexer) error {
	g.From = lex.Peek().Pos.Offset
	err := g.Name.Parse(lex)
	if err == nil && lex.Peek().Value == "(" {
		g.Args = &gArgs{}
		err = g.Args.Parse(lex)
	}
	if err == nil && accept(lex, "schema") {
		g.Schema = &gSchema{}
		err = g.Schema.Parse(lex)
	}
	g.To = lex.Peek().Pos.Offset
	return err
}
