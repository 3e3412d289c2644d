package syntax

import (
	"slices"
	"strings"
)

var (
	useGrammar   grammar[gUse]
	paramGrammar grammar[gParam]
	fnGrammar    grammar[gFn]
	pipeGrammar  grammar[gPipe]
	setGrammar   grammar[gSet]
	testGrammar  grammar[gTest]
)

// statement parses one statement and adds it to the script if nothing is wrong with it.
func (p *parser) statement(from, to int) {
	p.failed = p.damaged(from, to)
	first := p.tokens[from]
	if first.Kind != KindIdent && first.Kind != KindQuoted && p.inBracket {
		p.cut(from, to) // the rest of a statement whose bracket is not closed: it has had its diagnostic
		p.inBracket = true
		return
	}
	pieces := p.cut(from, to)
	head := pieces[0]
	word := p.keyword(from, to)
	var stmt Stmt
	switch word {
	case "pipe":
		stmt = p.pipe(pieces, to)
	case "stream":
		stmt = p.stream(pieces, to)
	case "":
		if p.startsStatement(from, head.to) {
			stmt = p.pipeline(pieces, to)
		} else {
			p.stages(pieces[1:], to)
		}
	default:
		if !head.broken {
			stmt = p.simple(word, head)
		}
		if len(pieces) > 1 {
			p.noStages(word, pieces[1])
			p.stages(pieces[1:], to)
		}
	}
	if !p.failed && stmt != nil {
		p.script.Stmts = append(p.script.Stmts, stmt)
		return
	}
	if word != "" && word != "use" && word != "set" && word != "test" && from+1 < to {
		if k := p.tokens[from+1].Kind; k == KindIdent || k == KindQuoted {
			p.script.Broken = append(p.script.Broken, p.ident(from+1))
		}
	}
}

// keyword is the word that a statement starts with, "" for a pipeline. Keywords are soft: a stream may be called `source`.
func (p *parser) keyword(from, to int) string {
	t := p.tokens[from]
	if t.Kind != KindIdent || !isStatement(t.Text) {
		return ""
	}
	if from+1 >= to {
		return t.Text
	}
	switch next := p.tokens[from+1]; {
	case next.Kind == KindPipe:
		return ""
	case next.Text == "(" && t.Text != "fn" && t.Text != "pipe":
		return ""
	}
	return t.Text
}

// simple parses the statements that have no stages.
func (p *parser) simple(word string, head piece) Stmt {
	from, to := head.from, head.to
	span := p.spanOf(from, to)
	switch word {
	case "use":
		if g := whole(p, &useGrammar, from, to, word); g != nil {
			return &Use{Span: span, Path: p.text(g.Path.At), PathAt: p.tokens[g.Path.At].Span}
		}
	case "param":
		if g := whole(p, &paramGrammar, from, to, word); g != nil {
			return &Param{Span: span, Name: p.ident(g.Name.At), Type: p.typ(&g.Type), Default: p.optExpr(g.Default)}
		}
	case "let":
		var e gExpr
		if g := p.define(&e, from, to, word); g != nil {
			return &Let{Span: span, Name: p.ident(g.Name.At), Expr: p.expr(e)}
		}
	case "fn":
		if g := whole(p, &fnGrammar, from, to, word); g != nil {
			return &Fn{Span: span, Name: p.ident(g.Name.At), Params: p.fields(g.Params.Fields), Body: p.expr(g.Body)}
		}
	case "source":
		var in gInput
		if g := p.define(&in, from, to, word); g != nil {
			return &SourceStmt{Span: span, Name: p.ident(g.Name.At), Input: p.input(&in, "the source")}
		}
	case "sink":
		var out gInput
		if g := p.define(&out, from, to, word); g != nil {
			in := p.input(&out, "the sink")
			for _, c := range out.Clauses {
				if c.Schema == nil {
					p.errorAt(c.From, P042, "", "a sink takes `schema {…}` and nothing else, found `%s`", p.tokens[c.From].Text)
				}
			}
			return &SinkStmt{Span: span, Name: p.ident(g.Name.At), Call: in.Call, Schema: in.Schema}
		}
	case "set":
		if g := whole(p, &setGrammar, from, to, word); g != nil {
			var parts []string
			for _, n := range g.Key {
				parts = append(parts, p.ident(n.At).Name)
			}
			first, last := g.Key[0].At, g.Key[len(g.Key)-1].At
			return &Set{Span: span, Key: Ident{Span: p.spanOf(first, last+1), Name: strings.Join(parts, ".")}, Value: p.expr(g.Value)}
		}
	case "test":
		return p.test(from, to)
	}
	return nil
}

func (p *parser) noStages(word string, at piece) {
	help := "name the stages in a statement of their own: `stream rows = …`"
	switch word {
	case "source", "sink":
		help = "a `" + word + "` takes no stages; put them into a stream: `stream clean = name |> …`"
	case "let", "fn", "param", "set":
		help = "stages make streams: `stream name = orders |> …`; inside an expression a single `|` is followed by a call"
	}
	p.errorAt(at.pipe, P041, help, "no stage can follow a `%s` statement", word)
}

// pipe parses `pipe NAME(…) = STAGES`; the first stage need not have a `|>` in front of it.
func (p *parser) pipe(pieces []piece, to int) Stmt {
	head := pieces[0]
	end := head.to
	depth := 0
	for i := head.from; i < head.to; i++ {
		t := p.tokens[i]
		if t.Kind == KindOpen {
			depth++
		} else if t.Kind == KindClose {
			depth--
		} else if t.Kind == KindAssign && depth == 0 {
			end = i + 1
			break
		}
	}
	var g *gPipe
	if !head.broken || depth == 0 && end < head.to {
		g = whole(p, &pipeGrammar, head.from, end, "pipe")
	}
	rest := pieces[1:]
	if end < head.to {
		rest = append([]piece{{pipe: -1, from: end, to: head.to, broken: head.broken}}, rest...)
	} else if len(rest) == 0 && g != nil {
		p.report(&fault{code: P051, from: to, to: to, msg: "the pipe has no stages", help: "for example `pipe recent(age: duration) = |> where at > now() - age`"}, to)
	}
	stages := p.stages(rest, to)
	if g == nil {
		return nil
	}
	return &Pipe{Span: p.spanOf(head.from, to), Name: p.ident(g.Name.At), Params: p.fields(g.Params.Fields), Stages: stages}
}

// stream parses `stream NAME = PIPELINE`.
func (p *parser) stream(pieces []piece, to int) Stmt {
	head := pieces[0]
	if head.broken {
		p.stages(pieces[1:], to)
		return nil
	}
	var from gHead
	g := gDefinition{of: &from}
	at, f := p.read(&g, head.from, head.to)
	if f != nil {
		p.report(f, head.to)
		p.stages(pieces[1:], to)
		return nil
	}
	pipeline := p.pipelineFrom(&from, at, pieces, to)
	return &Stream{Span: p.spanOf(head.from, to), Name: p.ident(g.Name.At), Pipeline: pipeline}
}

// pipeline parses a bare pipeline.
func (p *parser) pipeline(pieces []piece, to int) Stmt {
	head := pieces[0]
	if head.broken {
		p.stages(pieces[1:], to)
		return nil
	}
	var g gHead
	at, f := p.read(&g, head.from, head.to)
	if f != nil {
		p.report(f, head.to)
		p.stages(pieces[1:], to)
		return nil
	}
	return &PipelineStmt{Span: p.spanOf(head.from, to), Pipeline: p.pipelineFrom(&g, at, pieces, to)}
}

// pipelineFrom parses the rest of a pipeline, after its head, which ended at the token at.
func (p *parser) pipelineFrom(g *gHead, at int, pieces []piece, to int) *Pipeline {
	pl := &Pipeline{Span: p.spanOf(g.At, to)}
	if g.Input != nil {
		in := p.input(g.Input, "the source")
		pl.Input = &in
	} else {
		name := p.ident(g.At)
		pl.From = &name
	}
	if at < pieces[0].to {
		if again := p.strayHead(at, g, pieces[0]); again > 0 {
			pieces[0].from = again
			pl.Stages = append(pl.Stages, p.stages(pieces[:1], to)...)
		}
	}
	pl.Stages = append(pl.Stages, p.stages(pieces[1:], to)...)
	return pl
}

// startsStatement reports whether a pipeline may start here, and says what is wrong if not.
func (p *parser) startsStatement(from, to int) bool {
	t := p.tokens[from]
	next := Token{}
	if from+1 < to {
		next = p.tokens[from+1]
	}
	const list = "a statement starts with one of use, param, let, fn, pipe, source, sink, stream, set, test, or with the name of a stream"
	switch {
	case t.Kind == KindQuoted:
		return true
	case t.Kind == KindPipe:
		p.errorAt(from, P053, "write `csv(\"orders.csv\") |> …` or the name of a stream in front", "a pipeline cannot start with `|>`")
		return false
	case t.Text == ";":
		p.errorAt(from, P012, "a statement ends where the next one starts, at the left margin", "`;` does not end statements")
		return false
	case t.Text == "#" || t.Text == "-" && next.Text == "-" || t.Text == "%":
		p.errorAt(from, P037, "comments are written `// …` or `/* … */`", "no statement starts with %s", display(t))
		return false
	case t.Kind == KindClose:
		return false // the brackets had their diagnostic
	case t.Kind == KindString && from+1 < len(p.tokens) && p.tokens[from+1].Kind == KindPipe:
		p.errorAt(from, P037, nameConnector(t.Text), "no statement starts with %s", aKind(t))
		return false
	case t.Kind != KindIdent || isReserved(t.Text):
		help := list
		if len(p.script.Stmts)+len(p.diags.list) > 0 {
			help = "if the line continues the statement before it, indent it; " + list
		}
		p.errorAt(from, P037, help, "no statement starts with %s", aKind(t))
		return false
	case next.Kind == KindAssign:
		p.errorAt(from, P039, "write `stream "+t.Text+" = …` for rows, `let "+t.Text+" = …` for a constant", "`%s =` needs a keyword in front", shorten(t.Text))
		return false
	case next.Text == ":":
		p.errorAt(from, P039, "write `param "+t.Text+": …`", "`%s:` needs a keyword in front", shorten(t.Text))
		return false
	case next.Lead == LeadNone && next.Kind != KindPipe && next.Text != "|" && next.Kind != 0 && slices.Contains(sqlWords, strings.ToLower(t.Text)) && next.Text != "(":
		p.errorAt(from, P030, "a pipeline starts with the stream it reads: `orders |> where amount > 0 |> select id`", "`%s` starts no statement: this is no SQL", shorten(t.Text))
		return false
	case next.Lead != LeadNone && !isStageWord(t.Text):
		return true
	case next.Kind != KindIdent && next.Kind != KindQuoted && next.Kind != KindString:
		if isStageWord(t.Text) && next.Kind != 0 && (next.Kind.operand() || next.Text == "{") {
			break
		}
		return true
	case slices.Contains(inputWords, next.Text):
		return true
	}
	return p.unknownStatement(from, to, list)
}

func aKind(t Token) string {
	switch t.Kind {
	case KindString, KindRaw:
		return "a string"
	case KindNumber:
		return "a number"
	}
	return display(t)
}

var sqlWords = []string{"select", "from", "with", "insert", "create", "update", "delete"}

// unknownStatement reports a word that two words side by side start with and that no statement does.
func (p *parser) unknownStatement(from, to int, list string) bool {
	word := p.tokens[from].Text
	third := Token{}
	if from+2 < to {
		third = p.tokens[from+2]
	}
	defines := third.Kind == KindAssign || third.Text == ":" || third.Text == "("
	guess := Suggest(word, Statements)
	if guess != "" && (defines || guess == "use" || guess == "test" || guess == "set") {
		p.errorAt(from, P030, "", "unknown statement `%s`; did you mean `%s`?", shorten(word), guess)
		return false
	}
	if ours := statementSynonyms[word]; ours != "" && (defines || ours == "use") {
		p.errorAt(from, P030, "", "unknown statement `%s`; it is called `%s` here", word, ours)
		return false
	}
	if isStageWord(word) || slices.Contains(joinKinds, word) {
		p.errorAt(from, P050, "write `|> "+shorten(word)+"` after the stream it reads, for example `orders |> "+shorten(word)+" …`",
			"`%s` is a stage and has no `|>` in front", shorten(word))
		p.piece(nil, piece{pipe: -1, from: from, to: to})
		return false
	}
	if next := p.tokens[from+1]; !defines && next.Kind == KindIdent && (isStageWord(next.Text) || slices.Contains(joinKinds, next.Text)) {
		return true // `orders where …`: strayHead speaks of the lost `|>`
	}
	if stage := Suggest(word, stageWords); stage != "" && !defines {
		p.errorAt(from, P030, "`"+stage+"` is a stage: write `orders |> "+stage+" …`", "unknown statement `%s`", shorten(word))
		return false
	}
	p.errorAt(from, P030, list, "unknown statement `%s`", shorten(word))
	return false
}
