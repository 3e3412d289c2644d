package lint_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

type printout struct {
	mu sync.Mutex
	bytes.Buffer
}

func (p *printout) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Buffer.Write(b)
}

// results runs a script in a copy of testdata/files and gives what it prints and writes, line by line, sorted; ok is false if it
// does not compile.
func results(t *testing.T, files, text string) (lines []string, ok bool) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(files)))
	t.Chdir(dir)
	out := &printout{}
	env := exec.OS()
	env.Stdout, env.Stderr = out, out
	lib := stdlib.New()
	c, diags, err := planner.Compile(caseName, text, lib, env, planner.Options{Parallelism: 1,
		Print: &types.ConnArgs{Name: "console", Args: map[string]any{"format": "jsonl"}}})
	if err != nil || c == nil || slices.ContainsFunc(diags, func(d check.Diagnostic) bool { return d.Severity == syntax.SevError }) {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	job, err := exec.Start(ctx, c.Graph(lib, env), env, exec.Setup{})
	if err == nil {
		err = job.Wait()
	}
	require.NoError(t, ctx.Err(), "it ends:\n%s", text)
	if err != nil {
		return []string{"it fails"}, true
	}
	lines = strings.Split(out.String(), "\n")
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var b []byte
			b, err = os.ReadFile(path)
			for _, line := range strings.Split(string(b), "\n") {
				lines = append(lines, path+": "+line)
			}
		}
		return err
	}))
	slices.Sort(lines)
	return lines, true
}

// endless are signs of scripts that do not end, or of updating results, whose steps may be others each time.
var endless = []string{"follow: true", "nexmark(", "generate(", "changes", "now()"}

// TestSafeFixesKeepResults runs all cases before and after their safe fixes.
func TestSafeFixesKeepResults(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, many texts: takes minutes under the race detector")
	}
	paths, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	texts := map[string]string{}
	for _, path := range paths {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			texts[d.Pos] = d.Input
			return d.Expected
		})
	}
	files, err := filepath.Abs("testdata/files")
	require.NoError(t, err)
	t.Chdir(files)
	compared := 0
	for name, text := range texts {
		if strings.HasPrefix(text, "-- ") || slices.ContainsFunc(endless, func(s string) bool { return strings.Contains(text, s) }) {
			continue
		}
		m := lint.Mend(theText(text), lint.Safe)
		if m.Made == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			before, ok := results(t, files, text)
			if !ok {
				return // it did not run
			}
			after, ok := results(t, files, m.Text)
			require.True(t, ok, "it still runs:\n%s", m.Text)
			require.Equal(t, before, after, "%s\n=>\n%s", text, m.Text)
			compared++
		})
	}
	require.Greater(t, compared, 15)
}

// dice makes conditions of a few columns and literals that are near to each other, so that many of them say nothing.
type dice struct {
	*rand.Rand
	theme int // what most atoms of a condition are about
}

func (d dice) of(list ...string) string { return list[d.IntN(len(list))] }

func (d dice) atom() string {
	compare := d.of("==", "!=", "<", "<=", ">", ">=")
	about := d.IntN(12)
	if d.IntN(3) > 0 {
		about = d.theme
	}
	switch about {
	case 0:
		return d.of("b", "nb", "b == true", "nb == true", "nb != false", "nb ?? false", "nb ?? b")
	case 1:
		return d.of("i", "ni", "f", "nf", "s", "ns", "nb") + " " + d.of("==", "!=") + " nil"
	case 2:
		return d.of("s", "ns", "lower(s)", "upper(ns)") + " " + compare + " " + d.of(`""`, `"a"`, `"A"`, `"b"`)
	case 3:
		return d.of("i", "ni") + " " + d.of("in", "not in") + " " + d.of("[]", "[1]", "[1, 2]", "[2, 3, 1]", "[nil, 1]")
	case 4:
		return d.of("f", "f", "nf") + " " + compare + " " + d.of("1.0", "1.5", "2")
	case 5:
		return d.of("i", "ni", "2") + " " + compare + " " + d.of("i", "ni", "j")
	case 6:
		return d.of("f", "nf") + " " + compare + " " + d.of("f", "nf", "i", "ni")
	case 7:
		return d.of("len(s)", "abs(ni)", "abs(i)") + " " + compare + " " + d.of("0", "-1", "1")
	case 8:
		return d.of("true", "false", "1 < 2")
	case 9:
		return d.of("1", "0") + " " + d.of("<", "<=", ">") + " " + d.of("i", "ni") + " " + d.of("<", "<=", ">") + " " + d.of("3", "2")
	}
	return d.of("i", "ni", "j", "i + 1") + " " + compare + " " + d.of("0", "1", "2", "3", "1.5")
}

func (d dice) condition(depth int) string {
	if depth == 0 || d.IntN(5) == 0 {
		return d.atom()
	}
	switch d.IntN(8) {
	case 0:
		return "not (" + d.condition(depth-1) + ")"
	case 1:
		return "(" + d.condition(depth-1) + ") ? (" + d.condition(depth-1) + ") : (" + d.condition(depth-1) + ")"
	case 2: // a comparison and its contrary, which is none for null and NaN
		x, v, two := d.of("f", "nf", "i", "ni"), d.of("1", "2"), d.of("< >=", "<= >", "== !=", "> <", ">= <")
		a, b, _ := strings.Cut(two, " ")
		return x + " " + a + " " + v + d.of(" or ", " and ") + x + " " + b + " " + v
	}
	part := func() string {
		c := d.condition(depth - 1)
		if d.IntN(3) > 0 || strings.Contains(c, "?") {
			return "(" + c + ")"
		}
		return c
	}
	list := []string{part(), part()}
	for d.IntN(3) == 0 {
		list = append(list, part())
	}
	if d.IntN(4) == 0 {
		list = append(list, list[d.IntN(len(list))])
	}
	return strings.Join(list, d.of(" and ", " or ", " && "))
}

// TestConditions compares what the linter says of random conditions with what they are for all rows, and with what is left of
// them once it has taken away what says nothing.
func TestConditions(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, many texts: takes minutes under the race detector")
	}
	dir := t.TempDir()
	var rows strings.Builder
	rows.WriteString("i,ni,j,f,nf,s,ns,b,nb\n")
	for n := range 3000 {
		d := dice{Rand: rand.New(rand.NewPCG(uint64(n), 1))}
		fmt.Fprintf(&rows, "%s,%s,%s,%s,%s,%s,%s,%s,%s\n", d.of("-2", "-1", "0", "1", "2", "3", "4"), d.of("", "-1", "0", "1", "2", "3", "4"), d.of("0", "1", "2", "3", "4"),
			d.of("-1", "0", "1", "1.2", "1.5", "2", "3", "NaN"), d.of("", "-1", "0", "1", "1.5", "2", "3", "NaN"), d.of(`""`, "a", "A", "b", "c"), d.of("", "a", "A", "b", "c"),
			d.of("true", "false"), d.of("", "true", "false"))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "t.csv"), []byte(rows.String()), 0o666))
	const head = "source t = csv(\"t.csv\") schema {i: int, ni: int?, j: int, f: float, nf: float?, s: string, ns: string?, b: bool, nb: bool?}\nt |> select\n"
	constant, fixes := 0, 0
	for seed := range uint64(4) {
		d := dice{Rand: rand.New(rand.NewPCG(seed, 2))}
		t.Chdir(dir)
		var columns []string
		for len(columns) < 60 {
			d.theme = d.IntN(12)
			c := fmt.Sprintf("    c%d = %s", len(columns), d.condition(2))
			if _, found := lint.Look(caseName, head+c, theText("").Env, nil); slices.ContainsFunc(found, func(f lint.Finding) bool { return f.Severity == syntax.SevError }) {
				continue // types that do not go together
			}
			columns = append(columns, c)
		}
		text := head + strings.Join(columns, ",\n") + "\n"
		before, ok := results(t, dir, text)
		require.True(t, ok, text)
		t.Chdir(dir)
		// What is said of a whole condition holds for every row.
		_, found := lint.Look(caseName, text, theText("").Env, nil)
		for _, f := range found {
			inText(t, f)
			n := f.Span.Start.Line - 3
			whole := strings.TrimSuffix(columns[max(n, 0)][strings.Index(columns[max(n, 0)], "= ")+2:], ",")
			if f.Code != "X301" || text[f.Span.Start.Offset:f.Span.End.Offset] != whole {
				continue
			}
			constant++
			for _, line := range before {
				if !strings.HasPrefix(line, "{") {
					continue
				}
				is := strings.Contains(line, fmt.Sprintf("\"c%d\":true", n))
				require.Equal(t, strings.Contains(f.Message, "always true"), is, "%s\n%s", f.Message, line)
			}
		}
		m := lint.Mend(theText(text), lint.Safe)
		fixes += m.Made
		after, ok := results(t, dir, m.Text)
		require.True(t, ok, m.Text)
		require.Equal(t, len(before), len(after))
		for i := range before {
			if before[i] != after[i] {
				require.Equal(t, before[i], after[i], "%s\n=>\n%s", text, m.Text)
			}
		}
	}
	require.Greater(t, constant, 20)
	require.Greater(t, fixes, 100)
}
