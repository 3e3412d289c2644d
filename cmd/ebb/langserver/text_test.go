package langserver

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// lineStarts cuts a text into lines as the protocol says, with their ends.
func lineStarts(s string) []string {
	var lines []string
	for {
		i := strings.IndexAny(s, "\r\n")
		if i < 0 {
			return append(lines, s)
		}
		n := 1
		if strings.HasPrefix(s[i:], "\r\n") {
			n = 2
		}
		lines = append(lines, s[:i+n])
		s = s[i+n:]
	}
}

// Of any text, positions are those that an editor counts, there and back.
func TestPositions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "b c", "é", "😀", "\n", "\r\n", "\r", "\uFEFF", "|>", "漢"})).Draw(t, "text"), "")
		x := newText(raw)
		offset := 0 // in plain
		for n, line := range lineStarts(raw) {
			body := strings.TrimRight(line, "\r\n")
			for i := range body + "\x00" {
				p := position{n, len(utf16.Encode([]rune(body[:min(i, len(body))])))}
				at := x.offset(p)
				if at > 0 || !strings.HasPrefix(raw, "\uFEFF") { // the byte-order mark is no place in a script
					require.Equal(t, p, x.position(at), "%q", raw)
				}
				if n > 0 || !strings.HasPrefix(raw, "\uFEFF") {
					require.True(t, strings.HasPrefix(x.plain[at:], body[i:min(len(body), i+1)]), "%q %v", raw, p)
				}
			}
			offset += len(line)
		}
		require.Equal(t, len(raw), offset)
		for at := range x.plain {
			require.LessOrEqual(t, x.offset(x.position(at)), at)
		}
	})
}

// Changes by ranges give the text that they would give in an editor.
func TestChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gen := rapid.Map(rapid.SliceOf(rapid.SampledFrom([]string{"a", "b", "😀", "\n", "\r\n", "漢"})), func(s []string) string { return strings.Join(s, "") })
		raw, by := gen.Draw(t, "text"), gen.Draw(t, "by")
		x := newText(raw)
		var runes []int
		for i := range x.plain + "\x00" {
			runes = append(runes, i)
		}
		from := rapid.SampledFrom(runes).Draw(t, "from")
		to := max(from, rapid.SampledFrom(runes).Draw(t, "to"))
		r := textRange{x.position(from), x.position(to)}
		y := x.with(r, by)
		require.Equal(t, raw[:x.rawOffset(r.Start)]+by+raw[x.rawOffset(r.End):], y.raw)
		require.Equal(t, newText(y.raw), y)
	})
}
