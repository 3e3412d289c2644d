package check

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/lang/types"
)

// fuzzBenches are scopes in which any text must be refused or typed, without a panic.
func fuzzBench() *exprBench {
	b := newBench(testEnv())
	b.sc.schema = types.Schema{Fields: testFields(`a: int, b: int?, x: float, s: string, n: string?, ok: bool, maybe: bool?, t: time, d: duration,
		xs: [int], ys: [int?]?, ss: [string], r: {p: int, q: string?}, rs: [{qty: int, name: string?}], j: any, "order id": int, count: int, i: int, f64: float, array: [int]`)}
	f := &fn{name: "twice", params: testFields("x: int"), body: b.source("twice", "x + x"), scope: &scope{fns: b.sc.fns}}
	b.sc.fns["twice"] = f
	return b
}

func checkFuzzed(t testing.TB, b *exprBench, text string) {
	verify := func(x *types.Expr) {
		found := b.c.diags.list
		if (x == nil) != (len(found) > 0) {
			t.Fatalf("%q: tree %v and %d errors", text, x, len(found))
		}
		for _, d := range found {
			if d.Code == "" || d.Message == "" || d.Span.Start.Offset < 0 || d.Span.End.Offset < d.Span.Start.Offset || d.Span.End.Offset > len(d.Source.Text) {
				t.Fatalf("%q: malformed diagnostic %+v", text, d)
			}
			Render(d)
		}
		if x == nil {
			return
		}
		x.Walk(func(y *types.Expr) bool {
			if y.Type.Kind == types.Invalid || y.Op == types.OpCol && y.Col < 0 {
				t.Fatalf("%q: node %s of type %s, column %d", text, y, y.Type, y.Col)
			}
			return true
		})
		_ = x.String()
	}
	x, _ := b.check(text)
	verify(x)
	if x != nil && x.Fixed() {
		b.c.diags = diags{}
		verify(b.c.constExpr(b.source("t", text), &b.sc))
	}
	sc := b.sc
	var calls []types.AggCall
	sc.aggs, sc.keys, sc.aggBase = &calls, types.Schema{Fields: sc.schema.Fields[:2]}, 2
	b.c.diags = diags{}
	verify(b.c.expr(b.source("t", text), &sc))
}

func FuzzExpr(f *testing.F) {
	files, _ := filepath.Glob("testdata/expr/*")
	for _, path := range files {
		data, err := os.ReadFile(path)
		require.NoError(f, err)
		for _, line := range strings.Split(string(data), "\n") {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		watch := time.AfterFunc(10*time.Second, func() { panic(fmt.Sprintf("%q does not end", text)) })
		defer watch.Stop()
		checkFuzzed(t, fuzzBench(), text)
	})
}

// TestExprCorpusSafe runs the corpus, errors at run time included, through all scopes.
func TestExprCorpusSafe(t *testing.T) {
	dir := corpusDir(t, "expr")
	b := fuzzBench()
	for _, file := range []string{"expr-corpus.jsonl", "expr-errors.jsonl"} {
		for _, c := range readCorpus(t, filepath.Join(dir, file)) {
			checkFuzzed(t, b, c.Expr)
		}
	}
}

// TestExprBounds gives expressions that would take for ever, or all memory, without bounds.
func TestExprBounds(t *testing.T) {
	nest := func(open, middle, end string, n int) string {
		return strings.Repeat(open, n) + middle + strings.Repeat(end, n)
	}
	double := "let v0 = a; "
	for i := 1; i < 40; i++ {
		prev, name := "v"+string(rune('a'+(i-1)%26))+strings.Repeat("x", (i-1)/26), "v"+string(rune('a'+i%26))+strings.Repeat("x", i/26)
		if i == 1 {
			prev = "v0"
		}
		double += "let " + name + " = " + prev + " + " + prev + "; "
	}
	record := "let q0 = {x: 1, y: 1}; "
	for i := 1; i < 40; i++ {
		prev := "q" + strings.Repeat("z", i-1)
		if i == 1 {
			prev = "q0"
		}
		record += "let q" + strings.Repeat("z", i) + " = {x: " + prev + ", y: " + prev + "}; "
	}
	for name, text := range map[string]string{
		"brackets":     nest("(", "a", ")", 100_000),
		"150 brackets": nest("(", "a", ")", 150),
		"lists":        nest("[", "a", "]", 201),
		"minus":        strings.Repeat("- ", 90_000) + "a",
		"not":          strings.Repeat("not ", 200_000) + "ok",
		"not once":     strings.Repeat("!", 20_000) + "ok",
		"sum":          "a" + strings.Repeat(" + a", 40_000),
		"short sum":    "a" + strings.Repeat(" + a", 900),
		"power":        "a" + strings.Repeat(" ** a", 40_000),
		"ternary":      strings.Repeat("ok ? a : ", 20_000) + "a",
		"elvis":        nest("(", "ok", " ?: ok)", 150),
		"comparison":   nest("a < (", "a < a < a", " ? 1 : 2) < b", 150),
		"coalesce":     "b" + strings.Repeat(" ?? b", 40_000),
		"let":          double + "1",
		"let used":     double + "v" + "nx",
		"records":      record + "q" + strings.Repeat("z", 39),
		"members":      "j" + strings.Repeat(".x", 40_000),
		"closures":     nest("map(xs, ", "#", ")", 150),
		"list closure": nest("map([", "a", "], #)", 90),
		"pipes":        "s" + strings.Repeat(" | upper()", 20_000),
		"long list":    "a in [" + strings.Repeat("1, ", 40_000) + "1]",
		"ifs":          strings.Repeat("if ok { a } else ", 9_000) + "{ a }",
		"calls":        nest("upper(", "s", ")", 190),
		"constant":     "count(1..1000000, count(1..1000000, # > 0) > 0)",
		"open":         strings.Repeat("map(", 50_000),
		"unclosed":     strings.Repeat("[{(", 60_000),
		"comment":      "a /*" + strings.Repeat("*", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			b := fuzzBench()
			start := time.Now()
			checkFuzzed(t, b, text)
			require.Less(t, time.Since(start), 20*time.Second)
		})
	}
}

// TestFnBounds gives functions whose bodies grow without bounds.
func TestFnBounds(t *testing.T) {
	b := newBench(testEnv())
	b.sc.schema = types.Schema{Fields: testFields("a: int")}
	for i := range 40 {
		body := "x + x"
		if i > 0 {
			prev := "f" + strings.Repeat("f", i-1)
			body = prev + "(x) + " + prev + "(x)"
		}
		name := "f" + strings.Repeat("f", i)
		b.sc.fns[name] = &fn{name: name, params: testFields("x: int"), body: b.source(name, body), scope: &scope{fns: b.sc.fns}}
	}
	x, found := b.check("ff(a)")
	require.NotNil(t, x, "%v", found)
	_, found = b.check(strings.Repeat("f", 40) + "(a)")
	require.NotEmpty(t, found)
	require.Equal(t, "T229", found[0].Code)

	// Each function calls the next: many, but no recursion.
	for i := range 150 {
		name := "g" + strings.Repeat("g", i)
		b.sc.fns[name] = &fn{name: name, params: testFields("x: int"), body: b.source(name, name+"g(x)"), scope: &scope{fns: b.sc.fns}}
	}
	last := "g" + strings.Repeat("g", 150)
	b.sc.fns[last] = &fn{name: last, params: testFields("x: int"), body: b.source(last, "x"), scope: &scope{fns: b.sc.fns}}
	_, found = b.check("g(a)")
	require.NotEmpty(t, found)
}

func BenchmarkExpr(b *testing.B) {
	bench := fuzzBench()
	for name, text := range map[string]string{
		"short": "a > 5",
		"long":  `ok and a * 0.908 > 100 and s startsWith "x" ? upper(s) + "/" + (n ?? "") : a in [1, 2, 3] ? "y" : nil`,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				bench.check(text)
			}
		})
	}
}
