package syntax

import (
	"fmt"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// The leaves of the grammars. A leaf that finds something else reports it in the words of the language; participle's own
// errors would print the names of Go types. Leaves hold indexes into the parser's token list.

// gName is a name: a word, or a quoted one.
type gName struct{ At int }

// Parse implements participle.Parseable.
func (n *gName) Parse(lex *lexer.PeekingLexer) error {
	t := lex.Peek()
	switch kind := kindOf(t); {
	case kind == KindIdent && isReserved(t.Value):
		f := expected(lex, P031, "write it as a quoted name: @\""+t.Value+"\"", "a name")
		f.msg = fmt.Sprintf("`%s` is a word of the expression language and cannot be a name", t.Value)
		f.missing = false
		return f
	case kind == KindIdent || kind == KindQuoted:
		n.At = t.Pos.Offset
		lex.Next()
		return nil
	}
	help := ""
	if kindOf(t) == KindString {
		help = "names are written without quotes, odd ones as @\"order id\""
	}
	return expected(lex, P031, help, "a name")
}

// gColon is the `:` between a name and its type.
type gColon struct{}

// Parse implements participle.Parseable.
func (*gColon) Parse(lex *lexer.PeekingLexer) error {
	if lex.Peek().Value == ":" {
		lex.Next()
		return nil
	}
	name := before(lex)
	return expected(lex, P034, fmt.Sprintf("write the type after a colon, for example `%s: int`", shorten(name.Value)), "`:` and a type")
}

// gString is a string literal.
type gString struct{ At int }

// Parse implements participle.Parseable.
func (n *gString) Parse(lex *lexer.PeekingLexer) error {
	t := lex.Peek()
	if k := kindOf(t); k != KindString && k != KindRaw && k != KindBad {
		return expected(lex, P040, "", "a string")
	}
	n.At = t.Pos.Offset
	lex.Next()
	return nil
}

// gNameOrFile is what a test expects the rows of: a name, or the file that an output writes.
type gNameOrFile struct {
	gName
	File bool
}

// Parse implements participle.Parseable.
func (n *gNameOrFile) Parse(lex *lexer.PeekingLexer) error {
	t := lex.Peek()
	if k := kindOf(t); k != KindString && k != KindRaw {
		return n.gName.Parse(lex)
	}
	n.File = true
	n.At = t.Pos.Offset
	lex.Next()
	return nil
}

// gEq is the `=` of a definition.
type gEq struct{}

// Parse implements participle.Parseable.
func (*gEq) Parse(lex *lexer.PeekingLexer) error {
	t := lex.Peek()
	if t.Value == "=" {
		lex.Next()
		return nil
	}
	help := ""
	switch prev := before(lex); {
	case t.Value == "==":
		help = "`==` compares, a single `=` defines"
	case t.Value == ":" && prev != nil && prev.Value == ")":
		help = "no result type is written; it follows from the body"
	case t.Value == ":":
		help = "no type is written here"
	case t.Value == "(":
		help = "parameters are for `fn` and `pipe`"
	}
	return expected(lex, P032, help, "`=`")
}

// gDefinition is `KEYWORD NAME = …`. What stands behind the `=` is a leaf of its own.
type gDefinition struct {
	Name gName
	of   participle.Parseable
}

// Parse implements participle.Parseable.
func (g *gDefinition) Parse(lex *lexer.PeekingLexer) error {
	lex.Next()
	err := g.Name.Parse(lex)
	if err == nil {
		err = (&gEq{}).Parse(lex)
	}
	if err == nil {
		err = g.of.Parse(lex)
	}
	return err
}

func peekIsAssign(lex *lexer.PeekingLexer) bool {
	next := peekAt(lex, 1)
	return kindOf(&next) == KindAssign
}

// oneOf reports a word that is none of those a clause takes.
func oneOf(lex *lexer.PeekingLexer, clause string, words []string, help string) error {
	t := lex.Peek()
	list := "`" + strings.Join(words[:len(words)-1], "`, `") + "` or `" + words[len(words)-1] + "`"
	if t.EOF() {
		f := expected(lex, P061, help, "")
		f.msg = "the clause `" + clause + "` is empty: expected " + list
		return f
	}
	if kindOf(t) != KindIdent {
		return expected(lex, P062, help, list)
	}
	guess := didYouMean(t.Value, words)
	if guess == "" && help == "" {
		help = "`" + clause + "` takes " + list
	}
	return faultAt(t, P062, help, "unknown word `%s` in the clause `%s`%s", shorten(t.Value), clause, guess)
}

// gTargetName is the name that a target starts with.
type gTargetName struct{ At int }

// Parse implements participle.Parseable.
func (n *gTargetName) Parse(lex *lexer.PeekingLexer) error {
	t := lex.Peek()
	if k := kindOf(t); k == KindQuoted || k == KindIdent && !isReserved(t.Value) {
		n.At = t.Pos.Offset
		lex.Next()
		return nil
	}
	help := "rows go into a sink, a stream or a connector call, for example `jsonl(\"out.jsonl\")`"
	if kindOf(t) == KindString {
		help = nameConnector(t.Value)
	}
	return expected(lex, P074, help, "a target")
}

// gConnector is the name that a connector call starts with.
type gConnector struct{ At int }

// Parse implements participle.Parseable.
func (n *gConnector) Parse(lex *lexer.PeekingLexer) error {
	t := lex.Peek()
	if k := kindOf(t); k == KindQuoted || k == KindIdent && !isReserved(t.Value) {
		n.At = t.Pos.Offset
		lex.Next()
		return nil
	}
	help := "for example `csv(\"orders.csv\")`"
	if kindOf(t) == KindString {
		help = nameConnector(t.Value)
	}
	return expected(lex, P074, help, "a connector call")
}

// nameConnector is the remedy where the path of a file, quoted as it is, stands alone.
func nameConnector(path string) string {
	return "name the connector: `" + connectorFor(path) + "(" + shorten(path) + ")`"
}

// connectorFor guesses the connector that was meant where only a file is named.
func connectorFor(file string) string {
	switch {
	case strings.Contains(file, ".csv"):
		return "csv"
	case strings.Contains(file, ".log"), strings.Contains(file, ".txt"):
		return "lines"
	}
	return "jsonl"
}

// gArrow is the `=>` of a case.
type gArrow struct{}

// Parse implements participle.Parseable.
func (*gArrow) Parse(lex *lexer.PeekingLexer) error {
	t := lex.Peek()
	if kindOf(t) == KindArrow {
		lex.Next()
		return nil
	}
	return expected(lex, P070, "a case is written `when amount > 100 => large`", "`=>`")
}
