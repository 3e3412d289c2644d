package syntax

import "slices"

// group is a part of a statement that stands in one line or is broken in front of each of its points. It is broken where it
// was: a line break in front of one point is a wish for all of them. Else it is broken if it does not fit.
type group struct {
	kind     groupKind
	from, to int
	upto     int   // what must fit ends here: in front of a block, which is broken anyway
	points   []int // ascending
	few      [4]int
	kids     []*group
	soft     bool // broken only where it was: breaking it would gain nothing
	row      bool // a record in a list: it may be wider
	indent   int  // of groupLines: of the lines of its points
	widest   int  // the longest token
}

type groupKind uint8

const (
	groupLines groupKind = iota // stages and clauses: points are indented by a number of columns
	groupItems                  // items of a stage: points stand under the first item
	groupList                   // in brackets: points are indented, the last is the closing bracket
	groupBlock                  // the same, always broken
	groupOps                    // operators of an expression: points stand under its beginning
	groupNext                   // `let a = …; b`: points stand under its beginning
	groupElse                   // a chain of choices: each `:` stands so that the conditions are aligned
)

// newGroup is a group of the tokens from..to-1.
func (f *formatter) newGroup(kind groupKind, from, to int) *group {
	if len(f.spare) == 0 {
		f.spare = make([]group, 64)
	}
	g := &f.spare[0]
	f.spare = f.spare[1:]
	*g = group{kind: kind, from: from, to: to, upto: to}
	g.points = g.few[:0]
	return g
}

// groups finds the groups of a statement, and the blanks between its tokens.
func (f *formatter) groups(u unit) []*group {
	f.grammarBlanks(u.from, u.to)
	var kids []*group
	add := func(gs ...*group) { kids = append(kids, gs...) }
	switch s := u.stmt.(type) {
	case *Param:
		add(f.types(s.Type.Span)...)
		add(f.expr(s.Default)...)
	case *Let:
		add(f.expr(s.Expr)...)
	case *Fn:
		add(f.params(u)...)
		add(f.expr(s.Body)...)
	case *Pipe:
		add(f.stages(u, s.Stages, f.params(u))...)
	case *SourceStmt:
		add(f.input(&s.Input, u.to, step)...)
	case *SinkStmt:
		add(f.input(&Input{Call: s.Call, Schema: s.Schema}, u.to, step)...)
	case *Stream:
		add(f.pipeline(u, s.Pipeline)...)
	case *PipelineStmt:
		add(f.pipeline(u, s.Pipeline)...)
	case *Set:
		add(f.expr(s.Value)...)
	case *Test:
		add(f.testBlock(u, s))
	}
	f.measure(u, kids)
	return kids
}

// findBrackets finds the other half of each bracket. It reports false if one has none.
func (f *formatter) findBrackets(u unit) bool {
	var open []int
	for i := u.from; i < u.to; i++ {
		switch f.tokens[i].Kind {
		case KindOpen:
			open = append(open, i)
		case KindClose:
			n := len(open) - 1
			if n < 0 { // what a broken statement before this one had opened
				return false
			}
			f.match[i], f.match[open[n]] = open[n], i
			open = open[:n]
		}
	}
	return len(open) == 0
}

func (f *formatter) rangeOf(s Span) (from, to int) { return f.indexOf(s.Start), f.indexOf(s.End) }

// pipeline finds the groups of a pipeline: its stages, and what is in its head.
func (f *formatter) pipeline(u unit, p *Pipeline) []*group {
	var head []*group
	if p.Input != nil {
		end := u.to
		if len(p.Stages) > 0 {
			end, _ = f.rangeOf(p.Stages[0].Span)
			end--
		}
		head = f.input(p.Input, end, step)
	}
	return f.stages(u, p.Stages, head)
}

// stages makes the group of a run of stages, which are broken at each `|>`.
func (f *formatter) stages(u unit, stages []*Stage, head []*group) []*group {
	g := f.newGroup(groupLines, u.from, u.to)
	g.kids, g.indent = head, step
	for _, s := range stages {
		from, to := f.rangeOf(s.Span)
		if f.tokens[from-1].Kind == KindPipe {
			g.points = append(g.points, from-1)
		}
		kids := f.stage(s, from, to)
		if n := len(kids); n > 0 {
			if last := kids[n-1]; last.kind == groupBlock {
				g.upto = last.from + 1
			} else if m := len(last.kids); m > 0 && last.kids[m-1].kind == groupBlock {
				g.upto = last.kids[m-1].from + 1
			}
		}
		g.kids = append(g.kids, kids...)
	}
	if len(g.points) == 0 {
		return g.kids
	}
	return []*group{g}
}

// stage finds the groups of one stage. It is broken at the labels of its clauses.
func (f *formatter) stage(s *Stage, from, to int) []*group {
	g := f.newGroup(groupLines, from, to)
	g.indent = len("|> ")
	first := true // a first clause behind the name stays there
	if s.Call {
		open := f.indexOf(s.Name.End)
		f.exprBlanks(from, f.match[open]+1)
		g.kids = append(g.kids, f.list(open))
		first = false
	} else if len(s.Items) > 0 {
		g.kids = append(g.kids, f.items(s.Items)...)
		first = false
	}
	if s.Target != nil {
		kids, schema := f.target(s.Target)
		g.kids = append(g.kids, kids...)
		if schema >= 0 {
			g.points = append(g.points, schema)
		}
		first = false
	}
	for _, c := range s.Clauses {
		at, _ := f.rangeOf(c.Span)
		if !first && c.Label != "as" { // the name of what is joined stays with it
			g.points = append(g.points, at)
		}
		first = false
		g.kids = append(g.kids, f.clause(c)...)
	}
	if block := f.block(s, to); block != nil {
		g.kids = append(g.kids, block)
		g.upto = block.from + 1
	}
	if len(g.points) == 0 {
		return g.kids
	}
	return []*group{g}
}

func (f *formatter) clause(c *Clause) []*group {
	var kids []*group
	at, end := f.rangeOf(c.Span)
	switch {
	case c.Name != nil:
	case c.Call != nil, c.Label == "within":
		kids = f.exprRange(at+1, end)
	case len(c.Items) > 0:
		kids = f.items(c.Items)
	case c.Target != nil:
		kids, _ = f.target(c.Target)
	}
	return append(kids, f.expr(c.Every)...)
}

// items makes the group of a list of items, which are broken at each, and aligned at their `=`.
func (f *formatter) items(items []*Item) []*group {
	from, _ := f.rangeOf(items[0].Span)
	_, to := f.rangeOf(items[len(items)-1].Span)
	g := f.newGroup(groupItems, from, to)
	for i, item := range items {
		at, end := f.rangeOf(item.Span)
		if i > 0 {
			g.points = append(g.points, at)
		}
		if item.Input != nil {
			g.kids = append(g.kids, f.input(item.Input, end, step+len("|> "))...)
		} else {
			g.kids = append(g.kids, f.expr(item.Expr)...)
		}
	}
	if len(g.points) == 0 {
		return g.kids
	}
	return []*group{g}
}

// target finds the groups of a target, and where its schema starts, -1 without one.
func (f *formatter) target(t *Target) ([]*group, int) {
	if t.Call == nil {
		return nil, -1
	}
	kids, schema := f.call(t.Call), -1
	if t.Schema != nil {
		from, _ := f.rangeOf(t.Schema.Span)
		schema = from - 1
		kids = append(kids, f.types(t.Schema.Span)...)
	}
	return kids, schema
}

func (f *formatter) call(c *Call) []*group {
	from, to := f.rangeOf(c.Span)
	return f.exprRange(from, to)
}

// input finds the groups of a connector call with its clauses, which are broken at each.
func (f *formatter) input(in *Input, to, indent int) []*group {
	from, _ := f.rangeOf(in.Call.Span)
	g := f.newGroup(groupLines, from, to)
	g.indent = indent
	// The clauses stand in any order.
	type part struct {
		at   int
		kids []*group
	}
	var parts []part
	if in.Schema != nil {
		at, _ := f.rangeOf(in.Schema.Span)
		parts = append(parts, part{at - 1, f.types(in.Schema.Span)})
	}
	if t := in.Time; t != nil {
		at, _ := f.rangeOf(t.Span)
		kids := f.expr(t.Expr)
		// So do `lag` and `idle`.
		lag, idle := f.expr(t.Lag), f.expr(t.Idle)
		if t.Lag != nil && t.Idle != nil && t.Idle.Start.Offset < t.Lag.Start.Offset {
			lag, idle = idle, lag
		}
		parts = append(parts, part{at, append(append(kids, lag...), idle...)})
	}
	if len(in.Key) > 0 {
		at, _ := f.rangeOf(in.Key[0].Span)
		parts = append(parts, part{at - 1, nil})
	}
	if in.OnError != nil {
		at, _ := f.rangeOf(in.OnError.Span)
		parts = append(parts, part{at, f.clause(in.OnError)})
	}
	slices.SortFunc(parts, func(a, b part) int { return a.at - b.at })
	g.kids = f.call(in.Call)
	for _, p := range parts {
		g.points = append(g.points, p.at)
		g.kids = append(g.kids, p.kids...)
	}
	if len(g.points) == 0 {
		return g.kids
	}
	return []*group{g}
}

// block makes the group of the block of a split or pattern, nil if there is none.
func (f *formatter) block(s *Stage, to int) *group {
	if len(s.Cases)+len(s.Steps) == 0 {
		return nil
	}
	end := to - 1
	g := f.newGroup(groupBlock, f.match[end], to)
	for _, c := range s.Cases {
		at, _ := f.rangeOf(c.Span)
		g.points = append(g.points, at)
		g.kids = append(g.kids, f.expr(c.When)...)
		kids, _ := f.target(c.Target)
		g.kids = append(g.kids, kids...)
	}
	for _, s := range s.Steps {
		at, _ := f.rangeOf(s.Span)
		g.points = append(g.points, at)
		g.kids = append(g.kids, f.expr(s.Cond)...)
		g.kids = append(g.kids, f.expr(s.Min)...)
		if s.Max != nil && s.Max != s.Min {
			g.kids = append(g.kids, f.expr(s.Max)...)
		}
		g.kids = append(g.kids, f.expr(s.For)...)
	}
	g.points = append(g.points, end)
	return g
}

// testBlock makes the group of the steps of a test. Outside of brackets a step is one line.
func (f *formatter) testBlock(u unit, t *Test) *group {
	end := u.to - 1
	g := f.newGroup(groupBlock, f.match[end], u.to)
	if len(t.Steps) == 0 {
		f.blank[end] = false
		g.kind, g.soft = groupList, true
	}
	for _, s := range t.Steps {
		at, _ := f.rangeOf(s.Span)
		g.points = append(g.points, at)
		if s.Value != nil {
			from, to := f.rangeOf(s.Value.Span)
			f.exprBlanks(from, to)
			g.kids = append(g.kids, f.brackets(from, to)...)
		}
	}
	g.points = append(g.points, end)
	return g
}

// params finds the groups of the parameters of a fn or pipe.
func (f *formatter) params(u unit) []*group {
	open := u.from + 2
	f.blank[open] = false
	f.typeBlanks(open, f.match[open]+1)
	return []*group{f.list(open)}
}

// types finds the groups of a type or schema.
func (f *formatter) types(s Span) []*group {
	from, to := f.rangeOf(s)
	f.typeBlanks(from, to)
	return f.brackets(from, to)
}

func (f *formatter) expr(e *Expr) []*group {
	if e == nil {
		return nil
	}
	from, to := f.rangeOf(e.Span)
	return f.exprRange(from, to)
}

func (f *formatter) exprRange(from, to int) []*group {
	f.exprBlanks(from, to)
	return f.operators(from, to)
}
