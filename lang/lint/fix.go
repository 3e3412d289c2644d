package lint

import (
	"slices"
	"strings"
)

// Apply makes edits in a text. They must not overlap; their order does not matter.
func Apply(text string, edits []Edit) string {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return a.Span.Start.Offset - b.Span.Start.Offset })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.Span.Start.Offset])
		b.WriteString(e.Text)
		at = e.Span.End.Offset
	}
	b.WriteString(text[at:])
	return b.String()
}
