package lint_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

func lintText(text string, choice lint.Choice) lint.Result {
	env := exec.OS().ReadOnly()
	lib := stdlib.New()
	return lint.Lint([]lint.Text{{Name: caseName, Text: text, Env: &planner.World{Catalog: lib, Env: env}, Facts: planner.Facts(lib, env), Choice: choice}})[0]
}

// TestReach: how far a suppression counts. I601 is found wherever an input cannot be opened.
func TestReach(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"its line", "csv(\"gone.csv\") // lint:ignore I601 made later\ncsv(\"gone.csv\")", []string{"I601 2:5"}},
		{"the next statement, of several lines", "// lint:ignore I601 made later\ncsv(\n  \"gone.csv\")\n  |> union csv(\"gone.csv\")\ncsv(\"gone.csv\")", []string{"I601 5:5"}},
		{"blanks and comments in between", "// lint:ignore I601 made later\n\n// more\ncsv(\"gone.csv\")", nil},
		{"the next stage", "rows([{a: 1}])\n  // lint:ignore I601 made later\n  |> union csv(\"gone.csv\")\n  |> union csv(\"gone.csv\")", []string{"I601 4:16"}},
		{"the next line", "rows([{a: 1}]) |> union\n  // lint:ignore I601 made later\n  csv(\"gone.csv\"),\n  csv(\"gone.csv\")", []string{"I601 4:7"}},
		{"the file", "csv(\"gone.csv\")\ncsv(\"gone.csv\") // lint:file-ignore I601 made later", nil},
		{"a broken statement", "// lint:ignore I601 made later\ncsv(\"gone.csv\") |> where (\ncsv(\"gone.csv\")", []string{"P020 2:26", "L001 1:16", "I601 3:5"}},
		{"in front of the end", "csv(\"gone.csv\")\n// lint:ignore I601 made later", []string{"I601 1:5", "L001 2:16"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, f := range lintText(c.text, lint.Choice{Ignore: []string{"F"}}).Found {
				got = append(got, fmt.Sprintf("%s %d:%d", f.Code, f.Span.Start.Line, f.Span.Start.Column))
			}
			require.ElementsMatch(t, c.want, got)
		})
	}
}

// TestChoice: the longer prefix counts, and what keeps a script from running is always told.
func TestChoice(t *testing.T) {
	text := "csv(\"gone.csv\") // lint:ignore\nrows([{a: 1}]) |> wher a > 0"
	for _, c := range []struct {
		choice lint.Choice
		want   []string
	}{
		{lint.Choice{}, []string{"I601", "L002", "P002"}},
		{lint.Choice{Select: []string{"L"}}, []string{"L002", "P002"}},
		{lint.Choice{Select: []string{"W"}, ExtendSelect: []string{"I6"}}, []string{"I601", "P002"}},
		{lint.Choice{Ignore: []string{"I", "L0", "P"}}, []string{"P002"}},
		{lint.Choice{Select: []string{"I601"}, Ignore: []string{"I"}}, []string{"I601", "P002"}},
		{lint.Choice{Select: []string{"I6"}, Ignore: []string{"I6"}}, []string{"P002"}},
		// A suppression of what is not looked for is not called unused.
		{lint.Choice{Select: []string{"L001"}}, []string{"P002"}},
	} {
		var got []string
		for _, f := range lintText(text, c.choice).Found {
			got = append(got, f.Code)
		}
		require.Equal(t, c.want, got, "%+v", c.choice)
	}
	require.NoError(t, lint.CheckPrefix("P00"))
	require.EqualError(t, lint.CheckPrefix("p001"), "no rule has a code that starts with \"p001\"; did you mean `P001`?")
	require.EqualError(t, lint.CheckPrefix(""), "no rule has a code that starts with \"\"; `ebb lint --explain all` lists the codes")
	require.ErrorContains(t, lint.CheckPrefix("P0001"), "did you mean `P001`?")
}
