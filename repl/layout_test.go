package repl

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ebb-lang/ebb/lang/syntax"
)

func TestLayout(t *testing.T) {
	text := "#!/usr/bin/env ebb\n// first\nlet a = 1\n.help\n\nstream x = [1,\n2]\n|> where a > 0\n\n// a remark\n  |> limit 2\n" +
		"/* one\n.quit\ntwo */ let b = `raw\nlet c\n` + \"`\"\nlet d = 'it\\'s' // `\n// behind\n"
	require.Equal(t, []Statement{
		{"// first\nlet a = 1", 2},
		{".help", 4},
		{"\nstream x = [1,", 5},
		{"2]\n|> where a > 0\n\n// a remark\n  |> limit 2", 7},
		{"/* one\n.quit\ntwo */ let b = `raw\nlet c\n` + \"`\"", 12},
		{"let d = 'it\\'s' // `\n// behind\n", 17},
	}, cutLines(text))
	require.Empty(t, cutLines("\n// nothing\n/* at\nall */\n"))
}

// What the layout cuts is what the parser takes for statements, whatever lines there are.
func TestLayoutIsThatOfTheParser(t *testing.T) {
	line := rapid.SampledFrom([]string{"let a = 1", "stream s = t", "  |> where x", "|> limit 1", ")", "  + 2", "", "// c", "  // c", "/* a", "*/", "a `raw", "` + 1",
		"'q` \\' /*'", "\"// \\\"\"", "x /* y */ z", "\tz"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(line, 1, 12).Draw(t, "lines"), "\n")
		tokens, diags := syntax.Lex(syntax.NewSource("x", text))
		if slices.ContainsFunc(diags, func(d syntax.Diagnostic) bool { return d.Code == "P005" || d.Code == "P006" }) {
			return // what is never closed is an error wherever it is cut
		}
		var want []int
		for _, k := range tokens {
			if k.Trivia() || k.Kind == syntax.KindEOF {
				continue
			}
			if len(want) == 0 || k.Lead == syntax.LeadMargin && k.Kind != syntax.KindPipe && k.Kind != syntax.KindClose {
				want = append(want, k.Span.Start.Line)
			}
		}
		var got []int
		for _, s := range cutLines(text) {
			inner, _ := syntax.Lex(syntax.NewSource("x", s.Text))
			for _, k := range inner {
				if !k.Trivia() && k.Kind != syntax.KindEOF {
					got = append(got, s.Line+k.Span.Start.Line-1)
					break
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q is cut at lines %v, not at %v", text, got, want)
		}
	})
}
