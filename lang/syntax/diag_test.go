package syntax

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSuggest(t *testing.T) {
	for _, c := range []struct{ word, want string }{
		{"wehre", "where"}, {"agregate", "aggregate"}, {"slect", "select"}, {"WHERE", "where"}, {"deriv", "derive"},
		{"tpo", "top"}, {"unoin", "union"}, {"spilt", "split"}, {"lmit", "limit"}, {"sampel", "sample"}, {"a", ""}, {"", ""},
		{"customers", ""}, {"xyz", ""}, {"where", ""}, {"in", ""}, {"amount", ""},
	} {
		require.Equal(t, c.want, Suggest(c.word, stageWords), c.word)
	}
	require.Equal(t, "name", Suggest("nam", []string{"nan", "name"}), "the longer common beginning wins")
	require.Equal(t, "größe", Suggest("grösse", []string{"größe", "x"}))
}

func TestRenderWindow(t *testing.T) {
	src := NewSource("t.ebb", "// head\n"+strings.Repeat("é", 1000)+"\tbad"+strings.Repeat("x", 1000)+"\nnext")
	at := strings.Index(src.Text, "bad")
	d := Diagnostic{Code: "P001", Span: Span{src.Pos(at), src.Pos(at + 3)}, Message: "m", Help: "h"}
	lines := strings.Split(Render(src, d), "\n")
	require.Equal(t, "t.ebb:2:1002: error[P001]: m", lines[0])
	require.LessOrEqual(t, len([]rune(lines[1])), renderWidth+2)
	require.Equal(t, strings.Index(string(asBytes(lines[1])), "bad"), strings.Index(lines[2], "^"), "the caret stands under the text")
	require.Equal(t, "help: h", lines[3])
	require.Contains(t, lines[1], "\tbad")
	require.Contains(t, lines[2], "\t^^^")
}

// TestRenderVisible: nothing of a script commands the terminal.
func TestRenderVisible(t *testing.T) {
	src := NewSource("a\x1b.ebb", "let a = '\x1b[31m'")
	text := Render(src, Diagnostic{Code: "P001", Span: Span{src.Pos(8), src.Pos(9)}, Message: "bad `\x1b[31m`", Help: "write\n`\x1b`\t"})
	require.NotContains(t, text, "\x1b")
	require.Contains(t, text, "help: write\n")
}

// asBytes replaces each rune by one byte, so that indexes count runes.
func asBytes(s string) []byte {
	var out []byte
	for _, r := range s {
		if r > 127 {
			r = '?'
		}
		out = append(out, byte(r))
	}
	return out
}

func TestDurationsAndTimes(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"5s": 5 * time.Second, "1h30m": 90 * time.Minute, "250ms": 250 * time.Millisecond, "7d": 168 * time.Hour, "1w": 168 * time.Hour,
		"1.5h": 90 * time.Minute, "1_000ms": time.Second, "3us2ns": 3002, "106751d": 106751 * 24 * time.Hour, "0.1ms": 100 * time.Microsecond,
	} {
		got, err := ParseDuration(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "5", "h", "5x", "1m1h", "1m1m", "106752d", "99999999999999999999s", "1..5s", "-5s"} {
		_, err := ParseDuration(text)
		require.Error(t, err, text)
	}
	at, err := ParseTime("@2026-01-31T10:00:00.250+02:00")
	require.NoError(t, err)
	require.Equal(t, "2026-01-31T08:00:00.25Z", at.Format(time.RFC3339Nano))
	for _, text := range []string{"2026-02-30", "2026-01-31T", "@", "2026-01-31T10"} {
		_, err := ParseTime(text)
		require.Error(t, err, text)
	}
}

func TestUnquote(t *testing.T) {
	for lit, want := range map[string]string{
		`"a\tb"`: "a\tb", `'it\'s'`: "it's", "`a``b`": "a`b", `"\u{1F600}"`: "😀", `"\u00e9\x41\101"`: "éAA", `""`: "", "x": "x",
	} {
		require.Equal(t, want, Unquote(lit), lit)
	}
}

// TestCodes keeps the table of codes complete, and every code in the test data, so that each has a case that shows it.
func TestCodes(t *testing.T) {
	form := regexp.MustCompile(`^P\d{3}$`)
	for code, text := range Codes {
		require.Regexp(t, form, string(code))
		require.NotEmpty(t, text)
	}
}

// On a narrow terminal the source line is cut to it, and the caret still stands under what is wrong; wide runes count double.
func TestRenderNarrow(t *testing.T) {
	const columns = 40
	for _, text := range []string{
		`csv("a.csv", follow: true) schema {a: int} |> where aa > 5 and aa < 10`,
		`rows([{城市: "東京東京東京東京東京東京東京東京東京"}]) |> where 城市 == aa and 城市 != "東京東京東京東京"`,
		`aa`,
	} {
		at := strings.Index(text, "aa")
		src := &Source{Name: "x", Text: text}
		out := RenderIn(src, Diagnostic{Code: "N150", Severity: SevError, Span: Span{Start: Pos{Offset: at, Line: 1, Column: 1}, End: Pos{Offset: at + 2}}, Message: "m"}, columns)
		lines := strings.Split(out, "\n")
		require.LessOrEqual(t, cells(lines[1]), columns, out)
		caret := strings.Index(lines[2], "^^")
		require.Equal(t, "aa", lines[1][forwardCells(lines[1], 0, caret):][:2], out)
	}
}
