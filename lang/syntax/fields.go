package syntax

import (
	"github.com/alecthomas/participle/v2/lexer"
)

// gParams is `(NAME: TYPE, …)`, the parameters of a fn or pipe.
type gParams struct{ Fields []gField }

// Parse implements participle.Parseable.
func (g *gParams) Parse(lex *lexer.PeekingLexer) (err error) {
	if err := opens(lex, "(", "the name is followed by parameters, for example `(x: int)`, or by `()`"); err != nil {
		return err
	}
	g.Fields, err = fields(lex, ")")
	return err
}

// gSchema is `{NAME: TYPE, …}`.
type gSchema struct {
	From, To int
	Fields   []gField
}

// Parse implements participle.Parseable.
func (g *gSchema) Parse(lex *lexer.PeekingLexer) (err error) {
	if err := opens(lex, "{", "a schema is written `schema { id: int, at: time }`"); err != nil {
		return err
	}
	g.From = lex.Peek().Pos.Offset
	g.Fields, err = fields(lex, "}")
	g.To = lex.Peek().Pos.Offset
	return err
}

// gField is `NAME: TYPE`.
type gField struct {
	Name gName
	Type gType
}

func fields(lex *lexer.PeekingLexer, end string) (list []gField, err error) {
	err = bracketed(lex, end, func() error {
		var f gField
		if err := f.Name.Parse(lex); err != nil {
			return err
		}
		if err := (&gColon{}).Parse(lex); err != nil {
			return err
		}
		if err := f.Type.Parse(lex); err != nil {
			return err
		}
		list = append(list, f)
		return nil
	})
	return list, err
}

// gType is a type: the name of one, `[TYPE]` or `{NAME: TYPE, …}`.
type gType struct {
	From, To int
	Name     int // none: a list or a record
	Format   int // what stands in the parentheses of `time(ms)`; none: nothing
	Elem     *gType
	Record   *gSchema
	Null     bool
}

// Parse implements participle.Parseable.
func (g *gType) Parse(lex *lexer.PeekingLexer) error {
	t := lex.Peek()
	*g = gType{From: t.Pos.Offset, Name: none, Format: none}
	var err error
	switch {
	case t.Value == "[":
		g.Elem = &gType{}
		lex.Next()
		if err = g.Elem.Parse(lex); err == nil {
			err = endList(lex, "]")
		}
	case t.Value == "{":
		g.Record = &gSchema{}
		err = g.Record.Parse(lex)
	case kindOf(t) == KindIdent && !isReserved(t.Value):
		g.Name = lex.Next().Pos.Offset
		if lex.Peek().Value == "(" {
			lex.Next()
			if g.Format, err = timeFormat(lex); err == nil {
				err = endList(lex, ")")
			}
		}
	default:
		err = expected(lex, P034, "types are bool int float string bytes time duration, `[T]`, `{a: T}` and `T?`", "a type")
	}
	if err == nil && lex.Peek().Value == "?" {
		g.Null = true
		lex.Next()
	}
	g.To = lex.Peek().Pos.Offset
	return err
}

// timeFormat takes how a time is written outside.
func timeFormat(lex *lexer.PeekingLexer) (at int, err error) {
	t := lex.Peek()
	switch kindOf(t) {
	case KindIdent, KindString, KindRaw, KindBad:
		return lex.Next().Pos.Offset, nil
	}
	return none, expected(lex, P034, "a time is written time(ms), time(s) or time(\"2006-01-02 15:04:05\")", "a unit or a layout string")
}
