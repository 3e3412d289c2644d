package fn_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/fn"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// world is the functions of this package, one source and the stage `select`: enough to check an expression.
type world struct {
	schema types.Schema
	funcs  map[string]*spec.Func
}

func newWorld(fields ...types.Field) *world {
	w := &world{schema: types.NewSchema(fields...), funcs: map[string]*spec.Func{}}
	for _, f := range fn.All() {
		w.funcs[f.Name] = f
	}
	return w
}

func (w *world) Func(name string) []*types.Sig {
	f := w.funcs[name]
	if f == nil {
		return nil
	}
	sigs := make([]*types.Sig, len(f.Overloads))
	for i := range f.Overloads {
		sigs[i] = &f.Overloads[i].Sig
		if sigs[i].ID != i {
			sigs[i].ID = i
		}
	}
	return sigs
}

func (w *world) Kernel(name string, sig *types.Sig) eval.Kernel {
	return w.funcs[name].Overloads[sig.ID].Kernel
}

func (w *world) Agg(string) *types.AggSig { return nil }
func (w *world) Stage(name string) *types.StageSig {
	if name != "select" {
		return nil
	}
	return &types.StageSig{Name: name, Items: types.Project, Output: func(in []types.Stream, a *types.StageArgs) (types.Stream, error) {
		out := in[0]
		out.Schema = types.Schema{}
		for _, it := range a.Items {
			out.Schema.Fields = append(out.Schema.Fields, types.Field{Name: it.Name, Type: it.Expr.Type})
		}
		return out, nil
	}}
}
func (w *world) Conn(name string) *types.ConnSig {
	if name != "rows_in" {
		return nil
	}
	return &types.ConnSig{Name: name, Source: true}
}
func (w *world) Names(kind string) []string {
	var names []string
	if kind == "func" {
		for n := range w.funcs {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}
func (w *world) Source(*types.ConnArgs, *types.Schema) (types.SourceInfo, error) {
	return types.SourceInfo{Schema: w.schema, Bounded: true}, nil
}
func (w *world) Pipes(*types.ConnArgs) []types.Pipe     { return nil }
func (w *world) Updating(*types.ConnArgs) bool          { return false }
func (w *world) ReadScript(string) (string, error)      { return "", errors.New("no files here") }
func (w *world) Getenv(string) (value string, set bool) { return "", false }

// exprs checks expressions over the columns of the world.
func (w *world) exprs(texts ...string) ([]*types.Expr, error) {
	script := "rows_in() |> select\n"
	for i, t := range texts {
		if i > 0 {
			script += ",\n"
		}
		script += "    x" + string(rune('a'+i)) + " = (" + t + ")"
	}
	out, diags := check.Text("test.ebb", script+"\n", w, check.Options{})
	for _, d := range diags {
		if d.Severity.String() == "error" {
			return nil, errors.New(check.Render(d))
		}
	}
	var es []*types.Expr
	for _, s := range out.Streams {
		for _, st := range s.Stages {
			for _, it := range st.Args.Items {
				es = append(es, it.Expr)
			}
		}
	}
	return es, nil
}

func (w *world) expr(t testing.TB, text string) *types.Expr {
	t.Helper()
	es, err := w.exprs(text)
	if err != nil {
		t.Fatalf("%s\n%s", text, err)
	}
	if len(es) != 1 {
		t.Fatalf("%s: %d expressions", text, len(es))
	}
	return es[0]
}

// run evaluates an expression over a batch; it fails the test where a row fails.
func (w *world) run(t testing.TB, text string, b *vec.Batch) *vec.Column {
	t.Helper()
	p, err := eval.Compile(w.expr(t, text), w)
	if err != nil {
		t.Fatalf("%s: %s", text, err)
	}
	var x eval.Ctx
	c := p.Eval(&x, b, nil)
	for _, f := range x.Failed() {
		t.Fatalf("%s: row %d: %s", text, f.Row, f.Err)
	}
	return c
}

// value evaluates a constant expression; failure is the text of the row's error.
func (w *world) value(t testing.TB, text string) (got, failure string) {
	t.Helper()
	e := w.expr(t, text)
	p, err := eval.Compile(e, w)
	if err != nil {
		t.Fatalf("%s: %s", text, err)
	}
	var x eval.Ctx
	c := p.Eval(&x, &vec.Batch{N: 1}, nil)
	for _, f := range x.Failed() {
		failure = f.Err.Error()
	}
	return types.FormatConst(e.Type, c.Value(0)), failure
}

func TestExamples(t *testing.T) {
	w := newWorld()
	groups := map[string]bool{"text": true, "time": true, "math": true, "list": true, "conversion": true, "bits": true}
	for _, f := range fn.All() {
		if !groups[f.Group] || f.Text == "" || !strings.HasSuffix(f.Text, ".") || !strings.HasPrefix(f.Signature, f.Name+"(") || len(f.Examples) == 0 {
			t.Errorf("%s: the documentation is incomplete", f.Name)
		}
		for _, ex := range f.Examples {
			if !strings.Contains(ex.Code, f.Name) {
				t.Errorf("%s: the example %s does not use it", f.Name, ex.Code)
			}
			got, failure := w.value(t, ex.Code)
			if failure != "" || got != ex.Want {
				t.Errorf("%s: got %s %s, want %s", ex.Code, got, failure, ex.Want)
			}
		}
	}
}
