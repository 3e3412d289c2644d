package check

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// exprBench is a checker with a scope for expressions.
type exprBench struct {
	c  *checker
	sc scope
}

func newBench(env Env) *exprBench {
	return &exprBench{c: &checker{env: env}, sc: scope{hasTime: true, consts: map[string]*types.Expr{}, fns: map[string]*fn{}}}
}

// source makes the expression that the text is.
func (b *exprBench) source(name, text string) *syntax.Expr {
	src := &syntax.Source{Name: name, Text: text}
	return &syntax.Expr{Span: syntax.Span{Start: syntax.Pos{Line: 1, Column: 1}, End: src.Pos(len(text))}, Source: src, Text: text}
}

// check types an expression and gives what was found.
func (b *exprBench) check(text string) (*types.Expr, []Diagnostic) {
	b.c.diags = diags{}
	x := b.c.expr(b.source("t", text), &b.sc)
	return x, b.c.diags.list
}

// brief prints a diagnostic in one line: position, code, the text it points at, message and help.
func brief(d Diagnostic) string {
	s := fmt.Sprintf("%d:%d %s «%s» %s", d.Span.Start.Line, d.Span.Start.Column, d.Code, d.Source.Slice(d.Span), d.Message)
	for _, n := range d.Notes {
		s += fmt.Sprintf(" [%d:%d %s]", n.Span.Start.Line, n.Span.Start.Column, n.Text)
	}
	if d.Help != "" {
		s += " | " + d.Help
	}
	return strings.ReplaceAll(s, "\n", "⏎")
}

func (b *exprBench) print(x *types.Expr, found []Diagnostic) string {
	var out strings.Builder
	for _, d := range found {
		out.WriteString(brief(d) + "\n")
	}
	switch {
	case x != nil && len(found) > 0:
		out.WriteString("BUG: a tree in spite of errors\n")
	case x == nil && len(found) == 0:
		out.WriteString("nothing: it was reported before\n")
	case x != nil:
		fmt.Fprintf(&out, "%s : %s\n", x, x.Type)
	}
	return out.String()
}

// TestExpr runs the files of testdata/expr. Commands:
//
//	schema    columns, `a: int, b: string?`
//	let       constants, one a line: NAME = EXPR
//	fn        user functions, one a line: NAME(a: T) = EXPR
//	expr      expressions, one a line; prints the tree and its type, or the errors
//	text      one expression of several lines
//	as        one a line: TYPE <- EXPR
//	const     constant expressions, one a line; prints the value
//	agg       items of an aggregate, one a line, with the keys given by keys=(a,b); prints the calls, too
//	per       the same for derive … per
//	render    one expression whose errors are printed as users see them
func TestExpr(t *testing.T) {
	datadriven.Walk(t, "testdata/expr", func(t *testing.T, path string) {
		b := newBench(testEnv())
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return b.run(d) })
	})
}

func (b *exprBench) run(d *datadriven.TestData) string {
	var out strings.Builder
	lines := strings.Split(d.Input, "\n")
	switch d.Cmd {
	case "schema":
		b.sc.schema = types.Schema{Fields: testFields(strings.ReplaceAll(d.Input, "\n", " "))}
	case "let":
		for _, line := range lines {
			name, text, _ := strings.Cut(line, "=")
			b.c.diags = diags{}
			x := b.c.constExpr(b.source("t", strings.TrimSpace(text)), &b.sc)
			if x == nil {
				out.WriteString(b.print(nil, b.c.diags.list))
				continue
			}
			b.sc.consts[strings.TrimSpace(name)] = x
		}
	case "fn":
		var fns []*fn
		for _, line := range lines {
			head, body, _ := strings.Cut(line, ") =")
			name, params, _ := strings.Cut(head, "(")
			f := &fn{name: name, params: testFields(params), body: b.source(name, strings.TrimSpace(body)), scope: &scope{consts: b.sc.consts, fns: b.sc.fns}}
			b.sc.fns[name] = f
			fns = append(fns, f)
		}
		b.c.diags = diags{}
		for _, f := range fns {
			if u, ok := b.c.checkFn(f); ok {
				fmt.Fprintf(&out, "%s : %s\n", f.name, u)
			}
		}
		for _, d := range b.c.diags.list {
			out.WriteString(brief(d) + "\n")
		}
	case "expr":
		for _, line := range lines {
			out.WriteString(b.print(b.check(line)))
		}
	case "text":
		out.WriteString(b.print(b.check(d.Input)))
	case "as":
		for _, line := range lines {
			u, text, _ := strings.Cut(line, "<-")
			b.c.diags = diags{}
			x := b.c.exprAs(b.source("t", strings.TrimSpace(text)), &b.sc, testType(u), "the value")
			out.WriteString(b.print(x, b.c.diags.list))
		}
	case "const":
		for _, line := range lines {
			b.c.diags = diags{}
			var want []types.Kind
			if kind, text, ok := strings.Cut(line, "<-"); ok {
				want, line = []types.Kind{testType(kind).Kind}, strings.TrimSpace(text)
			}
			x := b.c.constExpr(b.source("t", line), &b.sc, want...)
			out.WriteString(b.print(x, b.c.diags.list))
		}
	case "agg", "per":
		sc := b.sc
		var calls []types.AggCall
		sc.aggs = &calls
		if sc.perRow = d.Cmd == "per"; sc.perRow {
			sc.aggBase = len(sc.schema.Fields)
		}
		for _, a := range d.CmdArgs {
			for _, k := range a.Vals {
				sc.keys.Fields = append(sc.keys.Fields, sc.schema.Fields[sc.schema.Index(k)])
			}
			sc.aggBase = len(sc.keys.Fields)
		}
		for _, line := range lines {
			b.c.diags = diags{}
			out.WriteString(b.print(b.c.expr(b.source("t", line), &sc), b.c.diags.list))
		}
		for i, c := range calls {
			fmt.Fprintf(&out, "#%d %s : %s\n", sc.aggBase+i, c.Name, c.Result)
		}
	case "render":
		x, found := b.check(d.Input)
		if x != nil {
			return "no error\n"
		}
		for _, d := range found {
			out.WriteString(Render(d))
		}
	default:
		return "unknown command " + d.Cmd
	}
	return out.String()
}

// TestSingle: a name or a string is the tree that expr's parser makes of it.
func TestSingle(t *testing.T) {
	b := newBench(testEnv())
	for _, text := range []string{`"orders.csv"`, `'it"s'`, `""`, `"größe"`, `"a\nb"`, `'\''`, "`raw`", `b"x"`, "name", "größe", "1_000", "0.5", "true", "nil"} {
		x := b.c.typer(b.source("t", text), &b.sc)
		require.NotNil(t, x, text)
		require.Equal(t, x.parse(), x.tree, text)
	}
}
