package langserver

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/lang/syntax"
)

// The edits that formatting gives make the text that `ebb fmt` makes, and where nothing changes there are none.
func TestFormatting(t *testing.T) {
	s := New(Options{})
	for _, seed := range seeds(t) {
		for _, text := range []string{seed, strings.ReplaceAll(seed, "|> ", "|>   "), strings.ReplaceAll(seed, "\n    ", "\n  "), seed + "\n\n\n", strings.TrimSpace(seed), ""} {
			for _, raw := range []string{text, strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")} {
				d := &document{s: s, path: "f.ebb", text: newText(raw)}
				got, err := formatting(context.Background(), s, d, documentParams{})
				require.NoError(t, err)
				want, _ := syntax.Format("f.ebb", raw)
				edits := got.([]textEdit)
				require.LessOrEqual(t, len(edits), 1)
				x := d.text
				for _, e := range edits {
					x = x.with(e.Range, e.NewText)
				}
				require.Equal(t, want, x.plain)
				require.Equal(t, want == d.text.plain, len(edits) == 0)
			}
		}
	}
}
