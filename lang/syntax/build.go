package syntax

import (
	"strconv"
	"strings"
)

// This file makes the tree out of the grammar structs.

// spanOf is the span of the tokens from..to-1.
func (p *parser) spanOf(from, to int) Span {
	if from >= to {
		if from < len(p.tokens) {
			at := p.tokens[from].Span.Start
			return Span{at, at}
		}
		return Span{}
	}
	return Span{p.tokens[from].Span.Start, p.tokens[to-1].Span.End}
}

func (p *parser) ident(at int) Ident {
	t := p.tokens[at]
	name := t.Text
	if t.Kind == KindQuoted {
		name = Unquote(strings.TrimPrefix(name, "@"))
	}
	return Ident{Span: t.Span, Name: name}
}

func (p *parser) text(at int) string { return Unquote(p.tokens[at].Text) }

// Unquote is the value of a string literal in single or double quotes or backticks.
func Unquote(lit string) string {
	if len(lit) < 2 || lit[len(lit)-1] != lit[0] {
		return lit
	}
	body := lit[1 : len(lit)-1]
	if lit[0] == '`' {
		return strings.ReplaceAll(body, "``", "`")
	}
	if !strings.Contains(body, `\`) {
		return body
	}
	var b strings.Builder
	for body != "" {
		if strings.HasPrefix(body, `\u{`) {
			if end := strings.IndexByte(body, '}'); end > 0 {
				if n, err := strconv.ParseUint(body[3:end], 16, 32); err == nil {
					b.WriteRune(rune(n))
					body = body[end+1:]
					continue
				}
			}
		}
		r, _, rest, err := strconv.UnquoteChar(body, lit[0])
		if err != nil {
			// An escape that Go does not take; the lexer has let it pass or reported it.
			b.WriteByte(body[0])
			body = body[1:]
			continue
		}
		if r < 0x80 || !strings.HasPrefix(body, `\x`) {
			b.WriteRune(r)
		} else {
			b.WriteByte(byte(r))
		}
		body = rest
	}
	return b.String()
}

func (p *parser) expr(g gExpr) *Expr { return p.exprOf(g.From, g.To) }

func (p *parser) exprOf(from, to int) *Expr {
	span := p.spanOf(from, to)
	return &Expr{Span: span, Source: p.src, Text: p.src.Slice(span), Tokens: p.tokens[from:to:to]}
}

func (p *parser) optExpr(g *gExpr) *Expr {
	if g == nil {
		return nil
	}
	return p.expr(*g)
}

func (p *parser) fields(gs []gField) []*FnParam {
	var out []*FnParam
	for i := range gs {
		g := &gs[i]
		out = append(out, &FnParam{Span: p.spanOf(g.Name.At, g.Type.To), Name: p.ident(g.Name.At), Type: p.typ(&g.Type)})
	}
	return out
}

func (p *parser) schema(g *gSchema) *SchemaExpr {
	if g == nil {
		return nil
	}
	return &SchemaExpr{Span: p.spanOf(g.From, g.To), Fields: p.fields(g.Fields)}
}

func (p *parser) typ(g *gType) *TypeExpr {
	t := &TypeExpr{Span: p.spanOf(g.From, g.To), Nullable: g.Null}
	switch {
	case g.Elem != nil:
		t.Elem = p.typ(g.Elem)
	case g.Record != nil:
		t.Record = p.schema(g.Record)
	default:
		t.Name = p.tokens[g.Name].Text
		if g.Format != none {
			f := p.tokens[g.Format]
			t.Format = f.Text
			if t.Quoted = f.Kind != KindIdent; t.Quoted {
				t.Format = Unquote(f.Text)
			}
		}
	}
	return t
}

func (p *parser) call(g *gCall) *Call {
	return &Call{Span: p.spanOf(g.From, g.To), Name: p.ident(g.Name.At), Args: p.args(&g.Args)}
}

func (p *parser) args(g *gArgs) []*Item {
	var out []*Item
	for i := range g.Args {
		a := &g.Args[i]
		item := &Item{Span: p.spanOf(a.From, a.To), Expr: p.expr(a.Expr)}
		if a.Name != none {
			name := p.ident(a.Name)
			item.Name = &name
		}
		out = append(out, item)
	}
	return out
}

func (p *parser) target(g *gTarget) *Target {
	if g == nil {
		return nil
	}
	t := &Target{Span: p.spanOf(g.From, g.To)}
	name := p.ident(g.Name.At)
	if g.Args != nil {
		end := g.Args.To
		t.Call = &Call{Span: p.spanOf(g.From, end), Name: name, Args: p.args(g.Args)}
		t.Schema = p.schema(g.Schema)
		return t
	}
	t.Name = &name
	if g.Schema != nil {
		p.errorAt(g.Schema.From-1, P042, "a sink or stream brings its own schema", "`schema` can only follow a connector call")
	}
	return t
}

// input builds a connector call with its clauses; of says in messages what they belong to.
func (p *parser) input(g *gInput, of string) Input {
	in := Input{Call: p.call(&g.Call)}
	seen := map[string]bool{}
	for i := range g.Clauses {
		c := &g.Clauses[i]
		label := p.tokens[c.From].Text
		if seen[label] {
			p.errorAt(c.From, P042, "", "%s has `%s` twice", of, label)
		}
		seen[label] = true
		switch {
		case c.Schema != nil:
			in.Schema = p.schema(c.Schema)
		case c.Time != nil:
			in.Time = p.timeClause(c)
		case c.Key != nil:
			for _, k := range c.Key {
				id := p.ident(k.At)
				in.Key = append(in.Key, &id)
			}
		case c.OnError != nil:
			in.OnError = p.onError(c.OnError, c.From, c.To)
		}
	}
	return in
}

func (p *parser) timeClause(c *gInputClause) *TimeClause {
	t := &TimeClause{Span: p.spanOf(c.From, c.To), Expr: p.expr(c.Time.Expr)}
	for _, o := range c.Time.Opts {
		at, label := &t.Lag, p.tokens[o.At].Text
		if label == "idle" {
			at = &t.Idle
		}
		if *at != nil {
			p.errorAt(o.At, P042, "", "the clause `time` has `%s` twice", label)
		}
		*at = p.expr(o.Expr)
	}
	return t
}

func (p *parser) onError(g *gOnError, from, to int) *Clause {
	c := &Clause{Span: p.spanOf(from, to), Label: "on_error", Word: g.Word, Target: p.target(g.Into)}
	if g.Into != nil {
		c.Word = "into"
	}
	return c
}
