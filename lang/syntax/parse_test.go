package syntax

import (
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// TestParse runs the cases of testdata; `go test -rewrite` writes what the parser says now.
//
//	parse: the tree, then the diagnostics
//	bad:   the diagnostics only
//	file:  the same as parse, of a file in testdata
//
// In the input ␀ stands for a NUL byte, ␍ for a carriage return, ⟦ff⟧ for the byte 0xff, ␠ for a blank at the end of a line, and
// ⍟ for a byte-order mark.
func TestParse(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if strings.HasSuffix(path, ".ebb") || strings.Contains(path, "fuzz") {
			return
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "file" {
				b, err := os.ReadFile("testdata/" + d.Input)
				require.NoError(t, err)
				d.Input, d.Cmd = string(b), "parse"
			}
			text := strings.NewReplacer("␀", "\x00", "␍", "\r", "⟦ff⟧", "\xff", "␠", " ", "⍟", "\uFEFF").Replace(d.Input)
			script, diags := Parse("t.ebb", text)
			checkScript(t, script, diags)
			var b strings.Builder
			if d.Cmd == "parse" {
				b.WriteString(dump(script))
			}
			for _, diag := range diags {
				b.WriteString(Render(script.Source, diag))
			}
			if b.Len() == 0 {
				return "ok\n"
			}
			return b.String()
		})
	})
}

// checkScript checks what holds of every parse.
func checkScript(t *testing.T, script *Script, diags []Diagnostic) {
	t.Helper()
	text := script.Source.Text
	for i, d := range diags {
		s, e := d.Span.Start, d.Span.End
		require.True(t, 0 <= s.Offset && s.Offset <= e.Offset && e.Offset <= len(text), "span of %v", d)
		require.Equal(t, script.Source.Pos(s.Offset), s, "%v", d)
		require.Contains(t, Codes, Code(d.Code))
		require.NotEmpty(t, d.Message)
		if i > 0 {
			require.LessOrEqual(t, diags[i-1].Span.Start.Offset, s.Offset)
		}
	}
	for _, s := range script.Stmts {
		r := s.Range()
		require.Less(t, r.Start.Offset, r.End.Offset)
		require.LessOrEqual(t, r.End.Offset, len(text))
	}
}
