package langserver

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// hover says what stands at a place: of a name what it stands for, of a word of the language its documentation, else the
// type of the expression.
func hover(_ context.Context, _ *Server, d *document, p positionParams) (any, error) {
	a := d.look()
	at := d.text.offset(p.Position)
	x := a.newIndex()
	if code, span := codeAt(a, at); code != "" {
		if text := codeText(code); text != "" {
			return hoverResult{markdown(text), d.text.span(span)}, nil
		}
	}
	typ, span := a.typeAt(at)
	w := x.words[x.files[d.path]].at(at)
	if w == nil {
		if typ == "" {
			return nil, nil
		}
		return hoverResult{markdown(code(typ)), d.text.span(span)}, nil
	}
	if span != w.at {
		typ = "" // of something larger or smaller
	}
	if text := a.wordText(x, w, typ); text != "" {
		return hoverResult{markdown(text), d.text.span(w.at)}, nil
	}
	return nil, nil
}

func code(s string) string { return "```ebb\n" + strings.TrimRight(s, "\n") + "\n```" }

// wordText describes a word.
func (a *analysis) wordText(x *index, w *word, typ string) string {
	lib := a.doc.s.lib
	if s := x.symbol(w); s != nil {
		return a.symbolText(s, typ)
	}
	switch w.role {
	case roleStage, roleConnector:
		kind := map[role]string{roleStage: "stage", roleConnector: "conn"}[w.role]
		return docText(lib.Docs(kind), w.name)
	case roleCall:
		text := docText(lib.Docs("func"), w.name)
		if agg := docText(lib.Docs("agg"), w.name); agg != "" && (text == "" || a.inAggregate(w)) {
			text = agg
		}
		if typ != "" {
			text = code(typ) + "\n\n" + text
		}
		return text
	case roleOption:
		if def := lib.ConnDef(w.conn); def != nil {
			for _, p := range def.Params {
				if p.Name == w.name {
					return code(p.Name+": "+p.Type.String()) + "\n\n" + p.Text
				}
			}
		}
	case roleClause:
		return docText(lib.Docs("clause"), w.name)
	case roleWindow:
		return docText(lib.Docs("window"), w.name)
	case roleKeyword:
		return docText(lib.Docs("statement"), w.name)
	}
	if typ != "" {
		return code(w.name + ": " + typ)
	}
	return ""
}

// inAggregate reports whether a word stands where aggregates are called.
func (a *analysis) inAggregate(w *word) bool {
	if w.in.run == nil || w.in.stage >= len(w.in.run.stages) {
		return false
	}
	name := w.in.run.stages[w.in.stage].Name.Name
	return name == "aggregate" || name == "derive"
}

// symbolText describes what a name stands for.
func (a *analysis) symbolText(s *symbol, typ string) string {
	var out strings.Builder
	switch s.kind {
	case "column", "parameter":
		text := s.kind + " " + types.QuoteName(s.name)
		if typ == "" {
			typ = a.declaredType(s)
		}
		if typ != "" {
			text += ": " + typ
		}
		return code(text)
	case "stream", "source":
		out.WriteString(code(s.kind + " " + s.name))
		if rows, ok := a.rows(s); ok {
			out.WriteString("\n\n" + rows)
		}
	default:
		text := s.kind + " " + s.name
		if s.stmt != nil {
			text = short(s.file.tree.Source.Slice(s.stmt.Range()))
		}
		if typ != "" && s.kind == "let" {
			text += " // " + typ
		}
		out.WriteString(code(text))
	}
	if c := commentAbove(s); c != "" {
		out.WriteString("\n\n" + c)
	}
	return out.String()
}

// declaredType is the type that a parameter or a column of a schema is declared with.
func (a *analysis) declaredType(s *symbol) string {
	src := s.file.tree.Source.Text[s.at.End.Offset:]
	if rest, ok := strings.CutPrefix(strings.TrimLeft(src, " "), ":"); ok {
		end := strings.IndexAny(rest, ",)}\n=")
		if end >= 0 && !strings.ContainsAny(rest[:end], "([{") {
			return strings.TrimSpace(rest[:end])
		}
	}
	return ""
}

// short is the beginning of a statement.
func short(text string) string {
	const most = 8
	lines := strings.Split(text, "\n")
	if len(lines) > most {
		lines = append(lines[:most], "    …")
	}
	return strings.Join(lines, "\n")
}

// rows describes the rows of a stream or source.
func (a *analysis) rows(s *symbol) (string, bool) {
	for _, st := range a.Checked.Streams {
		if st.Name == s.name {
			return rowsText(st.Out), true
		}
	}
	for _, src := range a.Checked.Sources {
		if src.Name == s.name {
			return rowsText(src.Out), true
		}
	}
	return "", false
}

func rowsText(rows types.Stream) string {
	var out strings.Builder
	for _, f := range rows.Schema.Fields {
		fmt.Fprintf(&out, "%s: %s\n", types.QuoteName(f.Name), f.Type)
	}
	var facts []string
	for _, f := range []struct {
		is   bool
		text string
	}{{rows.Time, "event time"}, {!rows.Time, "no event time"}, {rows.Updating, "updating"}, {rows.Bounded, "ends by itself"}, {rows.Windowed, "windowed"}} {
		if f.is {
			facts = append(facts, f.text)
		}
	}
	return code(out.String()) + "\n\n" + strings.Join(facts, ", ")
}

// commentAbove is the text of the comment lines right above a statement.
func commentAbove(s *symbol) string {
	if s.stmt == nil {
		return ""
	}
	text := s.file.tree.Source.Text
	lines := strings.Split(text[:s.stmt.Range().Start.Offset], "\n")
	lines = lines[:len(lines)-1]
	from := len(lines)
	for from > 0 && strings.HasPrefix(lines[from-1], "//") {
		from--
	}
	var out []string
	for _, l := range lines[from:] {
		if l = strings.TrimSpace(strings.TrimPrefix(l, "//")); !strings.HasPrefix(l, "lint:") {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

// docText is the documentation of a definition, "" if there is none.
func docText(docs []spec.Doc, name string) string {
	i := slices.IndexFunc(docs, func(d spec.Doc) bool { return d.Name == name })
	if i < 0 {
		return ""
	}
	return oneDoc(docs[i])
}

func oneDoc(d spec.Doc) string {
	out := code(d.Signature) + "\n\n" + d.Body()
	if len(d.Examples) > 0 {
		out += "\n\n" + code(d.Examples[0].Code)
		if w := d.Examples[0].Want; w != "" {
			out += "\n```text\n" + w + "\n```"
		}
	}
	return out
}

// typeAt is the type of the smallest expression at an offset.
func (a *analysis) typeAt(at int) (typ string, span syntax.Span) {
	size := 1 << 30
	for _, e := range a.Exprs {
		if at < e.Expr.Start.Offset || at > e.Expr.End.Offset {
			continue
		}
		ast.Find(e.Tree, func(n ast.Node) bool {
			x := e.Type(n)
			if x == nil {
				return false
			}
			s := e.Span(n)
			if n := s.End.Offset - s.Start.Offset; s.Start.Offset <= at && at <= s.End.Offset && n > 0 && n < size {
				size, span, typ = n, s, x.Type.String()
			}
			return false
		})
	}
	return typ, span
}

var codeWord = regexp.MustCompile(`\b[A-Z]\d{3}\b`)

// codeAt finds the code of a finding that a comment names at an offset.
func codeAt(a *analysis, at int) (string, syntax.Span) {
	src := a.Tree.Source
	for _, c := range a.Tree.Comments {
		if at < c.Span.Start.Offset || at > c.Span.End.Offset || !strings.Contains(c.Text, "lint:") {
			continue
		}
		for _, m := range codeWord.FindAllStringIndex(c.Text, -1) {
			from, to := c.Span.Start.Offset+m[0], c.Span.Start.Offset+m[1]
			if from <= at && at <= to {
				return c.Text[m[0]:m[1]], syntax.Span{Start: src.Pos(from), End: src.Pos(to)}
			}
		}
	}
	return "", syntax.Span{}
}

// codeText says what a code means.
func codeText(c string) string {
	if r := lint.Find(c); r != nil {
		return lint.Page(r)
	}
	return ""
}
