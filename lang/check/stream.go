package check

import (
	"fmt"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// pipeline is a pipeline on its way: the stream that it becomes, and the rows behind its last stage so far.
type pipeline struct {
	stream *Stream
	rows   flow // after the stages so far; its node is the head's
	named  bool // a stream statement: there must be rows at the end
	ids    stageNames
	sides  sides
	ended  *syntax.Stage // the stage that ended it
	into   bool          // its rows went into another stream at its end
	pipes  string        // names of the pipes around the stage, as a prefix of its name
}

// streamStmt checks `stream NAME = …`.
func (c *checker) streamStmt(d *decl, s *syntax.Stream) {
	r := &pipeline{stream: &Stream{Name: d.name, Pos: c.place(s.Name.Span)}, named: true, ids: stageNames{}}
	c.head(r, s.Pipeline)
	c.stages(r, s.Pipeline.Stages)
	if r.ended != nil {
		return
	}
	d.flow = flow{node: Node{Stream: r.stream}, rows: r.rows.rows, ok: r.rows.ok}
	c.finish(r)
}

// pipelineStmt checks a bare pipeline.
func (c *checker) pipelineStmt(d *decl, s *syntax.PipelineStmt) {
	r := &pipeline{stream: &Stream{Name: c.unique(pipelineName(s.Pipeline)), Pos: c.place(s.Pipeline.Span)}, ids: stageNames{}}
	c.head(r, s.Pipeline)
	c.stages(r, s.Pipeline.Stages)
	if r.rows.ok && r.ended == nil {
		w := &Write{Name: r.stream.Name, From: r.node(), Schema: r.rows.rows.Schema, In: r.rows.rows, Pos: r.stream.Pos}
		if c.changeName(w, s.Pipeline.Span) {
			r.sides.writes = append(r.sides.writes, w)
		}
	}
	c.finish(r)
}

// node is the place that the rows at the end of the pipeline come from: the stream, or its head where there are no stages.
func (r *pipeline) node() Node {
	if len(r.stream.Stages) == 0 {
		return r.rows.node
	}
	return Node{Stream: r.stream}
}

// finish enters the stream and what hangs on it, unless something in it is wrong.
func (c *checker) finish(r *pipeline) {
	if !r.rows.ok {
		return
	}
	r.stream.Out = r.rows.rows
	if r.named || len(r.stream.Stages) > 0 || r.into {
		c.out.Streams = append(c.out.Streams, r.stream)
	}
	c.add(&r.sides)
}

// pipelineName is what a pipeline without a name is called: after what it reads and where its rows go.
func pipelineName(p *syntax.Pipeline) string {
	from, to := "", "print"
	if p.From != nil {
		from = p.From.Name
	} else {
		from = p.Input.Call.Name.Name
	}
	if n := len(p.Stages); n > 0 {
		switch last := p.Stages[n-1]; {
		case last.Target != nil && last.Target.Call != nil:
			to = last.Target.Call.Name.Name
		case last.Target != nil && last.Target.Name != nil:
			to = last.Target.Name.Name
		case last.Cases != nil:
			to = last.Name.Name
		}
	}
	return from + "/" + to
}

// head gives a pipeline its first rows.
func (c *checker) head(r *pipeline, p *syntax.Pipeline) {
	if p.Input != nil {
		r.rows = c.inline(p.Input)
	} else {
		r.rows = c.rowsOf(p.From)
	}
	r.stream.From = r.rows.node
}

// inline makes a source of a connector call.
func (c *checker) inline(in *syntax.Input) flow {
	s := c.input(in, c.unique(in.Call.Name.Name))
	if s == nil {
		return flow{}
	}
	c.read(s)
	return flow{node: Node{Source: s}, rows: s.Out, ok: true}
}

// read enters a source into the script: something reads it.
func (c *checker) read(s *Source) {
	if s.read {
		return
	}
	s.read = true
	c.out.Sources = append(c.out.Sources, s)
	c.add(&s.sides)
}

// rowsOf gives the rows of a stream or source by its name.
func (c *checker) rowsOf(name *syntax.Ident) flow {
	f := c.frame.file
	d := c.lookup(f, name.Name)
	if d == nil {
		c.unknownRows(name)
		return flow{}
	}
	switch d.kind {
	case "stream", "source":
		rows := c.resolve(d, f.src, name.Span)
		if rows.ok && rows.node.Source != nil {
			c.read(rows.node.Source)
		}
		return rows
	case "broken":
		return flow{}
	}
	help := "rows come from a stream, a source or a connector call"
	switch d.kind {
	case "sink":
		help = "a sink is only written; " + help
	case "pipe":
		help = "a pipe is a stage: write `orders |> " + d.name + "(…)`"
	}
	c.fault(name.Span, "N108", fmt.Sprintf("`%s` is %s and has no rows", d.name, d.what(f)), help)
	return flow{}
}

func (c *checker) unknownRows(name *syntax.Ident) {
	f := c.frame.file
	if c.lost(f, name.Name) {
		return
	}
	guess, help := didYouMean(name.Name, c.visible(f, "stream", "source")), c.hidden(f, name.Name)
	switch {
	case help != "":
		guess = ""
	case c.env.Conn(name.Name) != nil:
		help = "`" + name.Name + "` is a connector: write `" + name.Name + "(…)`"
	case guess == "":
		help = "rows come from a `stream`, a `source` or a connector call such as `csv(\"orders.csv\")`"
	}
	c.fault(name.Span, "N100", fmt.Sprintf("unknown stream or source `%s`%s", name.Name, guess), help)
}

// lost reports whether a statement of the main file that did not parse writes to a name.
func (c *checker) lost(f *unit, name string) bool {
	if f != c.order[0] {
		return false
	}
	if c.lostNames == nil {
		c.lostNames = map[string]bool{}
		tokens, _ := syntax.Lex(f.src)
		stmts := f.script.Stmts
		prev := ""
		for _, t := range tokens {
			if t.Trivia() {
				continue
			}
			for len(stmts) > 0 && stmts[0].Range().End.Offset <= t.Span.Start.Offset {
				stmts = stmts[1:]
			}
			inside := len(stmts) > 0 && stmts[0].Range().Start.Offset <= t.Span.Start.Offset
			if !inside && (prev == "into" || prev == "tee" || prev == "=>") && (t.Kind == syntax.KindIdent || t.Kind == syntax.KindQuoted) {
				c.lostNames[plainName(t)] = true
			}
			prev = t.Text
		}
	}
	return c.lostNames[name]
}

// stages checks the stages of a pipeline or pipe one after the other.
func (c *checker) stages(r *pipeline, list []*syntax.Stage) {
	for _, s := range list {
		if r.ended != nil {
			c.fault(s.Name.Span, "C310", fmt.Sprintf("nothing can follow `%s`, which ends the pipeline", r.ended.Name.Name), "`tee` writes the rows and lets them go on")
			return
		}
		c.stage(r, s)
	}
}

// feedsOf gives the rows of the further inputs of a stage, by their names or made from connector calls.
func (c *checker) feedsOf(items []*syntax.Item) (names []string, rows []flow) {
	for _, item := range items {
		if item.Input != nil {
			in := c.inline(item.Input)
			name := item.Input.Call.Name.Name
			if in.ok {
				name = in.node.Source.Name
			}
			names, rows = append(names, name), append(rows, in)
			continue
		}
		name, n := path(item.Expr)
		if n != 1 {
			c.fault(item.Span, "C306", "expected the name of a stream or source, found an expression", "give the rows a name first: `stream rows = …`")
			names, rows = append(names, ""), append(rows, flow{})
			continue
		}
		names = append(names, name)
		rows = append(rows, c.rowsOf(&syntax.Ident{Span: item.Span, Name: name}))
	}
	return names, rows
}

// keeps reports whether stages of a form leave the columns as they are, so that the stages behind a broken one can be checked.
func keeps(form types.ItemForm) bool {
	switch form {
	case types.Condition, types.Count, types.Fraction, types.Sink, types.StreamList:
		return true
	}
	return false
}
