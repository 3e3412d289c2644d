package syntax

import "strings"

// stages parses the pieces after the head of a pipeline; end is the end of the statement.
func (p *parser) stages(pieces []piece, end int) []*Stage {
	out := make([]*Stage, 0, len(pieces))
	for i, pc := range pieces {
		if pc.broken {
			continue
		}
		if pc.from >= pc.to {
			p.empty(pc, i == len(pieces)-1)
			continue
		}
		out = p.piece(out, pc)
	}
	return out
}

// empty reports a `|>` with nothing behind it.
func (p *parser) empty(pc piece, last bool) {
	if pc.pipe < 0 {
		return
	}
	if last {
		p.errorAt(pc.pipe, P052, "take it away, or write the next stage behind it", "no stage follows the last `|>`")
		return
	}
	p.errorAt(pc.pipe, P051, "take one of them away", "there is no stage between this `|>` and the next")
}

// piece parses one stage, or several if a `|>` was forgotten, and adds them to out.
func (p *parser) piece(out []*Stage, pc piece) []*Stage {
	for from := pc.from; from < pc.to && !p.diags.full; {
		st, next := p.stage(from, pc.to)
		if st != nil {
			out = append(out, st)
		}
		from = next
	}
	return out
}

// stage parses one stage. It returns where the next one starts, which is before to only after a forgotten `|>`.
func (p *parser) stage(from, to int) (*Stage, int) {
	st := &Stage{Span: p.spanOf(from, to)}
	name, info, known := p.stageName(from, to)
	if !known && from+1 < to && p.tokens[from+1].Kind == KindComma {
		p.errorAt(from, P054, "a stage starts with its name, for example `|> select id, amount`", "`%s` is no stage%s", shorten(name), didYouMean(name, stageWords))
		return nil, to
	}
	g := gStage{args: info.form}
	end := to
	switch info.form {
	case formSplit, formPattern:
		if open := p.blockStart(from, to); open >= 0 {
			end = open
		}
	case formOpt:
		if !p.opensClause(from+1, to) && from+1 < to && p.tokens[from+1].Text != "{" {
			g.args = formItems
		}
	}
	at, f := p.read(&g, from, end)
	if f == nil {
		switch info.form {
		case formTarget:
			st.Target = p.target(g.Target)
		case formJoin, formUnion:
			st.Items = p.joinInputs(g.Inputs)
		case formCall:
			st.Call, st.Items = true, p.args(&g.Call)
		case formSplit, formPattern:
			if end == to {
				f = &fault{code: P073, from: at, to: at + 1, missing: true, msg: "`" + name + "` needs a block in braces", help: "for example `|> " + info.example + "`"}
			} else if at == end {
				at = p.block(st, name, end, to)
			}
		default:
			st.Items = p.items(&g.Items)
		}
	}
	if from < to {
		n := from + 1
		if t := p.tokens[from]; t.Kind == KindIdent {
			n += strings.Count(name, " ")
		}
		st.Name = Ident{Span: p.spanOf(from, n), Name: name}
	}
	if f != nil {
		p.report(f, to)
		next := p.nextLost(f.from+1, to)
		p.rest(f.from, next)
		return nil, next
	}
	st.Clauses = p.clauses(&g.Clauses, name, info)
	p.checkItems(st, info, known)
	if at < to {
		next := p.strayStage(at, from, to, name, info)
		if next < to {
			st.Span = p.spanOf(from, next)
		}
		return st, next
	}
	return st, to
}

// stageName looks up the name of the stage that starts here.
func (p *parser) stageName(from, to int) (string, stageForm, bool) {
	t := p.tokens[from]
	name := t.Text
	if t.Kind == KindQuoted {
		name = p.ident(from).Name
	} else if n := p.joinWords(from, to); n > 1 {
		words := []string{name}
		for _, t := range p.tokens[from+1 : from+n] {
			words = append(words, t.Text)
		}
		name = strings.Join(words, " ")
		return name, joinForm, true
	}
	info, known := stageForms[name]
	if t.Kind == KindQuoted {
		known = false
	}
	if !known {
		info = stageForm{form: formOpt, sorts: true}
		if from+1 < to && p.tokens[from+1].Text == "(" {
			info.form = formCall
		}
	}
	return name, info, known
}

// joinWords is the length of the name of a join that starts at a token, 1 if it is none.
func (p *parser) joinWords(from, to int) int {
	if p.tokens[from].Kind != KindIdent || isStageWord(p.tokens[from].Text) {
		return 1
	}
	return joinWords(func(i int) string {
		if from+i < to && p.tokens[from+i].Kind == KindIdent {
			return p.tokens[from+i].Text
		}
		return ""
	})
}

// opensClause reports whether a token is a label and no name.
func (p *parser) opensClause(i, to int) bool {
	return i < to && p.tokens[i].Kind == KindIdent && isLabel(p.tokens[i].Text) && !(i+1 < to && p.tokens[i+1].Kind == KindAssign)
}

// rest looks for further mistakes behind one: from the next comma or label on. The stage is lost, so nothing is built.
func (p *parser) rest(from, to int) {
	depth := 0
	for i := from; i < to && !p.diags.full; i++ {
		t := p.tokens[i]
		switch {
		case t.Kind == KindOpen:
			depth++
		case t.Kind == KindClose:
			depth = max(depth-1, 0)
		case depth > 0 || i == from:
		case t.Kind == KindComma && i+1 < to, p.opensClause(i, to) && p.tokens[i-1].Kind != KindComma && p.tokens[i-1].Kind != KindOp:
			comma := t.Kind == KindComma
			if comma {
				i++
			}
			at, f := p.read(&gRest{}, i, to)
			if f == nil {
				// Of what may stand here only another lost comma is sure to be a mistake of its own.
				if at >= to || p.tokens[at].Lead != LeadNone || p.tokens[at].Kind != KindIdent || p.tokens[at-1].Kind == KindComma || p.opensClause(at-1, to) || isReserved(p.tokens[at].Text) || !comma {
					return
				}
				p.errorAt(at, P055, "two values need a comma or an operator between them", "missing `,` before %s", display(p.tokens[at]))
			} else {
				p.report(f, to)
				at = min(f.from, at)
			}
			i = max(i, at) - 1
			from = i + 1
		}
	}
}

func (p *parser) items(list *gItems) []*Item {
	out := make([]*Item, len(list.List))
	made := make([]Item, len(list.List))
	for i := range list.List {
		g, item := &list.List[i], &made[i]
		*item = Item{Span: p.spanOf(g.From, g.To), Expr: p.expr(g.Expr)}
		if g.Name != none {
			name := p.ident(g.Name)
			item.Name = &name
		}
		if g.Order != none {
			item.Order = p.tokens[g.Order].Text
		}
		out[i] = item
	}
	return out
}

func (p *parser) joinInputs(gs []gJoinInput) []*Item {
	var out []*Item
	for i := range gs {
		g := &gs[i]
		item := &Item{Span: p.spanOf(g.From, g.To)}
		if g.Input != nil {
			in := p.input(g.Input, "the source")
			item.Input = &in
			item.Expr = p.exprOf(g.Input.Call.From, g.Input.Call.To)
		} else {
			item.Expr = p.expr(g.Expr)
		}
		out = append(out, item)
	}
	return out
}

// checkItems finds fault with the arguments of a stage as far as the grammar knows it.
func (p *parser) checkItems(st *Stage, info stageForm, known bool) {
	if !known {
		return
	}
	for _, item := range st.Items {
		if info.unnamed && item.Name != nil {
			p.notComparing(item, "`"+st.Name.Name+"` takes no names with `=`", st.Name.Name == "where" || st.Name.Name == "assert")
		}
		if item.Order != "" {
			p.errorSpan(item.Span, P065, "the order belongs to the clause `by`, for example `sort by amount desc`", "`%s` cannot stand here", item.Order)
		}
	}
	if info.max > 0 && len(st.Items) > info.max {
		extra := st.Items[info.max]
		help := ""
		switch st.Name.Name {
		case "where", "assert":
			help = "conditions are joined with `and`"
		}
		p.errorSpan(extra.Span, P055, help, "`%s` takes one expression, found another", st.Name.Name)
	}
}

// notComparing reports a `NAME =` where no name can be given; where a condition stands, `==` was meant.
func (p *parser) notComparing(item *Item, msg string, condition bool) {
	help := ""
	if condition {
		msg, help = "`=` does not compare", "a comparison is written `==`"
	}
	p.errorAt(p.indexOf(item.Name.Start)+1, P058, help, "%s", msg)
}
