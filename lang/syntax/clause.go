package syntax

import (
	"fmt"
)

func (p *parser) errorSpan(span Span, code Code, help, format string, args ...any) {
	p.failed = true
	p.diags.add(code, span, fmt.Sprintf(format, args...), help)
}

// clauses builds the clauses of a stage and checks what does not depend on the stage: each at most once.
func (p *parser) clauses(gs *gClauses, stage string, info stageForm) []*Clause {
	var out []*Clause
	seen := map[string]bool{}
	for i := range gs.List {
		g := &gs.List[i]
		c := p.clause(g, stage, info)
		if seen[c.Label] {
			p.errorAt(g.From, P060, twiceHelp[c.Label], "`%s` has the clause `%s` twice", stage, c.Label)
		}
		seen[c.Label] = true
		out = append(out, c)
	}
	return out
}

var twiceHelp = map[string]string{
	"by": "list all of them behind one `by`, with commas between", "per": "list all of them behind one `per`, with commas between",
	"on": "join the conditions with `and`",
}

func (p *parser) clause(g *gClause, stage string, info stageForm) *Clause {
	c := &Clause{Span: p.spanOf(g.From, g.To), Label: p.tokens[g.From].Text}
	switch c.Label {
	case "by":
		c.Items = p.items(&g.Items)
		p.noOrder(c, info.sorts, stage)
	case "per":
		c.Items = p.items(&g.Items)
		p.noOrder(c, false, stage)
	case "on":
		c.Items = p.oneItem(c, &g.Items, stage, "join the conditions with `and`")
	case "as":
		name := p.ident(g.As.At)
		c.Name = &name
		c.Items = []*Item{{Span: name.Span, Expr: p.exprOf(g.As.At, g.As.At+1)}}
	case "within":
		c.Items = p.within(c, &g.Items, stage)
	case "window":
		c.Call = p.windowCall(p.oneItem(c, &g.Items, stage, "")[0])
	case "emit":
		c.Word = p.tokens[g.Emit.Word].Text
		c.Every = p.optExpr(g.Emit.Every)
		if c.Every != nil && c.Word == "final" {
			p.errorSpan(c.Every.Span, P064, "`emit changes every 10s` gives out what has changed every 10 seconds", "`emit final` takes no `every`")
		}
	case "late":
		c.Word = "drop"
		if g.Late.Into != nil {
			c.Word, c.Target = "into", p.target(g.Late.Into)
		} else if g.Late.Allow != nil {
			e := p.expr(*g.Late.Allow)
			c.Word, c.Items = "allow", []*Item{{Span: e.Span, Expr: e}}
		}
	case "retain":
		c.Items = p.oneItem(c, &g.Items, stage, "")
		if e := c.Items[0].Expr; len(e.Tokens) == 1 && e.Text == "forever" {
			c.Word, c.Items = "forever", nil
		}
	case "keep":
		c.Word = p.tokens[g.Keep].Text
	case "rows":
		c.Items = p.oneItem(c, &g.Items, stage, "")
	case "on_error":
		return p.onError(g.OnError, g.From, g.To)
	}
	return c
}

func (p *parser) noOrder(c *Clause, sorts bool, stage string) {
	for _, item := range c.Items {
		if item.Order != "" && !sorts {
			p.errorSpan(item.Span, P065, "rows are put in order by `sort by …`", "`%s` in `%s` of `%s`, which sorts nothing", item.Order, c.Label, stage)
		}
	}
}

// oneItem builds the operand of a clause that takes one plain expression.
func (p *parser) oneItem(c *Clause, g *gItems, stage, help string) []*Item {
	items := p.items(g)
	if len(items) > 1 {
		p.errorSpan(items[1].Span, P064, help, "the clause `%s` of `%s` takes one expression, found another", c.Label, stage)
	}
	p.plain(c, items, stage)
	return items[:1]
}

// plain refuses names and order words.
func (p *parser) plain(c *Clause, items []*Item, stage string) {
	for _, item := range items {
		if item.Name != nil {
			p.notComparing(item, "the clause `"+c.Label+"` of `"+stage+"` takes no names with `=`", c.Label == "on")
		}
		if item.Order != "" {
			p.errorSpan(item.Span, P065, "", "`%s` cannot stand in the clause `%s`", item.Order, c.Label)
		}
	}
}

// within takes one duration or `[from, to]`, which are two items.
func (p *parser) within(c *Clause, g *gItems, stage string) []*Item {
	one := p.oneItem(c, g, stage, "an interval is written in brackets: `within [-1m, 5m]`")
	e := g.List[0].Expr
	if p.tokens[e.From].Text != "[" || p.closer(e.From) != e.To-1 {
		return one
	}
	var items []*Item
	from, depth := e.From+1, 0
	for i := from; i < e.To; i++ {
		t := p.tokens[i]
		switch {
		case t.Kind == KindOpen:
			depth++
		case t.Kind == KindClose && i < e.To-1:
			depth--
		case i == e.To-1 || t.Kind == KindComma && depth == 0:
			if i == from {
				if i == e.To-1 && len(items) > 0 {
					continue
				}
				p.errorAt(i, P064, "for example `within [-1m, 5m]`", "the interval of `within` lacks a bound before %s", display(t))
				return one
			}
			x := p.exprOf(from, i)
			items = append(items, &Item{Span: x.Span, Expr: x})
			from = i + 1
		}
	}
	if len(items) != 2 {
		p.errorSpan(one[0].Span, P064, "for example `within [-1m, 5m]`", "the interval of `within` has two bounds, found %d", len(items))
		return one
	}
	return items
}

// closer is the index of the bracket that closes the one at i; the brackets of a piece are balanced.
func (p *parser) closer(i int) int {
	depth := 0
	for ; i < len(p.tokens); i++ {
		switch p.tokens[i].Kind {
		case KindOpen:
			depth++
		case KindClose:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// windowCall parses the operand of `window` as a call.
func (p *parser) windowCall(item *Item) *Call {
	from := p.indexOf(item.Expr.Start)
	to := from + len(item.Expr.Tokens)
	const help = "windows are tumbling(1m), hopping(10m, every: 1m), cumulate(1h, step: 5m), session(30m) and count(100)"
	if t := p.tokens[from]; t.Kind != KindIdent || from+1 >= to || p.tokens[from+1].Text != "(" || p.closer(from+1) != to-1 {
		p.errorSpan(item.Span, P064, help, "the clause `window` needs a window, found `%s`", shorten(item.Expr.Text))
		return nil
	}
	var name gConnector
	var args gArgs
	lex := p.feed(from, to)
	err := name.Parse(lex)
	if err == nil {
		err = args.Parse(lex)
	}
	if err != nil {
		p.report(faultOf(err, lex), to)
		return nil
	}
	return &Call{Span: p.spanOf(from, args.To), Name: p.ident(name.At), Args: p.args(&args)}
}

// indexOf finds the token that starts at a position.
func (p *parser) indexOf(at Pos) int {
	lo, hi := 0, len(p.tokens)
	for lo < hi {
		mid := (lo + hi) / 2
		if p.tokens[mid].Span.Start.Offset < at.Offset {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
