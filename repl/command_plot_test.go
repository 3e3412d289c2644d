package repl

import (
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/stretchr/testify/require"
)

func TestPlotArguments(t *testing.T) {
	for text, want := range map[string]plotting{
		"n":                                   {column: "n"},
		"n over at":                           {column: "n", over: "at"},
		"n by city of visits":                 {column: "n", by: "city", of: "visits"},
		`n / 2 of v |> where c == "a by b"`:   {column: "n / 2", of: `v |> where c == "a by b"`},
		`len(" over ") over (a + b) of hot`:   {column: `len(" over ")`, over: "(a + b)", of: "hot"},
		"n of v |> aggregate m = sum(n) by c": {column: "n", of: "v |> aggregate m = sum(n) by c"},
		"n over window.start of hot":          {column: "n", over: "window.start", of: "hot"},
	} {
		p, err := parsePlot(text)
		require.NoError(t, err, text)
		require.Equal(t, want, p, text)
	}
	for text, want := range map[string]string{"n over": "missing", "over x": "", "n over a over b": "twice", "n over a by b": "one of them", "n of": "missing", "n by  of v": "missing"} {
		_, err := parsePlot(text)
		if want != "" {
			require.ErrorContains(t, err, want, text)
		}
	}
}

func TestPlot(t *testing.T) {
	s := newSession(t, 0, Options{})
	s.refused(".plot n", "no result yet")
	s.refused(".plot", "usage: .plot COLUMN")
	s.say(visits)
	out, _ := s.say(".plot n of visits")
	require.Equal(t, "Rome    3 ██████", out[:len("Rome    3 ██████")], "bars by the first text")
	require.Contains(t, out, "Oslo null\n")
	s.say("visits |> where n != nil |> derive twice = n * 2")
	out, _ = s.say(".plot twice over n")
	require.Contains(t, out, "┤")
	require.Contains(t, out, "12", "the axis")
	s.refused(".plot twice by town", "unknown column `town`")
	s.refused(".plot city", "city is no number but string")
	s.refused(".plot n over city", "`by city` draws bars")
	s.refused(".plot n of visitss", "did you mean `visits`")
	s.refused(".plot n over", "usage: .plot")
	_, notes := s.say(".plot n of visits |> where n > 100")
	require.Equal(t, "there is nothing to draw: no rows\n", notes)
	_, notes = s.say(`.plot n by n of rows([{n: 1}]) |> where n == 2`)
	require.Contains(t, notes, "nothing to draw")
	out, _ = s.say(`.plot n of visits |> aggregate n = count() by city emit changes`)
	require.Equal(t, 2, strings.Count(out, "\n"), "a changed row takes the place of the one before:\n%s", out)
	require.Contains(t, out, "Rome    2 █")
}

func TestPlotOverTime(t *testing.T) {
	s := newSession(t, 60, Options{})
	out, _ := s.say(`.plot n of nexmark("bid", events: 200_000) |> aggregate n = count() by k = auction % 2 window tumbling(1s) |> where k == 0`)
	require.Contains(t, out, "23:51:40", "over the window, without being told")
	require.NotContains(t, out, "\x1b[", "what ends by itself is drawn once")
	for line := range strings.Lines(out) {
		require.LessOrEqual(t, runewidth.StringWidth(strings.TrimSpace(line)), 60, out)
	}
}

func TestPlotOfRunningStream(t *testing.T) {
	s := newSession(t, 80, Options{})
	time.AfterFunc(1500*time.Millisecond, func() { s.p.interrupt <- struct{}{} })
	out, _ := s.say(`.plot price of nexmark("bid", rate: 20_000) |> aggregate price = avg(price) window tumbling(100ms)`)
	require.Contains(t, out, "A\x1b[J", "drawn in place")
}
