package check

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	catalog "github.com/ebb-lang/ebb/stdlib/fn"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// The corpus is a collection of expr expressions with their values. A case that Ebb treats differently is listed in
// testdata/corpus-differences with the reason; everything else must check, be of the stated type and have the stated
// value, computed from columns by the engine and from constants by expr's VM.

// catalogEnv offers the functions of the standard library.
type catalogEnv struct {
	exprEnv
	defs map[string]*spec.Func
}

func newCatalog() *catalogEnv {
	e := &catalogEnv{defs: map[string]*spec.Func{}, exprEnv: exprEnv{funcs: map[string][]*types.Sig{}}}
	for _, f := range catalog.All() {
		e.defs[f.Name] = f
		for i := range f.Overloads {
			f.Overloads[i].Sig.ID = i
			e.funcs[f.Name] = append(e.funcs[f.Name], &f.Overloads[i].Sig)
		}
	}
	return e
}

// Kernel implements eval.Lib.
func (e *catalogEnv) Kernel(name string, sig *types.Sig) eval.Kernel {
	return e.defs[name].Overloads[sig.ID].Kernel
}

// corpusCase is a line of the corpus.
type corpusCase struct {
	ID, Expr, Env, Outcome, Type, Error string
	Value                               any
	Scalar                              bool `json:"scalar_only"`
}

// corpusDir finds the folder of shared cases beside the repository; it skips the test where there is none.
func corpusDir(t testing.TB, sub string) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
	}
	path := filepath.Join(dir, "../shared/cases", sub)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the shared cases are not there: %s", path)
	}
	return path
}

func readCorpus(t testing.TB, path string) []corpusCase {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []corpusCase
	for s := bufio.NewScanner(f); s.Scan(); {
		var c corpusCase
		if err := json.Unmarshal(s.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// corpusVar is a variable of an environment of the corpus.
type corpusVar struct {
	Type  string
	Value any
}

func readCorpusEnv(t testing.TB, path string) map[string]corpusVar {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]corpusVar
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// corpusValue makes a typed constant of a JSON value. Mixed lists are schemaless.
func corpusValue(t testing.TB, kind string, v any) (types.Type, any) {
	schemaless := func() (types.Type, any) {
		b, _ := json.Marshal(v)
		return types.T(types.Any), string(b)
	}
	switch x := v.(type) {
	case nil:
		return types.T(types.Any).Null(), nil
	case bool:
		return types.T(types.Bool), x
	case float64:
		if kind == "float" || kind == "" && x != math.Trunc(x) {
			return types.T(types.Float), x
		}
		return types.T(types.Int), int64(x)
	case string:
		switch kind {
		case "time":
			at, err := time.Parse(time.RFC3339, x)
			if err != nil {
				t.Fatal(err)
			}
			return types.T(types.Time), at.UnixNano()
		case "duration":
			d, err := time.ParseDuration(x)
			if err != nil {
				t.Fatal(err)
			}
			return types.T(types.Duration), int64(d)
		}
		return types.T(types.String), x
	case []any:
		elem := types.T(types.Int)
		list := make([]any, len(x))
		for i, e := range x {
			u, w := corpusValue(t, "", e)
			if i > 0 && !u.Equal(elem) || u.Kind == types.Any {
				return schemaless()
			}
			elem, list[i] = u, w
		}
		return types.ListOf(elem), list
	case map[string]any:
		u := types.Type{Kind: types.Record}
		m := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(x)) {
			ft, fv := corpusValue(t, "", x[name])
			u.Fields = append(u.Fields, types.Field{Name: name, Type: ft})
			m[name] = fv
		}
		return u, m
	}
	t.Fatalf("a %T in the corpus", v)
	return types.Type{}, nil
}

// corpusBenches gives for each environment one with its variables as columns, and one with them as constants.
func corpusBenches(t testing.TB, dir string) (cols, consts map[string]*exprBench) {
	cols, consts = map[string]*exprBench{}, map[string]*exprBench{}
	lib := newCatalog()
	for _, env := range []string{"A", "B"} {
		cols[env], consts[env] = newBench(lib), newBench(lib)
		vars := readCorpusEnv(t, filepath.Join(dir, "env-"+env+".json"))
		for _, name := range slices.Sorted(maps.Keys(vars)) {
			u, v := corpusValue(t, vars[name].Type, vars[name].Value)
			cols[env].sc.schema.Fields = append(cols[env].sc.schema.Fields, types.Field{Name: name, Type: u})
			consts[env].sc.consts[name] = types.Const(u, v)
		}
	}
	return cols, consts
}

// corpusDifferences reads testdata/corpus-differences: ID, a tab, the reason.
func corpusDifferences(t testing.TB) map[string]string {
	data, err := os.ReadFile("testdata/corpus-differences")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, line := range strings.Split(string(data), "\n") {
		if id, why, ok := strings.Cut(line, "\t"); ok {
			out[id] = why
		}
	}
	return out
}

func TestCorpus(t *testing.T) {
	dir := corpusDir(t, "expr")
	cols, _ := corpusBenches(t, dir)
	rows := map[string]*vec.Batch{}
	for env, b := range cols {
		rows[env] = corpusRows(t, filepath.Join(dir, "env-"+env+".json"), b.sc.schema, 1000)
	}
	differ := corpusDifferences(t)
	equal := 0
	for _, c := range readCorpus(t, filepath.Join(dir, "expr-corpus.jsonl")) {
		problem := corpusProblem(c, cols[c.Env], rows[c.Env])
		switch why := differ[c.ID]; {
		case problem == "" && why != "":
			t.Errorf("%s `%s`: is no difference any more", c.ID, c.Expr)
		case problem != "" && why == "":
			t.Errorf("%s `%s`: %s", c.ID, c.Expr, problem)
		case problem == "":
			equal++
		}
	}
	t.Logf("%d equal, %d differences", equal, len(differ))
}

// corpusRows makes n equal rows of the variables.
func corpusRows(t testing.TB, path string, schema types.Schema, n int) *vec.Batch {
	vars := readCorpusEnv(t, path)
	b := &vec.Batch{N: n, Time: make([]int64, n)}
	for _, f := range schema.Fields {
		_, v := corpusValue(t, vars[f.Name].Type, vars[f.Name].Value)
		col := vec.NewBuilder(f.Type)
		for range n {
			col.Append(v)
		}
		b.Cols = append(b.Cols, col.Column())
	}
	return b
}

// corpusProblem checks and computes a case; it says what is not as stated.
func corpusProblem(c corpusCase, b *exprBench, rows *vec.Batch) string {
	x, found := b.check(c.Expr)
	switch {
	case x == nil:
		return "refused: " + brief(found[0])
	case !kindAgrees(x.Type, c.Type):
		return fmt.Sprintf("type %s, stated %s", x.Type, c.Type)
	case x.Type.Kind == types.Null:
		return "" // no column can be of that type
	}
	prog, err := eval.Compile(x, b.c.env.(*catalogEnv))
	if err != nil {
		return "does not compile: " + err.Error()
	}
	ctx := &eval.Ctx{}
	col := prog.Eval(ctx, rows, nil)
	if len(ctx.Fails) > 0 {
		return "fails: " + ctx.Fails[0].Err.Error()
	}
	for _, i := range []int{0, rows.N - 1} {
		var v any
		if !col.Null(i) {
			v = col.Value(i)
		}
		if got, want := corpusText(x.Type, v), corpusWant(c); got != want {
			return fmt.Sprintf("%s gives %s in row %d, stated %s", x, got, i, want)
		}
	}
	return ""
}

// kindAgrees reports whether a value of the stated type may come out of an expression of type u.
func kindAgrees(u types.Type, stated string) bool {
	switch {
	case u.Kind == types.Any:
		return true
	case stated == "nil":
		return u.Nullable || u.Kind == types.Null
	}
	return u.Kind.String() == stated
}

// TestCorpusConstants computes the corpus with the variables as constants.
func TestCorpusConstants(t *testing.T) {
	dir := corpusDir(t, "expr")
	_, consts := corpusBenches(t, dir)
	differ := corpusDifferences(t)
	equal, skipped := 0, 0
	for _, c := range readCorpus(t, filepath.Join(dir, "expr-corpus.jsonl")) {
		if why := differ[c.ID]; why != "" {
			continue
		}
		b := consts[c.Env]
		b.c.diags = diags{}
		x := b.c.constExpr(b.source("t", c.Expr), &b.sc)
		if x == nil {
			if d := b.c.diags.list[0]; d.Code == "N157" || d.Code == "T228" && strings.Contains(d.Message, "cannot be used") || d.Code == "N160" {
				skipped++ // now(), and functions that only the catalog has
				continue
			}
			t.Errorf("%s `%s`: %s", c.ID, c.Expr, brief(b.c.diags.list[0]))
			continue
		}
		if got, want := corpusText(x.Type, x.Value), corpusWant(c); got != want {
			t.Errorf("%s `%s`: %s, stated %s", c.ID, c.Expr, got, want)
			continue
		}
		equal++
	}
	t.Logf("%d equal, %d not computable here", equal, skipped)
}

// corpusText prints a constant as corpusWant does.
func corpusText(u types.Type, v any) string {
	var plain func(u types.Type, v any) any
	plain = func(u types.Type, v any) any {
		switch x := v.(type) {
		case int64:
			switch u.Kind {
			case types.Time:
				return time.Unix(0, x).UTC().Format(time.RFC3339Nano)
			case types.Duration:
				return time.Duration(x).String()
			}
			return float64(x)
		case float64:
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return strings.TrimPrefix(fmt.Sprint(x), "+")
			}
		case string:
			if u.Kind == types.Any {
				var out any
				_ = json.Unmarshal([]byte(x), &out)
				return out
			}
			if u.Kind == types.Bytes {
				return []byte(x)
			}
		case []any:
			out := make([]any, len(x))
			for i, e := range x {
				out[i] = plain(*u.Elem, e)
			}
			return out
		case map[string]any:
			out := map[string]any{}
			for _, f := range u.Fields {
				out[f.Name] = plain(f.Type, x[f.Name])
			}
			return out
		}
		return v
	}
	return corpusJSON(plain(u, v))
}

// corpusJSON prints a value so that equal ones are equal texts, bytes that are no UTF-8 as the corpus has them.
func corpusJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	var again any
	_ = json.Unmarshal(b, &again)
	b, _ = json.Marshal(again)
	return string(b)
}

func corpusWant(c corpusCase) string {
	v := c.Value
	if s, ok := v.(string); ok && c.Type == "float" {
		v = strings.TrimPrefix(s, "+")
	}
	return corpusJSON(v)
}

func TestCorpusErrors(t *testing.T) {
	dir := corpusDir(t, "expr")
	cols, _ := corpusBenches(t, dir)
	differ := corpusDifferences(t)
	refused := 0
	for _, c := range readCorpus(t, filepath.Join(dir, "expr-errors.jsonl")) {
		if c.Outcome != "compile_error" {
			cols[c.Env].check(c.Expr) // must not panic
			continue
		}
		x, _ := cols[c.Env].check(c.Expr)
		switch {
		case x != nil && differ[c.ID] == "":
			t.Errorf("%s `%s` is taken as %s : %s; expr says %s", c.ID, c.Expr, x, x.Type, c.Error)
		case x == nil && differ[c.ID] != "":
			t.Errorf("%s `%s` is refused and no difference any more", c.ID, c.Expr)
		case x == nil:
			refused++
		}
	}
	t.Logf("%d refused", refused)
}
