package lint_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ebb-lang/ebb/lang/lint"
)

// FuzzLint: no rule panics on any text, and every finding and every edit lies in the text; fixes end, and end for good.
func FuzzLint(f *testing.F) {
	if testing.Short() {
		f.Skip("one goroutine, many texts: takes minutes under the race detector")
	}
	for _, r := range lint.Rules() {
		f.Add(r.Bad)
		f.Add(r.Good)
	}
	files, _ := filepath.Glob("testdata/*.txt")
	for _, path := range files {
		datadriven.RunTest(&testing.T{}, path, func(_ *testing.T, d *datadriven.TestData) string {
			f.Add(d.Input)
			return d.Expected
		})
	}
	for _, pattern := range []string{"../../examples/*/*.ebb", "testdata/files/*.ebb"} {
		paths, _ := filepath.Glob(pattern)
		for _, p := range paths {
			if text, err := os.ReadFile(p); err == nil {
				f.Add(string(text))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4000 {
			return
		}
		script := theText(text)
		for _, x := range lint.Lint([]lint.Text{script})[0].Found {
			if x.Source.Name == caseName {
				inText(t, x)
			}
		}
		for _, most := range []lint.Applicability{lint.Safe, lint.Unsafe} {
			m := lint.Mend(script, most)
			again := script
			again.Text = m.Text
			if n := lint.Mend(again, most); n.Text != m.Text {
				t.Fatalf("fixes of\n%s\nmade\n%s\nand then\n%s", text, m.Text, n.Text)
			}
		}
	})
}
