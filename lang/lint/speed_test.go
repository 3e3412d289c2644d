package lint_test

import (
	"flag"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

var speed = flag.Bool("speed", false, "measure how long 1,000 scripts take")

// hundredLines is a script of 100 lines as people write them: sources, streams, windows, outputs.
func hundredLines(name string) string {
	var b strings.Builder
	for i := range 7 {
		b.WriteString(strings.NewReplacer("{i}", fmt.Sprint(i), "{name}", name).Replace(`source orders{i} = csv("orders.csv")
    schema { id: int, customer: string, amount: float, at: time }
    time at lag 5s
let least{i} = {i}.5
stream big{i} = orders{i}
    |> where amount >= least{i} and customer != "nobody"
    |> derive tax = amount * 0.2, total = amount + tax
stream per_minute{i} = big{i}
    |> aggregate n = count(), total = sum(total), p95 = quantile(amount, 0.95)
       by customer window tumbling(1m) late drop
per_minute{i}
    |> where n > 1
    |> select customer, n, total
    |> into jsonl("{name}_{i}.jsonl")
`))
	}
	b.WriteString("csv(\"orders.csv\") |> select id\ncsv(\"orders.csv\") |> limit 2\n")
	return b.String()
}

// TestSpeed measures what CI waits for: 1,000 scripts of 100 lines are to take less than two seconds.
func TestSpeed(t *testing.T) {
	n := 20
	if *speed {
		n = 1000
	}
	t.Chdir("testdata/files")
	env := exec.OS().ReadOnly()
	env.FS = disk.ReadOnly{FS: &disk.Once{FS: disk.OS{}}} // as the command
	lib := stdlib.New()
	var texts []lint.Text
	for i := range n {
		text := hundredLines(fmt.Sprint("s", i))
		require.Equal(t, 100, strings.Count(text, "\n"))
		texts = append(texts, lint.Text{Name: fmt.Sprint("s", i, ".ebb"), Text: text, Env: &planner.World{Catalog: lib, Env: env}, Facts: planner.Facts(lib, env)})
	}
	defer debug.SetGCPercent(debug.SetGCPercent(300)) // as the command, about: the heap grows by 32 MiB before it is collected
	start := time.Now()
	for _, r := range lint.Lint(texts) {
		require.Empty(t, r.Errors)
	}
	took := time.Since(start)
	t.Logf("%d scripts took %v", n, took)
	if *speed {
		require.Less(t, took, 2*time.Second)
	}
}

// BenchmarkLint measures what one script of 100 lines costs, and of it what parser, checker and layout take. What the whole takes
// beyond them is that of the rules.
func BenchmarkLint(b *testing.B) {
	b.Chdir("testdata/files")
	env := exec.OS().ReadOnly()
	lib := stdlib.New()
	world := &planner.World{Catalog: lib, Env: env}
	text := hundredLines("s")
	tree, _ := syntax.Parse("s.ebb", text)
	for _, part := range []struct {
		name string
		do   func()
	}{
		{"parse", func() { syntax.Parse("s.ebb", text) }},
		{"check", func() { check.Check(tree, world, check.Options{}) }},
		{"layout", func() { syntax.FormatScript(tree) }},
		{"whole", func() { lint.Look("s.ebb", text, world, planner.Facts(lib, env)) }},
	} {
		b.Run(part.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				part.do()
			}
		})
	}
}
