package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// Rules are tested with the real catalog and the real planner, in the folder testdata/files: orders.csv, logs.jsonl, web.ebb.
//
// Each rule has testdata/CODE.txt with at least three `bad` and three `good` scripts that are not made from its own example.
// Below `----` stands what is found with this code, and the text with the fix of each finding alone.
// `go test ./lang/lint -run TestCases -rewrite` writes it: look at each.

const (
	leastCases = 3
	caseName   = "case.ebb"
)

// elsewhere are the rules that no script alone can show: which test does instead.
var elsewhere = map[string]string{
	"D804": "the story lint_against.txtar",
}

// looked finds what the rules say of a text, or of the files of a txtar.
func looked(t *testing.T, text string) []lint.Finding {
	t.Helper()
	files := []txtar.File{{Name: caseName, Data: []byte(text)}}
	if a := txtar.Parse([]byte(text)); len(a.Files) > 0 {
		files = a.Files
	}
	env := exec.OS().ReadOnly()
	lib := stdlib.New()
	var texts []lint.Text
	for _, f := range files {
		texts = append(texts, lint.Text{Name: f.Name, Text: string(f.Data), Env: &planner.World{Catalog: lib, Env: env}, Facts: planner.Facts(lib, env)})
	}
	var found []lint.Finding
	for _, r := range lint.Lint(texts) {
		found = append(found, r.Found...)
	}
	for _, f := range found {
		inText(t, f)
	}
	return found
}

// inText checks that a finding and its fix point at text that exists.
func inText(t *testing.T, f lint.Finding) {
	t.Helper()
	spans := []syntax.Span{f.Span}
	if f.Fix != nil {
		at := 0
		for _, e := range f.Fix.Edits {
			require.GreaterOrEqual(t, e.Span.Start.Offset, at, "edits of %s are ascending and do not overlap", f.Code)
			at = e.Span.End.Offset
			spans = append(spans, e.Span)
		}
	}
	for _, s := range spans {
		require.True(t, 0 <= s.Start.Offset && s.Start.Offset <= s.End.Offset && s.End.Offset <= len(f.Source.Text), "%s: %v lies in the text", f.Code, s)
		require.Equal(t, f.Source.Pos(s.Start.Offset), s.Start, "%s: line and column of its span", f.Code)
		require.Equal(t, f.Source.Pos(s.End.Offset), s.End, "%s: line and column of the end of its span", f.Code)
	}
}

func with(code string, found []lint.Finding) (out []lint.Finding) {
	for _, f := range found {
		if f.Code == code {
			out = append(out, f)
		}
	}
	return out
}

func render(found []lint.Finding) string {
	var b strings.Builder
	for _, f := range found {
		b.WriteString(check.Render(f.Diagnostic))
	}
	return b.String()
}

// mended applies the fix of one finding and checks that it removes the finding and brings no error.
func mended(t *testing.T, f lint.Finding, text string, before []lint.Finding) string {
	t.Helper()
	require.NotEmpty(t, f.Fix.Text, "%s: what its fix does", f.Code)
	require.NotEqual(t, lint.NoFix, f.Fix.Applicability, "%s: its fix is safe or unsafe", f.Code)
	fixed := lint.Apply(text, f.Fix.Edits)
	after := looked(t, fixed)
	require.Less(t, len(with(f.Code, after)), len(with(f.Code, before)), "the fix of %s removes it:\n%s\nleaves\n%s", f.Code, fixed, render(after))
	old := map[string]int{}
	for _, f := range before {
		old[f.Code+f.Message]++
	}
	for _, f := range after {
		if f.Severity == syntax.SevError {
			old[f.Code+f.Message]--
			require.GreaterOrEqual(t, old[f.Code+f.Message], 0, "the fix brings an error:\n%s\n%s", fixed, check.Render(f.Diagnostic))
		}
	}
	return fixed
}

// TestExamples: a rule's bad example has its finding and no other that is more than information, its good one none of either.
func TestExamples(t *testing.T) {
	t.Chdir("testdata/files")
	seen := map[string]bool{}
	for _, r := range lint.Rules() {
		t.Run(r.Code, func(t *testing.T) {
			require.Regexp(t, `^[A-Z]\d\d\d$`, r.Code)
			require.False(t, seen[r.Code], "a code is one rule")
			seen[r.Code] = true
			require.Regexp(t, `^[a-z0-9]+(-[a-z0-9]+)*$`, r.Name)
			for what, s := range map[string]string{"Text": r.Text, "Why": r.Why} {
				require.NotEmpty(t, s, what)
				require.Equal(t, strings.TrimSpace(s), s, what)
			}
			if elsewhere[r.Code] != "" {
				return
			}
			require.NotEmpty(t, r.Bad)
			require.NotEmpty(t, r.Good)
			bad := looked(t, r.Bad)
			require.NotEmpty(t, with(r.Code, bad), "the bad example has the finding; it has\n%s", render(bad))
			for _, f := range bad {
				if f.Code != r.Code && f.Severity != syntax.SevInfo {
					t.Errorf("the bad example has something else:\n%s", check.Render(f.Diagnostic))
				}
			}
			for _, f := range with(r.Code, bad) {
				require.Equal(t, r.Severity, f.Severity)
				if r.Fix != lint.NoFix && r.Across == nil {
					require.NotNil(t, f.Fix, "the bad example can be fixed")
					mended(t, f, r.Bad, bad)
				}
			}
			for _, f := range looked(t, r.Good) {
				if f.Code == r.Code || f.Severity != syntax.SevInfo {
					t.Errorf("the good example has a finding:\n%s", check.Render(f.Diagnostic))
				}
			}
		})
	}
}

// TestCases runs testdata/CODE.txt of every rule.
func TestCases(t *testing.T) {
	dir, err := filepath.Abs("testdata")
	require.NoError(t, err)
	t.Chdir("testdata/files")
	for _, r := range lint.Rules() {
		if elsewhere[r.Code] != "" {
			continue
		}
		t.Run(r.Code, func(t *testing.T) {
			path := filepath.Join(dir, r.Code+".txt")
			if _, err := os.Stat(path); err != nil {
				t.Fatalf("%s (%s) has no cases: write testdata/%s.txt", r.Code, r.Name, r.Code)
			}
			counts := map[string]int{}
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				counts[d.Cmd]++
				found := with(r.Code, looked(t, d.Input))
				switch d.Cmd {
				case "bad":
					require.NotEmpty(t, found, "%s: nothing is found in\n%s", d.Pos, d.Input)
				case "good":
					require.Empty(t, render(found), "%s: something is found", d.Pos)
				default:
					t.Fatalf("%s: a case is `bad` or `good`, not %q", d.Pos, d.Cmd)
				}
				out := render(found)
				for _, f := range found {
					if f.Fix != nil {
						out += fmt.Sprintf("fix (%s): %s\n", f.Fix.Applicability, f.Fix.Text)
						if r.Across == nil {
							out += mended(t, f, d.Input, looked(t, d.Input)) + "\n"
						}
					}
				}
				return out
			})
			for _, kind := range []string{"bad", "good"} {
				require.GreaterOrEqual(t, counts[kind], leastCases, "%s cases of %s", kind, r.Code)
			}
		})
	}
}
