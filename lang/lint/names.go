package lint

import (
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// N: names that nothing needs, or that mean something else than they seem to. What is made for nothing is in names_flow.go.
var _ = define(
	Rule{
		Code: "N101", Name: "unused-name", Severity: syntax.SevWarn, Fix: Unsafe,
		Text: "Nothing uses a stream, source, sink, param, let, fn, pipe, `use` or parameter, or rows go into a stream that nothing reads.",
		Why: "It is left over, or a name elsewhere is misspelt; rows that go into a stream that nothing reads are lost. A name that begins with `_` is meant to be unused. " +
			"In a file without pipelines, which is there for others to use, only parameters are looked at; in one whose streams are mostly read by nothing, they are what it is for.",
		Bad:   "let least = 15.0\ncsv(\"orders.csv\") |> where amount > 10.0\n",
		Good:  "let least = 15.0\ncsv(\"orders.csv\") |> where amount > least\n",
		Check: unused,
	},
	Rule{
		Code: "N103", Name: "shadowed-constant", Severity: syntax.SevWarn,
		Text:  "A name means a column, and a constant of the script is called so, too.",
		Why:   "Where rows have a column of that name, the column is meant, in other places the constant. Give one of them another name.",
		Bad:   "let amount = 15.0\nrows([{id: 1}]) |> where id < amount\ncsv(\"orders.csv\") |> where amount > 10.0\n",
		Good:  "let least = 15.0\ncsv(\"orders.csv\") |> where amount > least\n",
		Check: shadowed,
	},
	Rule{
		Code: "N105", Name: "two-columns-of-one-name", Severity: syntax.SevError,
		Text: "Two columns of a result have the same name.",
		Why:  "Columns are found by their names, so names are unique. Give one of them another name.",
		Bad:  "csv(\"orders.csv\") |> select id, id = customer\n",
		Good: "csv(\"orders.csv\") |> select id, who = customer\n",
	},
)

// nameUse is a name in an expression that is no field, and what it stands for.
type nameUse struct {
	syntax.Token
	is *types.Expr
}

// names lists the names in an expression, in the order of the text.
func (r *reading) names() []nameUse {
	if r.said != nil {
		return r.said
	}
	r.said = []nameUse{}
	tokens := r.Expr.Tokens
	r.each(func(n ast.Node) {
		x := r.Type(n)
		if id, ok := n.(*ast.IdentifierNode); ok && x != nil {
			at := r.Operator(id).Start.Offset
			i := sort.Search(len(tokens), func(i int) bool { return tokens[i].Span.Start.Offset >= at })
			if i < len(tokens) && tokens[i].Span.Start.Offset == at && (tokens[i].Kind == syntax.KindIdent || tokens[i].Kind == syntax.KindQuoted) {
				r.said = append(r.said, nameUse{tokens[i], x})
			}
		}
	})
	slices.SortStableFunc(r.said, func(a, b nameUse) int { return a.Span.Start.Offset - b.Span.Start.Offset })
	return r.said
}

// definition is a name that a statement defines.
type definition struct {
	kind string
	name syntax.Ident
	stmt syntax.Stmt
}

// definitions lists what the script defines, in its order.
func (s *Script) definitions() []definition {
	if s.defined != nil {
		return s.defined
	}
	list := []definition{}
	for _, stmt := range s.Tree.Stmts {
		d := definition{stmt: stmt}
		switch stmt := stmt.(type) {
		case *syntax.Param:
			d.kind, d.name = "param", stmt.Name
		case *syntax.Let:
			d.kind, d.name = "constant", stmt.Name
		case *syntax.Fn:
			d.kind, d.name = "function", stmt.Name
		case *syntax.Pipe:
			d.kind, d.name = "pipe", stmt.Name
		case *syntax.SourceStmt:
			d.kind, d.name = "source", stmt.Name
		case *syntax.SinkStmt:
			d.kind, d.name = "sink", stmt.Name
		case *syntax.Stream:
			d.kind, d.name = "stream", stmt.Name
		default:
			continue
		}
		list = append(list, d)
	}
	s.defined = list
	return list
}

// library reports whether the script is there for others to use: nothing runs by itself in it.
func (s *Script) library() bool {
	for _, stmt := range s.Tree.Stmts {
		switch stmt.(type) {
		case *syntax.PipelineStmt, *syntax.Set:
			return false
		}
	}
	return len(s.Checked.Writes) == 0
}

func unused(p *Pass) {
	m := p.mentioned()
	m.lost = p.lost()
	for _, i := range m.idle {
		if m.lost[i.param.Name.Name] < 2 {
			p.unusedName(i.param.Name, fmt.Sprintf("the parameter `%s` of `%s` is not used", i.param.Name.Name, i.of), nil)
		}
	}
	for _, uses := range p.uses() {
		p.unusedLets(uses[0])
	}
	if p.library() {
		return
	}
	sinks := map[string]bool{}
	for _, t := range m.targets {
		sinks[t.Name] = true
	}
	known := map[string]bool{}
	streams := p.collection(m)
	for _, d := range p.definitions() {
		known[d.name.Name] = true
		if d.kind == "stream" && streams {
			continue
		}
		used := m.words
		switch d.kind {
		case "pipe":
			used = m.pipes
		case "source", "stream":
			used = m.rows
		case "sink":
			used = sinks
		}
		if !used[d.name.Name] && m.lost[d.name.Name] < 2 && !writes(d.stmt) {
			p.unusedName(d.name, fmt.Sprintf("the %s `%s` is not used", d.kind, d.name.Name), p.withoutStatement(d.stmt.Range(), "take it away"))
		}
	}
	p.unusedFiles(m, sinks, known)
	p.unreadStreams(m, known)
}

// collection reports whether the streams of a script are what it is for: three or more, and most of them, are read by nothing.
func (p *Pass) collection(m *mentions) bool {
	unread, all := 0, 0
	for _, d := range p.definitions() {
		if d.kind == "stream" {
			all++
			if !m.rows[d.name.Name] {
				unread++
			}
		}
	}
	return unread >= 3 && 2*unread > all
}

// unusedName reports a name, unless it says by itself that it is not used.
func (p *Pass) unusedName(name syntax.Ident, message string, fix *Fix) {
	if !strings.HasPrefix(name.Name, "_") {
		p.Report(name.Span, message, "take it away, or call it `"+types.QuoteName("_"+name.Name)+"` if that is meant", fix)
	}
}

// lost counts the names in the text of a script that does not parse, since the statements that are missing may use them.
func (p *Pass) lost() map[string]int {
	counts := map[string]int{}
	for _, d := range p.Errors {
		if d.Source != p.Tree.Source || !strings.HasPrefix(d.Code, "P") {
			continue
		}
		tokens, _ := syntax.Lex(p.Tree.Source)
		for _, t := range tokens {
			if t.Kind == syntax.KindIdent || t.Kind == syntax.KindQuoted {
				counts[tokenName(t)]++
			}
		}
		break
	}
	return counts
}

// writes reports whether a stream that nothing reads has an effect, by its stages.
func writes(stmt syntax.Stmt) bool {
	s, ok := stmt.(*syntax.Stream)
	if !ok {
		return false
	}
	for _, st := range s.Pipeline.Stages {
		if st.Target != nil || st.Call { // a pipe may hold a `tee`
			return true
		}
		for _, c := range st.Clauses {
			if c.Target != nil {
				return true
			}
		}
	}
	return false
}

// withoutStatement takes a statement away, and its line if nothing else stands there.
func (p *Pass) withoutStatement(at syntax.Span, text string) *Fix {
	src := p.Tree.Source.Text
	end := at.End.Offset
	if line, _, more := strings.Cut(src[end:], "\n"); strings.TrimSpace(line) == "" {
		end += len(line)
		if more {
			end++
		}
	}
	return replace(syntax.Span{Start: at.Start, End: p.Tree.Source.Pos(end)}, "", Unsafe, text)
}

// unusedLets finds each `let NAME = …; …` of an expression whose name is not used behind it.
func (p *Pass) unusedLets(r *reading) {
	r.each(func(n ast.Node) {
		let, ok := n.(*ast.VariableDeclaratorNode)
		if !ok {
			return
		}
		at := r.Operator(n)
		name, used := "", false
		for _, t := range r.Expr.Tokens {
			switch {
			case t.Span.Start.Offset == at.Start.Offset:
				name = tokenName(t)
			case name != "" && t.Span.Start.Offset >= r.Span(let.Value).End.Offset && (t.Kind == syntax.KindIdent || t.Kind == syntax.KindQuoted):
				used = used || tokenName(t) == name
			}
		}
		if name != "" && !used {
			p.unusedName(syntax.Ident{Span: at, Name: name}, fmt.Sprintf("`%s` is not used behind its `let`", name), nil)
		}
	})
}

// unusedFiles finds each `use` of a file of which nothing is used.
func (p *Pass) unusedFiles(m *mentions, sinks, known map[string]bool) {
	used := func(names map[string]string) bool {
		for name := range names {
			if !known[name] && (m.words[name] || m.rows[name] || m.pipes[name] || sinks[name] || m.lost[name] > 0) {
				return true
			}
		}
		return false
	}
	for _, stmt := range p.Tree.Stmts {
		u, ok := stmt.(*syntax.Use)
		if !ok {
			continue
		}
		names, ok := p.Uses[u]
		if !ok || used(names.Own) {
			continue
		}
		further := map[string]string{}
		for name, kind := range names.Further { // what another `use` brings by itself is that one's
			direct := false
			for v, other := range p.Uses {
				direct = direct || v != u && other.Own[name] != ""
			}
			if !direct {
				further[name] = kind
			}
		}
		if !used(further) {
			p.Report(u.PathAt, fmt.Sprintf("nothing of `%s` is used", path.Base(u.Path)), "take the `use` away", p.withoutStatement(u.Span, "take it away"))
		}
	}
}

// unreadStreams finds streams that are there because rows go into them, and that nothing reads.
func (p *Pass) unreadStreams(m *mentions, known map[string]bool) {
	var names []string
	for _, d := range p.definitions() {
		if d.kind == "sink" {
			names = append(names, d.name.Name)
		}
	}
	for _, u := range p.Uses {
		for _, list := range []map[string]string{u.Own, u.Further} {
			for name := range list {
				known[name] = true
			}
		}
	}
	for name := range m.rows {
		names = append(names, name)
	}
	for _, b := range p.Tree.Broken {
		known[b.Name] = true
	}
	for _, t := range m.targets {
		if known[t.Name] || m.rows[t.Name] || m.lost[t.Name] > 1 {
			continue
		}
		known[t.Name] = true // once
		message := fmt.Sprintf("nothing reads the stream `%s`: the rows that go into it are lost", t.Name)
		var fix *Fix
		if near := syntax.Suggest(t.Name, names); near != "" {
			message += fmt.Sprintf("; did you mean `%s`?", near)
			fix = replace(t.Span, types.QuoteName(near), Unsafe, "write `"+types.QuoteName(near)+"`")
		}
		p.unusedName(*t, message, fix)
	}
}

// shadowed finds names that mean a column where a constant is called so.
func shadowed(p *Pass) {
	constants := map[string]string{}
	for _, u := range p.Uses {
		for _, list := range []map[string]string{u.Own, u.Further} {
			for name, kind := range list {
				if kind == "param" || kind == "let" {
					constants[name] = "of a used file"
				}
			}
		}
	}
	for _, d := range p.definitions() {
		if d.kind == "param" || d.kind == "constant" {
			constants[d.name.Name] = fmt.Sprintf("of line %d", d.name.Start.Line)
		}
	}
	if len(constants) == 0 {
		return
	}
	m := p.mentioned()
	said := map[string]bool{}
	for _, uses := range p.uses() {
		r := uses[0]
		for _, t := range r.names() {
			name := tokenName(t.Token)
			if _, param := m.around[r.Expr][name]; !param && constants[name] != "" && m.columns[t.Span.Start.Offset] == column && !said[name] {
				said[name] = true
				p.Report(t.Span, fmt.Sprintf("`%s` is the column here, not the constant %s", name, constants[name]), "give one of them another name", nil)
			}
		}
	}
}
