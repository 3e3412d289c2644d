package syntax

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// Items, arguments and clauses: most of a script is lists of them. They are leaves that read their tokens directly, for
// participle would carry each of their parts through reflection.

// none is the index of a token that is not there.
const none = -1

// gItem is one element of a list: `EXPR`, `NAME = EXPR`, `EXPR desc`.
type gItem struct {
	From, To    int
	Name, Order int // none: not given
	Expr        gExpr
}

// Parse implements participle.Parseable.
func (g *gItem) Parse(lex *lexer.PeekingLexer) error {
	g.From, g.Name, g.Order = lex.Peek().Pos.Offset, takeName(lex, KindAssign, "="), none
	if err := g.Expr.Parse(lex); err != nil {
		return err
	}
	if t := lex.Peek(); (t.Value == "asc" || t.Value == "desc") && !peekIsAssign(lex) {
		g.Order = t.Pos.Offset
		lex.Next()
	}
	g.To = lex.Peek().Pos.Offset
	return nil
}

// takeName takes a name and the mark behind it, and nothing if no name stands here. It returns where.
func takeName(lex *lexer.PeekingLexer, kind Kind, mark string) int {
	t := lex.Peek()
	if k := kindOf(t); k != KindQuoted && (k != KindIdent || isReserved(t.Value)) {
		return none
	}
	if next := peekAt(lex, 1); kindOf(&next) != kind || next.Value != mark {
		return none
	}
	lex.Next()
	lex.Next()
	return t.Pos.Offset
}

// gItems is `ITEM, …`.
type gItems struct{ List []gItem }

// Parse implements participle.Parseable.
func (g *gItems) Parse(lex *lexer.PeekingLexer) error {
	for {
		var item gItem
		if err := item.Parse(lex); err != nil {
			return err
		}
		g.List = append(g.List, item)
		if lex.Peek().Value != "," {
			return nil
		}
		lex.Next()
	}
}

// gArg is one argument of a call: `EXPR` or `NAME: EXPR`.
type gArg struct {
	From, To int
	Name     int // none: not given
	Expr     gExpr
}

// gArgs is `(ARG, …)`.
type gArgs struct {
	From, To int
	Args     []gArg
}

// Parse implements participle.Parseable.
func (g *gArgs) Parse(lex *lexer.PeekingLexer) error {
	if lex.Peek().Value != "(" {
		return participle.NextMatch
	}
	g.From = lex.Next().Pos.Offset
	for first := true; lex.Peek().Value != ")"; first = false {
		if !first {
			if lex.Peek().Value != "," {
				break
			}
			if lex.Next(); lex.Peek().Value == ")" {
				break
			}
		}
		arg := gArg{From: lex.Peek().Pos.Offset, Name: takeName(lex, KindOp, ":")}
		if err := arg.Expr.Parse(lex); err != nil {
			return err
		}
		arg.To = lex.Peek().Pos.Offset
		g.Args = append(g.Args, arg)
	}
	if err := endList(lex, ")"); err != nil {
		return err
	}
	g.To = lex.Peek().Pos.Offset
	return nil
}

// gClause is a label and its operand, of which one is set.
type gClause struct {
	From, To int
	Items    gItems // of by, per, on, within, window, retain and rows
	As       gName
	Emit     *gEmit
	Late     *gLate
	Keep     *gKeep
	OnError  *gOnError
}

var (
	emitGrammar    grammar[gEmit]
	lateGrammar    grammar[gLate]
	keepGrammar    grammar[gKeep]
	onErrorGrammar grammar[gOnError]
)

// Parse implements participle.Parseable.
func (g *gClause) Parse(lex *lexer.PeekingLexer) error {
	t := lex.Peek()
	if kindOf(t) != KindIdent || !isLabel(t.Value) || t.Value == "into" || peekIsAssign(lex) { // `into` is a stage, and a word of other clauses
		return participle.NextMatch
	}
	g.From = lex.Next().Pos.Offset
	var err error
	switch t.Value {
	case "as":
		err = g.As.Parse(lex)
	case "emit":
		g.Emit, err = part(&emitGrammar, lex)
	case "late":
		g.Late, err = part(&lateGrammar, lex)
	case "keep":
		g.Keep, err = part(&keepGrammar, lex)
	case "on_error":
		g.OnError, err = part(&onErrorGrammar, lex)
	default:
		err = g.Items.Parse(lex)
	}
	g.To = lex.Peek().Pos.Offset
	return err
}

// part reads what stands next with a grammar of its own.
func part[G any](g *grammar[G], lex *lexer.PeekingLexer) (*G, error) {
	return g.get().ParseFromLexer(lex, participle.AllowTrailing(true))
}
