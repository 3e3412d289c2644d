package lint

import (
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// mentions is what the statements of a script name.
type mentions struct {
	words   map[string]bool                  // constants and functions, in expressions
	rows    map[string]bool                  // streams and sources that are read
	pipes   map[string]bool                  // that are called
	targets []*syntax.Ident                  // names that rows go into, in the order of the text
	lost    map[string]int                   // of a script that does not parse: how often each name stands in it
	idle    []idle                           // parameters that their fn or pipe does not name
	columns []naming                         // by offset: what the names in expressions stand for
	around  map[*syntax.Expr]map[string]bool // the parameters of the fn or pipe that an expression stands in: whether they are used
}

// idle is a parameter that is not used.
type idle struct {
	param *syntax.FnParam
	of    string
}

// mentioned looks through the script.
func (s *Script) mentioned() *mentions {
	if s.names != nil {
		return s.names
	}
	m := &mentions{words: map[string]bool{}, rows: map[string]bool{}, pipes: map[string]bool{}, columns: s.columnNames(), around: map[*syntax.Expr]map[string]bool{}}
	for _, stmt := range s.Tree.Stmts {
		switch stmt := stmt.(type) {
		case *syntax.Param:
			m.expr(stmt.Default, nil)
		case *syntax.Let:
			m.expr(stmt.Expr, nil)
		case *syntax.Fn:
			own := map[string]bool{}
			m.expr(stmt.Body, named(stmt.Params, own))
			m.params(stmt.Params, own, stmt.Name.Name)
		case *syntax.Pipe:
			own := map[string]bool{}
			m.stages(stmt.Stages, named(stmt.Params, own))
			m.params(stmt.Params, own, stmt.Name.Name)
		case *syntax.SourceStmt:
			m.input(&stmt.Input, nil)
		case *syntax.SinkStmt:
			m.call(stmt.Call, nil)
		case *syntax.Stream:
			m.pipeline(stmt.Pipeline)
		case *syntax.PipelineStmt:
			m.pipeline(stmt.Pipeline)
		case *syntax.Set:
			m.expr(stmt.Value, nil)
		case *syntax.Test:
			for _, step := range stmt.Steps {
				if step.Name != nil {
					m.rows[step.Name.Name] = true
				}
				m.expr(step.Value, nil)
			}
		}
	}
	s.names = m
	return m
}

// named enters parameters, none of which is used so far.
func named(params []*syntax.FnParam, own map[string]bool) map[string]bool {
	for _, p := range params {
		own[p.Name.Name] = false
	}
	return own
}

func (m *mentions) params(list []*syntax.FnParam, own map[string]bool, of string) {
	for _, p := range list {
		if !own[p.Name.Name] {
			m.idle = append(m.idle, idle{p, of})
		}
	}
}

func (m *mentions) pipeline(p *syntax.Pipeline) {
	if p == nil {
		return
	}
	if p.From != nil {
		m.rows[p.From.Name] = true
	}
	m.input(p.Input, nil)
	m.stages(p.Stages, nil)
}

func (m *mentions) input(in *syntax.Input, own map[string]bool) {
	if in == nil {
		return
	}
	m.call(in.Call, own)
	if in.Time != nil {
		m.expr(in.Time.Expr, own)
		m.expr(in.Time.Lag, own)
		m.expr(in.Time.Idle, own)
	}
	if in.OnError != nil {
		m.target(in.OnError.Target, own)
	}
}

func (m *mentions) call(c *syntax.Call, own map[string]bool) {
	if c != nil {
		m.items(c.Args, own)
	}
}

func (m *mentions) items(list []*syntax.Item, own map[string]bool) {
	for _, it := range list {
		if it.Input != nil {
			m.input(it.Input, own)
		} else {
			m.expr(it.Expr, own)
		}
	}
}

func (m *mentions) target(t *syntax.Target, own map[string]bool) {
	if t == nil {
		return
	}
	if t.Name != nil {
		m.targets = append(m.targets, t.Name)
	}
	m.call(t.Call, own)
}

func (m *mentions) stages(list []*syntax.Stage, own map[string]bool) {
	for _, s := range list {
		if s.Call {
			m.pipes[s.Name.Name] = true
		}
		m.items(s.Items, own)
		if word := s.Name.Name; word == "union" || strings.HasSuffix(word, "join") {
			for _, it := range s.Items {
				if it.Input == nil && it.Expr != nil && len(it.Expr.Tokens) == 1 {
					m.rows[tokenName(it.Expr.Tokens[0])] = true
				}
			}
		}
		m.target(s.Target, own)
		for _, c := range s.Clauses {
			m.items(c.Items, own)
			m.call(c.Call, own)
			m.expr(c.Every, own)
			m.target(c.Target, own)
		}
		for _, c := range s.Cases {
			m.expr(c.When, own)
			m.target(c.Target, own)
		}
		for _, st := range s.Steps {
			m.expr(st.Cond, own)
			m.expr(st.Min, own)
			m.expr(st.Max, own)
			m.expr(st.For, own)
		}
	}
}

// expr enters the words of an expression. own are the parameters of the fn or pipe around it.
func (m *mentions) expr(e *syntax.Expr, own map[string]bool) {
	if e == nil {
		return
	}
	if own != nil {
		m.around[e] = own
	}
	for i, t := range e.Tokens {
		if t.Kind != syntax.KindIdent && t.Kind != syntax.KindQuoted {
			continue
		}
		if i > 0 {
			before := e.Tokens[i-1].Text
			field := before == "." || before == "?."
			label := (before == "{" || before == "," || before == "(") && i+1 < len(e.Tokens) && e.Tokens[i+1].Text == ":"
			if field || label {
				continue
			}
		}
		name := tokenName(t)
		if _, param := own[name]; param {
			own[name] = true
		} else if m.columns[t.Span.Start.Offset] != column {
			m.words[name] = true
		}
	}
}

// naming is what a name in an expression stands for.
type naming uint8

const (
	unnamed naming = iota // no expression that is right names it
	column                // a column, at every use
	other
)

// columnNames finds what the names in expressions stand for, by their offset in the text.
func (s *Script) columnNames() []naming {
	all := make([]naming, len(s.Tree.Source.Text))
	for _, uses := range s.uses() {
		for _, r := range uses {
			for _, name := range r.names() {
				at := &all[name.Span.Start.Offset]
				if x := name.is; x.Op == types.OpCol && x.Col >= 0 && *at != other {
					*at = column
				} else {
					*at = other
				}
			}
		}
	}
	return all
}
