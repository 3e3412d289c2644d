package check

import (
	"fmt"
	"maps"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// scope is what an expression of the current frame may name over some rows; nil: only constants.
func (c *checker) scope(rows *types.Stream) *scope {
	sc := &scope{consts: c.frame.consts, fns: c.frame.file.fns, constant: rows == nil}
	if rows != nil {
		sc.schema, sc.hasTime = c.hide(rows.Schema), rows.Time
	}
	return sc
}

// hide makes the columns invisible that are called like a parameter of the pipe around: in its stages the name means what
// the caller passed.
func (c *checker) hide(s types.Schema) types.Schema {
	if c.frame.pipe == nil {
		return s
	}
	copied := false
	for _, p := range c.frame.pipe.params {
		i := s.Index(p.Name)
		if i < 0 {
			continue
		}
		if !copied {
			s.Fields = append([]types.Field(nil), s.Fields...)
			copied = true
		}
		s.Fields[i].Name = "\x00" + p.Name
	}
	return s
}

// expression types an expression over rows in a scope made by scope. It gives nil where the rows are unknown, where
// something in it is unknown, or after an error.
func (c *checker) expression(e *syntax.Expr, in flow, sc *scope) *types.Expr {
	if !in.ok || !c.sound(c.frame.file, e) {
		return nil
	}
	sc, ok := c.substitute(e, in, sc)
	if !ok {
		return nil
	}
	return c.expr(e, sc)
}

// substitute adds the arguments of the pipe around that an expression names, typed over the rows at hand.
func (c *checker) substitute(e *syntax.Expr, in flow, sc *scope) (*scope, bool) {
	copied := false
	for _, a := range c.frame.args {
		if !mentions(e, a.name) {
			continue
		}
		if !a.ok {
			return nil, false
		}
		var x *types.Expr
		c.within(a.frame, func() {
			inner := c.scope(&in.rows)
			if s, ok := c.substitute(a.expr, in, inner); ok {
				before := len(c.diags.list)
				x = c.exprAs(a.expr, s, a.typ, "the argument `"+a.name+"` of `"+a.pipe.name+"`")
				for k := range c.diags.list[before:] {
					d := &c.diags.list[before+k]
					d.Notes = append(d.Notes, Note{Source: e.Source, Span: e.Span, Text: "the pipe `" + a.pipe.name + "` uses its argument `" + a.name + "` here"})
				}
			}
		})
		if x == nil {
			return nil, false
		}
		if !copied {
			s := *sc
			s.consts = maps.Clone(sc.consts)
			sc, copied = &s, true
		}
		sc.consts[a.name] = x
	}
	return sc, true
}

func mentions(e *syntax.Expr, name string) bool {
	for i, t := range e.Tokens {
		if (t.Kind == syntax.KindIdent || t.Kind == syntax.KindQuoted) && plainName(t) == name && (i == 0 || e.Tokens[i-1].Text != "." && e.Tokens[i-1].Text != "?.") {
			return true
		}
	}
	return false
}

// part is a run of an expression's tokens as an expression of its own.
func part(e *syntax.Expr, from, to int) *syntax.Expr {
	span := syntax.Span{Start: e.Tokens[from].Span.Start, End: e.Tokens[to-1].Span.End}
	return &syntax.Expr{Span: span, Source: e.Source, Text: e.Source.Slice(span), Tokens: e.Tokens[from:to:to]}
}

// elements cuts a list `[a, b]` or a record `{k: a, …}` into its elements; nil if the expression is no such literal.
func elements(e *syntax.Expr, open, end string) ([]*syntax.Expr, bool) {
	n := len(e.Tokens)
	if n < 2 || e.Tokens[0].Text != open || e.Tokens[n-1].Text != end {
		return nil, false
	}
	var list []*syntax.Expr
	depth, from := 0, 1
	for i, t := range e.Tokens {
		switch t.Kind {
		case syntax.KindOpen:
			depth++
		case syntax.KindClose:
			depth--
			if depth == 0 && i < n-1 {
				return nil, false // `[a] + [b]`
			}
		}
		if (t.Kind == syntax.KindComma && depth == 1 || i == n-1) && i > from {
			list = append(list, part(e, from, i))
		}
		if t.Kind == syntax.KindComma && depth == 1 {
			from = i + 1
		}
	}
	return list, true
}

// path gives the last name of an expression that is a name or a path `a.b.c`, and the number of its names; 0 if it is none.
func path(e *syntax.Expr) (last string, names int) {
	for i, t := range e.Tokens {
		if i%2 == 1 {
			if t.Text != "." && t.Text != "?." {
				return "", 0
			}
			continue
		}
		if t.Kind != syntax.KindIdent && t.Kind != syntax.KindQuoted || isLiteral(t) {
			return "", 0
		}
		last = plainName(t)
		names++
	}
	if len(e.Tokens)%2 == 0 {
		return "", 0
	}
	return last, names
}

func isLiteral(t syntax.Token) bool {
	return t.Kind == syntax.KindIdent && (t.Text == "true" || t.Text == "false" || t.Text == "nil")
}

// callee is the function of an expression that is one call `f(…)`, else "".
func callee(e *syntax.Expr) string {
	n := len(e.Tokens)
	if n < 3 || e.Tokens[0].Kind != syntax.KindIdent || e.Tokens[1].Text != "(" || e.Tokens[n-1].Text != ")" {
		return ""
	}
	depth := 0
	for i, t := range e.Tokens {
		switch t.Kind {
		case syntax.KindOpen:
			depth++
		case syntax.KindClose:
			if depth--; depth == 0 && i < n-1 {
				return ""
			}
		}
	}
	return e.Tokens[0].Text
}

// columnsHelp names the columns there are.
func columnsHelp(s types.Schema) string {
	names := s.Names()
	if len(names) == 0 {
		return ""
	}
	rest := ""
	if len(names) > 12 {
		rest = fmt.Sprintf(" and %d more", len(names)-12)
		names = names[:12]
	}
	return "the columns are " + strings.Join(names, ", ") + rest
}
