package langserver

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
)

// role is what a word of a script is.
type role uint8

// The roles. Those up to Field are names of the script, the others words of the language.
const (
	roleDefine    role = iota // the name in a statement, or of a parameter
	roleRows                  // a stream or source that is read
	roleTarget                // a stream or sink that is written
	rolePipe                  // a pipe that is called
	roleValue                 // in an expression: a column, a constant, a parameter
	roleCall                  // a function that is called
	roleNewColumn             // the name that an item gives a column
	roleRowField              // a column in the rows of a test
	roleField                 // of a record
	roleKeyword
	roleStage
	roleClause
	roleConnector
	roleOption
	roleWindow
	roleType
)

// word is one word of a script.
type word struct {
	role role
	name string
	at   syntax.Span
	in   *around
	own  *symbol // what it defines
	conn string  // of an option: its connector
}

// around is where a word stands: what it may name besides the names of the script.
type around struct {
	file   *file
	params map[string]*symbol // of the fn or pipe
	run    *run               // the pipeline; nil: no rows are at hand
	stage  int                // in run
	item   int                // of a derive: it sees the columns of the items before it
	steps  []*syntax.Step     // of a pattern: it sees the steps before it
	stream string             // of a row field: the stream or source whose rows they are
}

// run is a pipeline, a source, or the stages of a pipe.
type run struct {
	file   *file
	from   *syntax.Ident
	input  *syntax.Input
	name   syntax.Span // where what has no better place is defined
	stages []*syntax.Stage
}

// symbol is what names stand for. One symbol is one pointer, within one index.
type symbol struct {
	kind  string // the keyword of its statement, "parameter" or "column"
	name  string
	file  *file
	at    syntax.Span // of the name
	stmt  syntax.Stmt // that defines it, or in which it is defined
	run   *run        // of a stream or a source: its rows
	fixed string      // why it cannot have another name
}

// file is a script that an index knows.
type file struct {
	path string
	tree *syntax.Script
	uses []string // paths
}

// words are in the order of the text.
type words []*word

// at returns the word at an offset, or that ends there; nil if there is none.
func (w words) at(offset int) *word {
	i := sort.Search(len(w), func(i int) bool { return w[i].at.End.Offset >= offset })
	if i+1 < len(w) && w[i+1].at.Start.Offset == offset {
		i++
	}
	if i < len(w) && w[i].at.Start.Offset <= offset {
		return w[i]
	}
	return nil
}

// reading collects the words of a file.
type reading struct {
	file *file
	out  words
	in   *around
}

// wordsOf reads a file.
func wordsOf(f *file) words {
	r := &reading{file: f, in: &around{file: f}}
	for _, s := range f.tree.Stmts {
		if s != nil {
			r.statement(s)
		}
	}
	slices.SortStableFunc(r.out, func(a, b *word) int { return cmp.Compare(a.at.Start.Offset, b.at.Start.Offset) })
	return r.out
}

func (r *reading) add(k role, name string, at syntax.Span) *word {
	w := &word{role: k, name: name, at: at, in: r.in}
	r.out = append(r.out, w)
	return w
}

// lead adds the word at the beginning of a span.
func (r *reading) lead(k role, name string, at syntax.Span) {
	end := at.Start
	end.Offset, end.Column = end.Offset+len(name), end.Column+len(name)
	if r.file.tree.Source.Text[at.Start.Offset:min(end.Offset, len(r.file.tree.Source.Text))] == name {
		r.add(k, name, syntax.Span{Start: at.Start, End: end})
	}
}

// within reads with other surroundings.
func (r *reading) within(in around, f func()) {
	was := r.in
	in.file = r.file
	if in.params == nil {
		in.params = was.params
	}
	r.in = &in
	f()
	r.in = was
}

// define adds the name of a statement.
func (r *reading) define(kind string, id syntax.Ident, stmt syntax.Stmt, rows *run) {
	r.add(roleDefine, id.Name, id.Span).own = &symbol{kind: kind, name: id.Name, file: r.file, at: id.Span, stmt: stmt, run: rows}
}

func (r *reading) statement(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.Use:
		r.lead(roleKeyword, "use", s.Span)
	case *syntax.Param:
		r.lead(roleKeyword, "param", s.Span)
		r.define("param", s.Name, s, nil)
		r.typ(s.Type)
		r.expr(s.Default)
	case *syntax.Let:
		r.lead(roleKeyword, "let", s.Span)
		r.define("let", s.Name, s, nil)
		r.expr(s.Expr)
	case *syntax.Fn:
		r.lead(roleKeyword, "fn", s.Span)
		r.define("fn", s.Name, s, nil)
		r.within(around{params: r.params(s.Params, s)}, func() { r.expr(s.Body) })
	case *syntax.Pipe:
		r.lead(roleKeyword, "pipe", s.Span)
		r.define("pipe", s.Name, s, nil)
		r.within(around{params: r.params(s.Params, s)}, func() {
			r.stages(&run{file: r.file, name: s.Name.Span, stages: s.Stages})
		})
	case *syntax.SourceStmt:
		r.lead(roleKeyword, "source", s.Span)
		rows := &run{file: r.file, input: &s.Input, name: s.Name.Span}
		r.define("source", s.Name, s, rows)
		r.input(&s.Input, rows)
	case *syntax.SinkStmt:
		r.lead(roleKeyword, "sink", s.Span)
		r.define("sink", s.Name, s, nil)
		r.call(s.Call)
		r.schema(s.Schema)
	case *syntax.Stream:
		r.lead(roleKeyword, "stream", s.Span)
		r.define("stream", s.Name, s, r.pipeline(s.Pipeline, s.Name.Span))
	case *syntax.PipelineStmt:
		r.pipeline(s.Pipeline, s.Span)
	case *syntax.Set:
		r.lead(roleKeyword, "set", s.Span)
		r.add(roleOption, s.Key.Name, s.Key.Span)
		r.expr(s.Value)
	case *syntax.Test:
		r.lead(roleKeyword, "test", s.Span)
		for _, step := range s.Steps {
			r.lead(roleClause, step.Verb, step.Span)
			if step.Name != nil {
				r.add(roleRows, step.Name.Name, step.Name.Span)
			}
			if step.Value != nil && step.Name != nil {
				r.within(around{stream: step.Name.Name}, func() { r.expr(step.Value) })
			} else {
				r.expr(step.Value)
			}
		}
	}
}

func (r *reading) params(list []*syntax.FnParam, stmt syntax.Stmt) map[string]*symbol {
	params := map[string]*symbol{}
	for _, p := range list {
		own := &symbol{kind: "parameter", name: p.Name.Name, file: r.file, at: p.Name.Span, stmt: stmt}
		r.add(roleDefine, p.Name.Name, p.Name.Span).own = own
		params[p.Name.Name] = own
		r.typ(p.Type)
	}
	return params
}

func (r *reading) typ(t *syntax.TypeExpr) {
	switch {
	case t == nil:
	case t.Name != "":
		r.lead(roleType, t.Name, t.Span)
	case t.Elem != nil:
		r.typ(t.Elem)
	case t.Record != nil:
		r.schema(t.Record)
	}
}

func (r *reading) schema(s *syntax.SchemaExpr) {
	if s == nil {
		return
	}
	for _, f := range s.Fields {
		r.add(roleField, f.Name.Name, f.Name.Span)
		r.typ(f.Type)
	}
}

func (r *reading) input(in *syntax.Input, rows *run) {
	r.call(in.Call)
	if in.Schema != nil {
		for _, f := range in.Schema.Fields {
			r.add(roleNewColumn, f.Name.Name, f.Name.Span)
			r.typ(f.Type)
		}
	}
	r.within(around{run: rows}, func() {
		if in.Time != nil {
			r.lead(roleClause, "time", in.Time.Span)
			r.expr(in.Time.Expr)
			r.expr(in.Time.Lag)
			r.expr(in.Time.Idle)
		}
		for _, k := range in.Key {
			r.add(roleValue, k.Name, k.Span)
		}
	})
	if in.OnError != nil {
		r.clause(in.OnError)
	}
}

// call reads the call of a connector. Most of its options are constants; two speak of the rows.
func (r *reading) call(c *syntax.Call) {
	if c == nil {
		return
	}
	r.add(roleConnector, c.Name.Name, c.Name.Span)
	rows := *r.in
	for _, item := range c.Args {
		here := around{}
		if item.Name != nil {
			r.add(roleOption, item.Name.Name, item.Name.Span).conn = c.Name.Name
			if item.Name.Name == "partition_by" || item.Name.Name == "key" {
				here = rows
			}
		}
		r.within(here, func() { r.expr(item.Expr) })
	}
}

func (r *reading) target(t *syntax.Target) {
	switch {
	case t == nil:
	case t.Call != nil:
		r.call(t.Call)
		r.schema(t.Schema)
	case t.Name != nil:
		r.add(roleTarget, t.Name.Name, t.Name.Span)
	}
}

func (r *reading) pipeline(p *syntax.Pipeline, name syntax.Span) *run {
	rows := &run{file: r.file, from: p.From, input: p.Input, name: name, stages: p.Stages}
	if p.From != nil {
		r.add(roleRows, p.From.Name, p.From.Span)
	}
	if p.Input != nil {
		if p.Input.Call != nil {
			rows.name = p.Input.Call.Name.Span
		}
		r.input(p.Input, &run{file: r.file, input: p.Input, name: rows.name})
	}
	r.stages(rows)
	return rows
}

func (r *reading) stages(rows *run) {
	for i, s := range rows.stages {
		r.within(around{run: rows, stage: i}, func() { r.stage(s) })
	}
}

func (r *reading) stage(s *syntax.Stage) {
	if s.Call {
		r.add(rolePipe, s.Name.Name, s.Name.Span)
	} else {
		r.add(roleStage, s.Name.Name, s.Name.Span)
	}
	names := roleNewColumn
	if s.Call {
		names = roleOption
	}
	for i, item := range s.Items {
		in := *r.in
		in.item = i
		r.within(in, func() { r.item(s, item, names) })
	}
	r.target(s.Target)
	for _, k := range s.Clauses {
		r.clause(k)
	}
	for _, c := range s.Cases {
		r.expr(c.When)
		r.target(c.Target)
	}
	for i, step := range s.Steps {
		in := *r.in
		in.steps = s.Steps[:i]
		r.within(in, func() {
			r.add(roleNewColumn, step.Name.Name, step.Name.Span)
			r.expr(step.Cond)
			r.expr(step.Min)
			r.expr(step.Max)
			r.expr(step.For)
		})
	}
}

func (r *reading) item(s *syntax.Stage, item *syntax.Item, names role) {
	if item.Name != nil {
		r.add(names, item.Name.Name, item.Name.Span)
	}
	switch {
	case item.Input != nil:
		r.input(item.Input, &run{file: r.file, input: item.Input, name: item.Span})
	case (isJoin(s) || s.Name.Name == "union") && item.Expr != nil && len(item.Expr.Tokens) == 1:
		r.add(roleRows, plain(item.Expr.Tokens[0]), item.Expr.Span)
	default:
		r.expr(item.Expr)
	}
}

func isJoin(s *syntax.Stage) bool {
	return s.Name.Name == "join" || strings.HasSuffix(s.Name.Name, " join")
}

func (r *reading) clause(k *syntax.Clause) {
	r.lead(roleClause, k.Label, k.Span)
	for _, item := range k.Items {
		if item.Name != nil {
			r.add(roleNewColumn, item.Name.Name, item.Name.Span)
		}
		r.expr(item.Expr)
	}
	if k.Call != nil {
		r.add(roleWindow, k.Call.Name.Name, k.Call.Name.Span)
		for _, item := range k.Call.Args {
			if item.Name != nil {
				r.add(roleOption, item.Name.Name, item.Name.Span)
			}
			r.within(around{}, func() { r.expr(item.Expr) })
		}
	}
	r.expr(k.Every)
	if k.Name != nil {
		r.add(roleNewColumn, k.Name.Name, k.Name.Span)
	}
	r.target(k.Target)
}

// expr reads the names of an expression.
func (r *reading) expr(e *syntax.Expr) {
	if e == nil {
		return
	}
	var open []int // tokens that open brackets
	local := map[string]bool{}
	for i, t := range e.Tokens {
		before, next := "", ""
		if i > 0 {
			before = e.Tokens[i-1].Text
		}
		if i+1 < len(e.Tokens) {
			next = e.Tokens[i+1].Text
		}
		switch t.Kind {
		case syntax.KindOpen:
			open = append(open, i)
		case syntax.KindClose:
			open = open[:max(0, len(open)-1)]
		case syntax.KindIdent, syntax.KindQuoted:
			name := plain(t)
			bracket := ""
			if n := len(open); n > 0 {
				bracket = e.Tokens[open[n-1]].Text
			}
			first := before == "{" || before == "(" || before == ","
			switch {
			case t.Kind == syntax.KindIdent && reserved[t.Text]:
			case before == "let":
				local[name] = true
			case before == "." || before == "?.":
				r.add(roleField, name, t.Span)
			case next == ":" && first && bracket == "{":
				if r.in.stream != "" && len(open) <= 2 {
					r.add(roleRowField, name, t.Span)
				} else {
					r.add(roleField, name, t.Span)
				}
			case next == ":" && first && bracket == "(":
				r.add(roleOption, name, t.Span)
			case next == "(" && t.Kind == syntax.KindIdent:
				r.add(roleCall, name, t.Span)
			case !local[name]:
				r.add(roleValue, name, t.Span)
			}
		}
	}
}

// reserved are the words that expr keeps for itself.
var reserved = map[string]bool{"and": true, "or": true, "not": true, "in": true, "if": true, "else": true, "let": true, "matches": true, "contains": true,
	"startsWith": true, "endsWith": true, "true": true, "false": true, "nil": true}

// plain is the name of a token.
func plain(t syntax.Token) string {
	if t.Kind == syntax.KindQuoted {
		return syntax.Unquote(strings.TrimPrefix(t.Text, "@"))
	}
	return t.Text
}
