package lint_test

import (
	"path/filepath"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

func theText(text string) lint.Text {
	env := exec.OS().ReadOnly()
	lib := stdlib.New()
	return lint.Text{Name: caseName, Text: text, Env: &planner.World{Catalog: lib, Env: env}, Facts: planner.Facts(lib, env)}
}

// TestMend makes all fixes of all cases of all rules: what comes out parses no worse, and nothing is left to fix.
func TestMend(t *testing.T) {
	if testing.Short() { // under the race detector: one goroutine
		t.Skip()
	}
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	texts := map[string]string{}
	for _, path := range files {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			texts[d.Pos] = d.Input
			return d.Expected
		})
	}
	for _, r := range lint.Rules() {
		texts[r.Code] = r.Bad
	}
	t.Chdir("testdata/files")
	fixed := 0
	for name, text := range texts {
		_, before := syntax.Parse(caseName, text)
		for _, most := range []lint.Applicability{lint.NoFix, lint.Safe, lint.Unsafe} {
			m := lint.Mend(theText(text), most)
			fixed += m.Made
			_, after := syntax.Parse(caseName, m.Text)
			require.LessOrEqual(t, len(after), len(before), "%s:\n%s", name, m.Text)
			again := lint.Mend(theText(m.Text), most)
			require.Equal(t, m.Text, again.Text, "%s: the second time", name)
			require.Zero(t, again.Made)
			if most == lint.NoFix {
				require.Zero(t, m.Made)
			}
		}
	}
	require.Greater(t, fixed, 20)
}

// TestMendTogether: fixes that touch each other, that make others possible, that would break the script.
func TestMendTogether(t *testing.T) {
	t.Chdir("testdata/files")
	for _, c := range []struct {
		name, text, want string
		most             lint.Applicability
		made             int
	}{
		{"several", "csv(\"orders.csv\") | where amount > 15.0 | limit 2\n", "csv(\"orders.csv\") |> where amount > 15.0 |> limit 2\n", lint.Safe, 2},
		{"one shows the next", "csv(\"orders.csv\") | wher amount > 15.0\n", "csv(\"orders.csv\") |> where amount > 15.0\n", lint.Unsafe, 2},
		{"only safe ones", "csv(\"orders.csv\") | wher amount > 15.0\n", "csv(\"orders.csv\") |> wher amount > 15.0\n", lint.Safe, 1},
		{"a comment loses one code after the other", "// lint:ignore W990,W991,W992 long ago\ncsv(\"orders.csv\")\n", "csv(\"orders.csv\")\n", lint.Safe, 3},
		{"nothing", "csv(\"orders.csv\")\n", "csv(\"orders.csv\")\n", lint.Unsafe, 0},
		{"carriage returns", "let _a = 1 let _b = 2\r\n", "let _a = 1\nlet _b = 2\n", lint.Safe, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := lint.Mend(theText(c.text), c.most)
			require.Equal(t, c.want, m.Text)
			require.Equal(t, c.made, m.Made)
		})
	}
	require.Equal(t, "\uFEFFa\r\nb\r\n", lint.Restore("\uFEFFa\r\n", "a\nb\n"))
	require.Equal(t, "a\nb\n", lint.Restore("a\r\nb\nc", "a\nb\n"))
	require.Equal(t, "a\r\nb\r\n", lint.Restore("a\r\nb\nc\r\n", "a\nb\n"), "most of them")
	require.Equal(t, "a\nb\n", lint.Restore("a\r\nb\nc\n", "a\nb\n"), "most of them")
	require.Equal(t, "a", lint.Restore("", "a"))
}
