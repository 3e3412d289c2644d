package syntax

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// TestLargeScripts parses ten megabytes, most of them in one line, in shapes that would show a step that does not take linear
// time. Those that keep participle busy are smaller; a quadratic step would still take minutes.
func TestLargeScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	line := func(s string) string { return strings.Repeat(s, 10<<20/len(s)) }
	// What takes more than linear time would not end in a minute at these sizes, either.
	repeat := func(s string) string { return strings.Repeat(s, 2<<20/len(s)) }
	some := func(s string) string { return strings.Repeat(s, 1<<18/len(s)) }
	for _, c := range []struct {
		name, text string
		errors     int // -1 for any number but none
	}{
		{"string", `let x = "` + line("a") + `"`, 0},
		{"list", "let x = [" + repeat("123456789, ") + "1]", 0},
		{"sum", "stream x = y |> where " + repeat("a_column_name + ") + "1 > 0", 0},
		{"stages", "stream x = y" + some(" |> where a"), 0},
		{"select", "stream x = y |> select a" + line(",column_name_of_some_length"), 0},
		{"commas", "stream x = y |> select a" + some(","), 1},
		{"brackets", "let x = " + repeat("("), 1},
		{"closers", "let x = 1" + some(")"), -1},
		{"groups", "let x = 1" + some(" + (1)"), 0},
		{"comments", "let x = " + repeat("/**/ ") + "1", 0},
		{"unclosed comments", "let x = 1 " + repeat("/* "), 1},
		{"backticks", "let x = 1 " + some("` \n"), -1},
		{"quotes", some("'\n"), -1},
		{"garbage", some("~ $ ? "), -1},
		{"binary", line("\x00\xff\xfe"), -1},
		{"pipes", some("|>"), -1},
		{"words", some("a "), -1},
		{"lost commas", "stream x = y |> select " + some("a b, "), -1},
		{"labels", "stream x = y |> aggregate n = count() " + some("by by "), -1},
		{"ternaries", "let x = " + some("a ? b : ") + "c", 0},
		{"open ternaries", "let x = " + some("a ? ") + "c", 1},
		{"cases", "stream x = y |> split { " + some("when a => b ") + "}", 0},
		{"bad cases", "stream x = y |> split { " + some("when a b ") + "}", -1},
		{"bad lines", "stream x = y |> split {\n" + some(" wen a\n") + "}", -1},
		{"steps", "test \"x\" {\n" + some(" crash\n") + "}", 0},
		{"statements", some("let x = 1\n"), 0},
		{"bad statements", some("lat x = 1\n"), -1},
		{"numbers", "let x = " + line("1"), 0},
		{"duration", "let x = " + repeat("1h"), 1},
		{"members", "let x = a" + some(".b"), 0},
		{"joins", "stream x = y" + some(" left join"), -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			script, diags := Parse("big.ebb", c.text)
			took := time.Since(start)
			for _, d := range diags {
				out := Render(script.Source, d)
				for _, line := range strings.Split(out, "\n") {
					require.Less(t, utf8.RuneCountInString(line), 400)
				}
			}
			t.Logf("%v, %d diagnostics", took, len(diags))
			require.Less(t, took, time.Minute) // far above what it takes on an idle machine
			require.LessOrEqual(t, len(diags), maxDiags+1)
			switch {
			case c.errors < 0:
				require.NotEmpty(t, diags)
			default:
				require.Len(t, diags, c.errors)
			}
		})
	}
}

func TestDeepBrackets(t *testing.T) {
	_, diags := Parse("t", "let x = "+strings.Repeat("(", MaxDepth)+"1"+strings.Repeat(")", MaxDepth))
	require.Empty(t, diags)
	for _, n := range []int{MaxDepth + 1, 5000} {
		_, diags = Parse("t", "let x = "+strings.Repeat("[", n)+"\nlet y =")
		require.Len(t, diags, 2)
		require.Equal(t, "P023", diags[0].Code)
		require.Equal(t, "P033", diags[1].Code)
	}
	_, diags = Parse("t", "param x: "+strings.Repeat("[", MaxDepth)+"int"+strings.Repeat("]", MaxDepth))
	require.Empty(t, diags)
	_, diags = Parse("t", "param x: "+strings.Repeat("{a:", MaxDepth+1)+"int"+strings.Repeat("}", MaxDepth+1))
	require.Len(t, diags, 1)
}
