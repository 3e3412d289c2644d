package syntax

import (
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// Most of a script is lists: items, arguments, clauses, fields. They are leaves that read their tokens directly, for participle
// would carry each of their parts through reflection.

// bracketed reads what stands in brackets, with commas between and perhaps behind.
func bracketed(lex *lexer.PeekingLexer, end string, element func() error) error {
	lex.Next()
	for lex.Peek().Value != end {
		if err := element(); err != nil {
			return err
		}
		if lex.Peek().Value != "," {
			break
		}
		lex.Next()
	}
	return endList(lex, end)
}

// endList takes the bracket that ends a list, and says what stands there instead.
func endList(lex *lexer.PeekingLexer, end string) error {
	t := lex.Peek()
	if t.Value == end && kindOf(t) == KindClose {
		lex.Next()
		return nil
	}
	prev := before(lex)
	if prev != nil && (prev.Value == "," || kindOf(prev) == KindOpen) {
		return expected(lex, P033, "", "an element or `"+end+"`")
	}
	f := faultAt(t, P055, "", "expected `,` or `%s` before %s", end, show(t))
	switch {
	case t.Value == "=" && kindOf(t) == KindAssign:
		f.code, f.help = P058, "`=` does not compare (that is `==`), and arguments get their names with `:`"
		f.msg = "unexpected `=`"
	case kindOf(prev) == KindNumber && unitOf(t.Value) != "":
		f.help = "a duration is written `" + prev.Value + unitOf(t.Value) + "`"
	case prev != nil && strings.EqualFold(prev.Value, "interval"):
		f.help = "a duration is written " + OtherWords["interval"]
	case t.Value == "??":
		f.code, f.msg = P034, "a type takes one `?`"
	}
	return f
}

// opens is a check that a bracket stands next.
func opens(lex *lexer.PeekingLexer, open, help string) error {
	if lex.Peek().Value == open {
		return nil
	}
	return expected(lex, P036, help, "`"+open+"`")
}

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
	if err := opens(lex, "(", "a connector is a call, for example `csv(\"orders.csv\")`"); err != nil {
		return err
	}
	g.From = lex.Peek().Pos.Offset
	err := bracketed(lex, ")", func() error {
		arg := gArg{From: lex.Peek().Pos.Offset, Name: takeName(lex, KindOp, ":")}
		err := arg.Expr.Parse(lex)
		arg.To = lex.Peek().Pos.Offset
		g.Args = append(g.Args, arg)
		return err
	})
	g.To = lex.Peek().Pos.Offset
	return err
}

// gClause is a label and its operand, of which one is set.
type gClause struct {
	From, To int
	Items    gItems // of by, per, on, within, window, retain and rows
	As       gName
	Emit     *gEmit
	Late     *gLate
	Keep     int // of its word
	OnError  *gOnError
}

// gClauses is CLAUSE….
type gClauses struct{ List []gClause }

// Parse implements participle.Parseable.
func (g *gClauses) Parse(lex *lexer.PeekingLexer) error {
	for {
		t := lex.Peek()
		if kindOf(t) != KindIdent || !isLabel(t.Value) || t.Value == "into" || peekIsAssign(lex) { // `into` is a stage, and a word of other clauses
			return nil
		}
		var c gClause
		if err := c.read(lex); err != nil {
			return err
		}
		g.List = append(g.List, c)
	}
}

func (g *gClause) read(lex *lexer.PeekingLexer) error {
	t := lex.Next()
	g.From = t.Pos.Offset
	var err error
	switch t.Value {
	case "as":
		err = g.As.Parse(lex)
	case "emit":
		g.Emit = &gEmit{}
		err = g.Emit.Parse(lex)
	case "late":
		g.Late = &gLate{}
		err = g.Late.Parse(lex)
	case "keep":
		g.Keep, err = takeWord(lex, "keep", []string{"first", "last", "ties"})
	case "on_error":
		g.OnError = &gOnError{}
		err = g.OnError.Parse(lex)
	default:
		err = g.Items.Parse(lex)
	}
	g.To = lex.Peek().Pos.Offset
	return err
}

// gEmit is the operand of `emit`.
type gEmit struct {
	Word  int
	Every *gExpr
}

// Parse implements participle.Parseable.
func (g *gEmit) Parse(lex *lexer.PeekingLexer) (err error) {
	if g.Word, err = takeWord(lex, "emit", []string{"final", "changes"}); err == nil && accept(lex, "every") {
		g.Every = &gExpr{}
		err = g.Every.Parse(lex)
	}
	return err
}

// gLate is the operand of `late`; with neither it is `drop`.
type gLate struct {
	Into  *gTarget
	Allow *gExpr
}

// Parse implements participle.Parseable.
func (g *gLate) Parse(lex *lexer.PeekingLexer) error {
	switch {
	case accept(lex, "drop"):
		return nil
	case accept(lex, "into"):
		g.Into = &gTarget{}
		return g.Into.Parse(lex)
	case accept(lex, "allow"):
		g.Allow = &gExpr{}
		return g.Allow.Parse(lex)
	}
	return oneOf(lex, "late", []string{"drop", "into", "allow"}, "")
}

// gOnError is the operand of `on_error`: a word, or a target.
type gOnError struct {
	Word string
	Into *gTarget
}

// Parse implements participle.Parseable.
func (g *gOnError) Parse(lex *lexer.PeekingLexer) error {
	switch {
	case accept(lex, "drop"):
		g.Word = "drop"
	case accept(lex, "fail"):
		g.Word = "fail"
	case accept(lex, "into"):
		g.Into = &gTarget{}
		return g.Into.Parse(lex)
	default:
		return oneOf(lex, "on_error", []string{"into", "drop", "fail"}, "")
	}
	return nil
}

// takeWord takes one of the words that a clause takes, and returns where.
func takeWord(lex *lexer.PeekingLexer, clause string, words []string) (at int, err error) {
	t := lex.Peek()
	if kindOf(t) == KindIdent && slices.Contains(words, t.Value) {
		lex.Next()
		return t.Pos.Offset, nil
	}
	return none, oneOf(lex, clause, words, "")
}
