package syntax

import "slices"

var (
	caseGrammar        grammar[gCase]
	stepGrammar        grammar[gStep]
	givenGrammar       grammar[gGiven]
	oneCallGrammar     grammar[gOneCall]
	expectGrammar      grammar[gExpect]
	expectErrorGrammar grammar[gExpectError]
	advanceGrammar     grammar[gAdvance]
	restoreGrammar     grammar[gRestore]
	verbGrammar        grammar[gVerb]
	verbValueGrammar   grammar[gVerbValue]
)

// blockStart is the brace that opens the block of a split or pattern, -1 if there is none: the first brace outside of
// brackets.
func (p *parser) blockStart(from, to int) int {
	depth := 0
	for i := from; i < to; i++ {
		switch t := p.tokens[i]; {
		case t.Text == "{" && depth == 0 && t.Kind == KindOpen:
			return i
		case t.Kind == KindOpen:
			depth++
		case t.Kind == KindClose:
			depth--
		}
	}
	return -1
}

// block parses the block of a split or pattern and returns the index behind it.
func (p *parser) block(st *Stage, name string, open, to int) int {
	end := p.closer(open)
	if name == "split" {
		st.Cases = p.cases(open+1, end)
		if open+1 == end {
			p.errorAt(open, P070, "for example `"+stageForms["split"].example+"`", "`split` has no cases")
		}
	} else {
		st.Steps = p.steps(open+1, end)
		if open+1 == end {
			p.errorAt(open, P071, "for example `"+stageForms["pattern"].example+"`", "`pattern` has no steps")
		}
	}
	if end+1 < to {
		t := p.tokens[end+1]
		if p.opensClause(end+1, to) {
			p.errorAt(end+1, P073, "", "the block of `%s` comes last; `%s` stands before it", name, t.Text)
			return to
		}
	}
	return end + 1
}

// resume finds where the next case or step starts, after a mistake in a block: at the next line that starts with a word.
func (p *parser) resume(from, to int) int {
	depth := 0
	for i := from; i < to; i++ {
		switch t := p.tokens[i]; {
		case t.Kind == KindOpen:
			depth++
		case t.Kind == KindClose:
			depth--
		case depth <= 0 && t.Kind == KindIdent && t.Lead != LeadNone && !isBinaryWord(t.Text):
			return i
		}
	}
	return to
}

// cases parses the cases of a split.
func (p *parser) cases(from, to int) []*Case {
	var out []*Case
	elseAt, said := -1, false
	for from < to && !p.diags.full {
		t := p.tokens[from]
		if t.Text != "when" && t.Text != "else" {
			switch {
			case t.Kind == KindComma:
				p.errorAt(from, P070, "", "the cases of `split` are not separated by commas")
				from++
				continue
			default:
				p.errorAt(from, P070, "a case is written `when amount > 100 => large` or `else => small`", "a case starts with `when` or `else`, found %s%s", display(t), didYouMean(t.Text, []string{"when", "else"}))
			}
			from = p.resume(from+1, to)
			continue
		}
		if elseAt >= 0 && !said {
			p.errorAt(elseAt, P070, "", "`else` must be the last case of `split`")
			said = true
		} else if t.Text == "else" {
			elseAt = from
		}
		g, at, f := run(p, &caseGrammar, from, to)
		if f != nil {
			p.report(f, to)
			from = p.resume(from+1, to)
			continue
		}
		c := &Case{Span: p.spanOf(from, at), When: p.optExpr(g.When), Target: p.target(&g.Target)}
		out = append(out, c)
		from = at
	}
	return out
}

// steps parses the steps of a pattern.
func (p *parser) steps(from, to int) []*Step {
	var out []*Step
	const help = "steps are written `a = kind == \"x\" then b = kind == \"y\"`"
	for first := true; from < to && !p.diags.full; first = false {
		t := p.tokens[from]
		named := from+1 < to && p.tokens[from+1].Kind == KindAssign
		link := t.Kind == KindIdent && (t.Text == "then" || t.Text == "next") && !named
		if link && first {
			p.errorAt(from, P071, "", "the first step of `pattern` has no `%s`", t.Text)
		} else if !link && !first {
			switch {
			case t.Kind == KindComma:
				p.errorAt(from, P071, help, "the steps of `pattern` are linked by `then` or `next`, not by `,`")
				from++
				continue
			case t.Kind == KindIdent && named || t.Text == "not":
				p.errorAt(from, P071, help, "missing `then` or `next` before `%s`", shorten(t.Text))
			default:
				guess := ""
				if t.Kind == KindIdent {
					guess = didYouMean(t.Text, []string{"then", "next", "times", "for"})
				}
				p.errorAt(from, P071, help, "unexpected %s after a step of `pattern`%s", display(t), guess)
				from = p.resume(from+1, to)
				continue
			}
		}
		g, at, f := run(p, &stepGrammar, from, to)
		if f != nil {
			p.report(f, to)
			from = p.resume(from+1, to)
			continue
		}
		// `times` or `for` without an operand have read the link of the next step as a name.
		for i, e := range []*gExpr{g.Times, g.For} {
			label := []string{"times", "for"}[i]
			if e != nil && e.To == e.From+1 && (p.tokens[e.From].Text == "then" || p.tokens[e.From].Text == "next") {
				p.errorAt(e.From-1, P071, "for example `"+clauseExample[label]+"`", "`%s` needs an operand", label)
				at = e.From
			}
		}
		if at > from {
			out = append(out, p.step(g, from, at))
		}
		from = at
	}
	return out
}

func (p *parser) step(g *gStep, from, to int) *Step {
	s := &Step{Span: p.spanOf(from, to), Link: g.Link, Not: g.Not, Name: p.ident(g.Name.At), Cond: p.expr(g.Cond), For: p.optExpr(g.For)}
	if g.Times != nil {
		s.Min, s.Max = p.times(*g.Times)
	}
	if s.For != nil && !s.Not {
		p.errorSpan(s.For.Span, P071, "a step that must come within a time: `within` of the pattern", "`for` stands only after a `not` step")
	}
	if s.Min != nil && s.Not {
		p.errorSpan(s.Min.Span, P071, "", "a `not` step takes no `times`")
	}
	return s
}

// times splits `m..n`; a single number is both.
func (p *parser) times(g gExpr) (lo, hi *Expr) {
	depth := 0
	for i := g.From; i < g.To; i++ {
		switch t := p.tokens[i]; {
		case t.Kind == KindOpen:
			depth++
		case t.Kind == KindClose:
			depth--
		case t.Text == ".." && depth == 0 && t.Kind == KindOp:
			return p.exprOf(g.From, i), p.exprOf(i+1, g.To)
		}
	}
	e := p.expr(g)
	return e, e
}

var testVerbs = []string{"given", "expect", "advance", "checkpoint", "crash", "restore", "rollback"}

// test parses `test "WHAT" { STEPS }`.
func (p *parser) test(from, to int) Stmt {
	g, at, f := run(p, &testGrammar, from, min(to, from+3))
	if f != nil {
		p.report(f, to)
		if at = p.blockStart(from, to); at < 0 {
			return nil
		}
	}
	if at >= to || p.tokens[at].Text != "{" {
		f := &fault{code: P073, from: at, to: at + 1, missing: true, msg: "a test needs its steps in braces", help: "for example `test \"totals\" { … }`, each step on a line of its own"}
		p.report(f, to)
		return nil
	}
	end := p.closer(at)
	if end+1 < to {
		p.stray(end+1, from, to, "test")
	}
	t := &Test{Span: p.spanOf(from, to)}
	if f == nil {
		t.What, t.WhatAt = p.text(g.What.At), p.tokens[g.What.At].Span
	}
	for i := at + 1; i < end; {
		next := p.stepEnd(i, end)
		if s := p.testStep(i, next); s != nil {
			t.Steps = append(t.Steps, s)
		}
		i = next
	}
	return t
}

// stepEnd finds where the next step of a test starts: at the next line outside of brackets.
func (p *parser) stepEnd(from, to int) int {
	depth := 0
	for i := from; i < to; i++ {
		t := p.tokens[i]
		if i > from && depth == 0 && t.Lead != LeadNone {
			return i
		}
		switch t.Kind {
		case KindOpen:
			depth++
		case KindClose:
			depth--
		}
	}
	return to
}

func (p *parser) testStep(from, to int) *TestStep {
	s := &TestStep{Span: p.spanOf(from, to), Verb: p.tokens[from].Text}
	name := func(at int) *Ident {
		id := p.ident(at)
		return &id
	}
	switch s.Verb {
	case "given":
		if g := whole(p, &givenGrammar, from, to, "step"); g != nil {
			s.Name, s.Value = name(g.Name.At), p.expr(g.Value)
			if c, at, f := run(p, &oneCallGrammar, g.Value.From, g.Value.To); f == nil && at == g.Value.To {
				s.Call = p.call(&c.Call)
			}
		}
	case "expect":
		if from+2 < to && p.tokens[from+1].Text == "error" && p.tokens[from+2].Kind != KindAssign {
			if g := whole(p, &expectErrorGrammar, from, to, "step"); g != nil {
				s.Mode, s.Value = "error", p.expr(g.Value)
			}
			break
		}
		if from+2 == to && p.tokens[from+1].Text == "error" {
			p.report(&fault{code: P072, from: to, to: to, msg: "`expect error` needs the text of the error", help: "for example `expect error \"division by zero\"`"}, to)
			break
		}
		if from+2 < to && p.tokens[from+1].Kind == KindIdent && p.tokens[from+1].Text != "ordered" && p.tokens[from+1].Text != "changes" && p.tokens[from+2].Kind == KindIdent {
			word := p.tokens[from+1].Text
			p.errorAt(from+1, P072, "an expectation is `expect rows = […]`, `expect ordered …`, `expect changes …` or `expect error \"text\"`",
				"unknown word `%s` after `expect`%s", shorten(word), didYouMean(word, []string{"ordered", "changes", "error"}))
			break
		}
		if g := whole(p, &expectGrammar, from, to, "step"); g != nil {
			if s.Mode, s.Value = g.Mode, p.expr(g.Value); g.Of.File {
				s.File = &Ident{p.tokens[g.Of.At].Span, p.text(g.Of.At)}
			} else {
				s.Name = name(g.Of.At)
			}
		}
	case "advance":
		if g := whole(p, &advanceGrammar, from, to, "step"); g != nil {
			s.Value = p.expr(g.Value)
		}
	case "restore":
		if from+1 == to {
			break
		}
		if g := whole(p, &restoreGrammar, from, to, "step"); g != nil {
			if s.Value = p.optExpr(g.Value); g.Parallelism {
				s.Mode = "parallelism"
				if s.Value == nil {
					p.report(&fault{code: P072, from: to, to: to, msg: "`restore parallelism` needs a number", help: "for example `restore parallelism 4`"}, to)
				}
			}
		}
	case "checkpoint", "rollback", "crash":
		if s.Verb != "crash" && from+1 < to && !(p.tokens[from+1].Kind == KindIdent && slices.Contains(testVerbs, p.tokens[from+1].Text)) {
			if g := whole(p, &verbValueGrammar, from, to, "step"); g != nil {
				s.Value = p.expr(g.Value)
			}
			break
		}
		if _, at, f := run(p, &verbGrammar, from, to); f == nil && at < to {
			p.errorAt(at, P072, "", "each step of a test starts on a new line, found %s", display(p.tokens[at]))
		}
	default:
		guess := didYouMean(s.Verb, testVerbs)
		help := ""
		if guess == "" {
			help = "steps are given, expect, advance, checkpoint, crash, restore and rollback; a value that spans lines stands in brackets"
		}
		p.errorAt(from, P072, help, "no step of a test starts with %s%s", display(p.tokens[from]), guess)
		return nil
	}
	return s
}
