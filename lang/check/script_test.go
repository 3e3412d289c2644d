package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/lang/syntax"
)

// TestScripts runs the files of testdata/script. A case is `check`, with the script below it; `file NAME` gives the text of
// a file that later cases of the same test file may `use`. It prints the diagnostics, or the checked script.
func TestScripts(t *testing.T) {
	seen := map[string]bool{}
	good, bad := 0, 0
	datadriven.Walk(t, "testdata/script", func(t *testing.T, path string) {
		files := map[string]string{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "file":
				files[d.CmdArgs[0].Key] = d.Input
				return ""
			case "check":
				opts := Options{Set: map[string]string{}}
				for _, arg := range d.CmdArgs {
					if arg.Key == "set" {
						for _, v := range arg.Vals {
							name, value, _ := strings.Cut(v, "=")
							opts.Set[name] = strings.NewReplacer("_", " ", ";", ",").Replace(value)
						}
					}
				}
				script, diags := Text("main.ebb", d.Input, newWorld(files), opts)
				checkPlaces(t, diags)
				for _, x := range diags {
					seen[x.Code] = true
				}
				if len(diags) > 0 {
					bad++
					var b strings.Builder
					for _, x := range diags {
						b.WriteString(Render(x))
					}
					return b.String()
				}
				checkClosed(t, script)
				good++
				if out := dump(script); out != "" {
					return out
				}
				return "nothing\n"
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
	require.GreaterOrEqual(t, good, 40, "good scripts")
	require.GreaterOrEqual(t, bad, 130, "bad scripts")
	var untested, unknown []string
	for code := range statementCodes {
		if !seen[code] && code != "N111" { // which needs thousands of statements: TestChains
			untested = append(untested, code)
		}
	}
	for code := range seen {
		if Codes[code] == "" && syntax.Codes[syntax.Code(code)] == "" {
			unknown = append(unknown, code)
		}
	}
	slices.Sort(untested)
	require.Empty(t, untested, "codes that no case shows")
	require.Empty(t, unknown, "codes that the table lacks")
}

// checkPlaces checks that each diagnostic points into its text, and that its line is the one it says.
func checkPlaces(t *testing.T, diags []Diagnostic) {
	for _, d := range diags {
		require.NotNil(t, d.Source)
		require.GreaterOrEqual(t, d.Span.Start.Offset, 0)
		require.LessOrEqual(t, d.Span.Start.Offset, d.Span.End.Offset, d.Message)
		require.LessOrEqual(t, d.Span.End.Offset, len(d.Source.Text), d.Message)
		require.Equal(t, d.Source.Pos(d.Span.Start.Offset), d.Span.Start, fmt.Sprint(d.Code, d.Message))
	}
}
