package syntax

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// scriptGen draws scripts that are right, of every kind of statement, with names long and short.
type scriptGen struct{ t *rapid.T }

func (g scriptGen) n(most int) int { return rapid.IntRange(0, most).Draw(g.t, "n") }

func (g scriptGen) one(of ...string) string { return rapid.SampledFrom(of).Draw(g.t, "one") }

func (g scriptGen) name() string {
	return g.one("a", "b", "at", "key", "by", "window", "amount", "stream", "last", `@"order id"`, "customer_name", "a_column_with_a_name_that_is_rather_long_for_one", "größe")
}

func (g scriptGen) many(most int, f func() string) string {
	var out []string
	for range 1 + g.n(most) {
		out = append(out, f())
	}
	return strings.Join(out, ",")
}

func (g scriptGen) expr(depth int) string {
	if depth <= 0 {
		return g.one("1", "1_000", ".5", `"text"`, `'it'`, "5m", "@2026-01-31", "nil", "true", "`raw\nlines`", `b"x"`) + ""
	}
	e := func() string { return g.expr(depth - 1 - g.n(1)) }
	switch g.n(13) {
	case 0:
		return e() + g.one("+", "-", " and ", " or ", "||", "&&", "**", "%", " in ", " not in ", " contains ", "??", "==") + e()
	case 1:
		return e() + "?" + e() + ":" + e()
	case 2:
		return e() + "?" + e() + ":" + e() + "?" + e() + ":" + e()
	case 3:
		return g.one("f", "sum", "a_function_with_a_long_name") + "(" + g.many(3, e) + ")"
	case 4:
		return "[" + g.many(5, e) + g.one("", ",") + "]"
	case 5:
		return "{" + g.many(3, func() string { return g.one("a", "bb", "a_rather_long_key") + ":" + e() }) + "}"
	case 6:
		return "(" + e() + ")" + g.one("", "[0]", "[1:3]", "?.[2]", ".a", "?.b", " | lower()")
	case 7:
		return g.one("-", "!", "not ", "- -") + e()
	case 8:
		return "filter(xs,{# > 1 and .a ==" + e() + "})"
	case 9:
		return "(let q = " + e() + "; q)"
	case 10:
		return "(if " + e() + "{" + e() + "}else{" + e() + "})"
	}
	return g.name()
}

func (g scriptGen) typ(depth int) string {
	t := g.one("int", "string", "time(ms)", `time("2006-01-02")`, "float", "any")
	switch k := g.n(4); {
	case depth > 0 && k == 0:
		t = "[" + g.typ(depth-1) + "]"
	case depth > 0 && k == 1:
		t = "{" + g.many(3, func() string { return g.name() + ":" + g.typ(depth-1) }) + "}"
	}
	return t + g.one("", "", "?")
}

func (g scriptGen) schema() string {
	return " schema{" + g.many(5, func() string { return g.name() + ":" + g.typ(2) }) + g.one("", ",") + "}"
}

func (g scriptGen) call() string {
	return g.one("csv", "jsonl", "rows") + "(" + g.many(2, func() string { return g.one("", "header:") + g.expr(2) }) + ")"
}

func (g scriptGen) input() string {
	s := g.call()
	if g.n(1) == 0 {
		s += g.schema()
	}
	if g.n(1) == 0 {
		s += " time " + g.one("at", "time(at, \"x\")") + g.one("", " lag 5s", " idle 1m lag 5s")
	}
	if g.n(2) == 0 {
		s += " key " + g.many(2, g.name)
	}
	if g.n(2) == 0 {
		s += " on_error " + g.one("drop", "fail", "into bad", `into csv("bad.csv") schema{a:int}`)
	}
	return s
}

func (g scriptGen) item() string {
	return g.one("", "x=", "a_long_name_of_a_column=", "m=") + g.expr(3)
}

func (g scriptGen) items() string { return g.many(6, g.item) }

func (g scriptGen) plain() string { return g.many(3, func() string { return g.expr(1) }) }

// clauses draws some of the clauses that a stage takes, in any order.
func (g scriptGen) clauses(of ...string) string {
	s := ""
	for _, c := range rapid.Permutation(of).Draw(g.t, "clauses") {
		if g.n(2) == 0 {
			continue
		}
		s += " " + c + " "
		switch c {
		case "by", "per":
			s += g.plain()
		case "window":
			s += g.one("tumbling(1m)", "hopping(10m, every:1m)", "session(30m,max: 4h)")
		case "emit":
			s += g.one("final", "changes", "changes every 10s")
		case "late":
			s += g.one("drop", "into late_rows", "allow 5m", `into csv("late.csv") schema{a:int}`)
		case "retain":
			s += g.one("forever", "5m")
		case "keep":
			s += g.one("first", "last", "ties")
		case "within":
			s += g.one("5m", "[-1m,5m]", "a+b")
		case "on":
			s += g.expr(3)
		case "as":
			s += g.name()
		case "rows":
			s += "10"
		case "on_error":
			s += g.one("drop", "into bad")
		}
	}
	return s
}

func (g scriptGen) stage(last bool) string {
	switch k := g.n(14); {
	case k == 0 && last:
		s := "split{ "
		for range 1 + g.n(3) {
			s += " when " + g.expr(3) + "=>" + g.one("b", g.call())
		}
		return s + g.one("", " else=>c") + "}"
	case k == 1 && last:
		s := "pattern" + g.clauses("by", "within", "late") + "{ first=" + g.expr(2)
		for range g.n(3) {
			s += g.one(" then ", " next ") + g.one("x=", "not y=") + g.expr(2)
		}
		return s + "}"
	case k == 2 && last:
		return "into " + g.one("out", g.call(), g.call()+g.schema())
	case k < 4:
		return "where " + g.expr(4)
	case k < 6:
		return g.one("derive ", "select ") + g.items() + g.clauses("per", "within", "on_error", "rows")
	case k < 8:
		return "aggregate " + g.items() + g.clauses("by", "window", "emit", "late", "retain")
	case k == 8:
		return g.one("", "left ", "semi ") + "join " + g.one("other", g.input()) + g.clauses("as", "on", "within", "retain", "window")
	case k == 9:
		return "top 3 by " + g.many(2, func() string { return g.expr(2) + g.one("", " desc", " asc") }) + g.clauses("per", "window", "keep")
	case k == 10:
		return "dedup" + g.clauses("by", "within", "keep", "late")
	case k == 11:
		return "union a,b," + g.call()
	case k == 12:
		return "my_pipe(" + g.many(2, func() string { return g.expr(2) }) + ")"
	case k == 13:
		return "tee " + g.one("seen", g.call()+g.schema())
	}
	return "limit 5"
}

func (g scriptGen) stages() string {
	s := ""
	n := g.n(4)
	for i := range n {
		s += g.one("|>", " |> ", "\n  |> ") + g.stage(i == n-1)
	}
	return s
}

func (g scriptGen) statement() string {
	switch g.n(11) {
	case 0:
		return `use "lib/web.ebb"`
	case 1:
		return "param " + g.name() + ":" + g.typ(2) + g.one("", "="+g.expr(2))
	case 2:
		return "let " + g.name() + "=" + g.expr(4)
	case 3:
		return "fn low(" + g.many(3, func() string { return g.name() + ":" + g.typ(1) }) + ")=" + g.expr(4)
	case 4:
		return "pipe p(n:int)=" + g.one("", "|>") + g.stage(false) + g.stages()
	case 5:
		return "source " + g.name() + "=" + g.input()
	case 6:
		return "sink s=" + g.call() + g.one("", g.schema())
	case 7:
		return "set checkpoint . interval=" + g.expr(1)
	case 8:
		s := "test \"what\"{"
		for range g.n(4) {
			s += "\n  " + g.one("given a=", "expect ordered b=", "expect error", "advance", "restore parallelism", "rollback") + " " + g.expr(0)
			s += "\n    " + g.one("crash", "checkpoint", "given a=["+g.many(3, func() string { return g.expr(3) })+"]")
		}
		return s + "\n}"
	case 9:
		return g.input() + g.stages()
	}
	return "stream " + g.name() + "=" + g.one("orders", g.input()) + g.stages()
}

// TestFormatRapid formats scripts that were drawn, as they are and with line breaks and comments strewn in.
func TestFormatRapid(t *testing.T) {
	good := 0
	rapid.Check(t, func(t *rapid.T) {
		g := scriptGen{t}
		var lines []string
		for range 1 + g.n(3) {
			lines = append(lines, g.statement())
		}
		text := strings.Join(lines, "\n")
		script, diags := Parse("t", text)
		require.Zero(t, checkFormat(t, text), text)
		if len(diags) > 0 {
			return
		}
		good++
		// One line break may stand anywhere between two tokens that are no margin.
		tokens, _ := Lex(script.Source)
		var b strings.Builder
		for i, tok := range tokens {
			if i > 0 && !tok.Trivia() && tok.Kind != KindEOF && tokens[i-1].Kind != KindComment && tok.Lead == LeadNone && g.n(15) == 0 {
				b.WriteString(g.one(litter...))
			}
			b.WriteString(tok.Text)
		}
		if again, diags := Parse("t", b.String()); len(diags) > 0 || shape(again) != shape(script) {
			return // a line break ended a step of a test
		}
		require.Zero(t, checkFormat(t, b.String()), b.String())
	})
	t.Logf("%d without mistakes", good)
	require.NotZero(t, good)
}

// TestFormatLarge formats megabytes, most of them in one line, in shapes that would show a step that does not take linear time.
func TestFormatLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	repeat := func(s string, size int) string { return strings.Repeat(s, size/len(s)) }
	for name, text := range map[string]string{
		"list":        "let x = [" + repeat("1, ", 256<<10) + "1]",
		"string":      `let x = "` + repeat("a", 10<<20) + `"`,
		"sum":         "let x = a" + repeat(" + b", 128<<10),
		"choices":     "let x = " + repeat("a ? b : ", 64<<10) + "c",
		"calls":       "let x = f(1)" + repeat(" and f(a, [1])", 64<<10),
		"stages":      "stream x = y" + repeat(" |> where a", 64<<10),
		"items":       "stream x = y |> derive a = 1" + repeat(", b = a", 64<<10),
		"clauses":     "stream x = y" + repeat(" |> aggregate n = count() by a window tumbling(1m)", 64<<10),
		"statements":  repeat("let x = 1 // one\n", 64<<10),
		"comments":    "let x = " + repeat("/**/ ", 128<<10) + "1",
		"notes":       "let x = [" + repeat("1, // one\n ", 64<<10) + "1]",
		"own lines":   repeat("// a comment\n\n\n", 128<<10),
		"records":     "let x = [" + repeat("{a: 1, b: [2, 3]}, ", 128<<10) + "1]",
		"cases":       "stream x = y |> split { " + repeat("when a => b ", 64<<10) + "}",
		"broken":      repeat("let x = = 1\n", 64<<10),
		"backticks":   "let x = 1 " + repeat("` \n", 64<<10),
		"deep":        "let x = " + strings.Repeat("f(a, ", MaxDepth-1) + "1" + strings.Repeat(")", MaxDepth-1),
		"wide tokens": "let x = f(" + repeat(`"`+repeat("b", 300)+`", `, 64<<10) + "1)",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			out, _ := Format("big.ebb", text)
			t.Logf("%s: %v, %d bytes", name, time.Since(start), len(out))
			require.Less(t, time.Since(start), time.Minute)
			again, _ := Format("big.ebb", out)
			require.True(t, out == again, "formatted twice")
		})
	}
}
