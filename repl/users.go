package repl

import (
	"slices"

	"github.com/ebb-lang/ebb/lang/syntax"
)

// users returns what the statements define that use a name, directly or through each other.
func (s *script) users(name string) []string {
	if name == "" {
		return nil
	}
	uses := map[string]map[string]bool{} // what → the names it speaks of
	for _, x := range s.stmts {
		tree, _ := syntax.Parse(typedName, x.text)
		names := map[string]bool{}
		for _, stmt := range tree.Stmts {
			speaks(stmt, names)
		}
		uses[x.what] = names
	}
	var out []string
	todo := []string{name}
	for len(todo) > 0 {
		n := todo[0]
		todo = todo[1:]
		for _, x := range s.stmts {
			if x.name != name && uses[x.what][n] && !slices.Contains(out, x.what) {
				out = append(out, x.what)
				if x.name != "" {
					todo = append(todo, x.name)
				}
			}
		}
	}
	return out
}

// speaks collects the names that a statement may take from others. A column that is called like one counts, too: nothing
// but a message depends on it.
func speaks(stmt syntax.Stmt, names map[string]bool) {
	expr := func(e *syntax.Expr) {
		if e == nil {
			return
		}
		for i, t := range e.Tokens {
			if t.Kind == syntax.KindIdent && (i == 0 || e.Tokens[i-1].Text != ".") {
				names[t.Text] = true
			}
		}
	}
	items := func(list []*syntax.Item) {
		for _, it := range list {
			expr(it.Expr)
		}
	}
	target := func(t *syntax.Target) {
		switch {
		case t == nil:
		case t.Name != nil:
			names[t.Name.Name] = true
		case t.Call != nil:
			items(t.Call.Args)
		}
	}
	clauses := func(list []*syntax.Clause) {
		for _, c := range list {
			items(c.Items)
			expr(c.Every)
			target(c.Target)
			if c.Call != nil {
				items(c.Call.Args)
			}
		}
	}
	stages := func(list []*syntax.Stage) {
		for _, g := range list {
			if g.Call {
				names[g.Name.Name] = true
			}
			items(g.Items)
			clauses(g.Clauses)
			target(g.Target)
			for _, c := range g.Cases {
				expr(c.When)
				target(c.Target)
			}
			for _, p := range g.Steps {
				expr(p.Cond)
				expr(p.For)
			}
		}
	}
	input := func(in *syntax.Input) {
		if in == nil || in.Call == nil {
			return
		}
		items(in.Call.Args)
		if in.Time != nil {
			expr(in.Time.Expr)
			expr(in.Time.Lag)
			expr(in.Time.Idle)
		}
		if in.OnError != nil {
			clauses([]*syntax.Clause{in.OnError})
		}
	}
	switch x := stmt.(type) {
	case *syntax.Param:
		expr(x.Default)
	case *syntax.Let:
		expr(x.Expr)
	case *syntax.Fn:
		expr(x.Body)
	case *syntax.Pipe:
		stages(x.Stages)
	case *syntax.SourceStmt:
		input(&x.Input)
	case *syntax.SinkStmt:
		items(x.Call.Args)
	case *syntax.Set:
		expr(x.Value)
	case *syntax.Test:
		for _, t := range x.Steps {
			expr(t.Value)
			if t.Name != nil {
				names[t.Name.Name] = true
			}
		}
	}
	if p := pipelineOf(stmt); p != nil {
		if p.From != nil {
			names[p.From.Name] = true
		}
		input(p.Input)
		stages(p.Stages)
	}
}
