package plot

import (
	"math"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"github.com/stretchr/testify/require"
)

func fits(t *testing.T, text string, width int) {
	t.Helper()
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, runewidth.StringWidth(strings.TrimSuffix(line, "\n")), width, text)
	}
}

func TestLine(t *testing.T) {
	var l Line
	require.True(t, l.Empty())
	require.Empty(t, l.Draw(Options{}))
	for i := range 100 {
		l.Add(float64(i)*1e9, math.Sin(float64(i)/8), true)
	}
	for _, width := range []int{30, 40, 79, 80, 200} {
		text := l.Draw(Options{Width: width, Height: 12, Axis: Time})
		fits(t, text, width)
		require.Equal(t, 14, strings.Count(text, "\n"), "the line and its axis")
	}
	text := l.Draw(Options{Axis: Time})
	require.Contains(t, text, "00:00:00")
	require.Contains(t, text, "00:01:39")
	require.Contains(t, text, " 1.00 ┤")
}

func TestLineOfFewPoints(t *testing.T) {
	var l Line
	l.Add(1, 7, true)
	require.Contains(t, l.Draw(Options{}), "7┼─")
	l.Add(2, 7, true)
	require.Contains(t, l.Draw(Options{}), "7┼─────")
	l.Add(3, 9, true)
	fits(t, l.Draw(Options{Width: 40}), 40)
}

func TestLineHasGaps(t *testing.T) {
	var whole, null, far Line
	for i := range 60 {
		whole.Add(float64(i), 5+float64(i%2), true)
		null.Add(float64(i), 5+float64(i%2), i < 20 || i > 40)
		if i < 20 || i > 40 {
			far.Add(float64(i), 5+float64(i%2), true)
		}
	}
	// blank counts the columns without any ink.
	blank := func(l *Line) int {
		lines := strings.Split(l.Draw(Options{Width: 70, Height: 4}), "\n")[:4]
		n := 0
		for x := 6; x < 64; x++ {
			ink := false
			for _, line := range lines {
				if r := []rune(line); x < len(r) && r[x] != ' ' {
					ink = true
				}
			}
			if !ink {
				n++
			}
		}
		return n
	}
	require.Less(t, blank(&whole), 3)
	require.Greater(t, blank(&null), 15)
	require.Greater(t, blank(&far), 15)
	require.Contains(t, null.Draw(Options{}), "(21 null)")
}

// Numbers of any size are drawn, whatever the library would do with them.
func TestLineOfAnyNumbers(t *testing.T) {
	for _, ys := range [][]float64{{1e15, 1e15 + 1}, {-math.MaxFloat64, math.MaxFloat64}, {1e-300, 2e-300}, {0, 0}, {-5, -5}, {math.Inf(1), 3, math.NaN()},
		{math.SmallestNonzeroFloat64, math.MaxFloat64}} {
		for _, xs := range [][]float64{{0, 1, 2}, {-math.MaxFloat64, math.MaxFloat64, 0}, {4, 4, 4}, {math.NaN(), 1, 2}} {
			var l Line
			for i, y := range ys {
				l.Add(xs[i], y, true)
			}
			for _, axis := range []Axis{Number, Rows} {
				fits(t, l.Draw(Options{Width: 80, Axis: axis}), 400)
			}
		}
	}
}

func TestLineOfMillionsIsSmall(t *testing.T) {
	var l Line
	for i := range 1_000_000 {
		l.Add(float64(i), float64(i), true)
	}
	require.LessOrEqual(t, len(l.points), mostPoints)
	text := l.Draw(Options{})
	require.Contains(t, text, "1000k")
	require.Contains(t, text, "each point is the mean of")
	fits(t, text, 80)
}

func TestBars(t *testing.T) {
	var b Bars
	require.Empty(t, b.Draw(Options{}, false))
	b.Set("oslo", 10, true)
	b.Set("rome", 40, true)
	b.Set("a city with a very long name that does not fit", 20, true)
	b.Set("東京", 0.5, true)
	b.Set("nowhere", 0, false)
	text := b.Draw(Options{Width: 60}, false)
	fits(t, text, 60)
	lines := strings.Split(text, "\n")
	require.True(t, strings.HasPrefix(lines[0], "rome "), text)
	require.Equal(t, 2, strings.Count(lines[0], "█")/strings.Count(lines[1], "█"), text)
	require.Contains(t, lines[4], "null")
	b.Set("oslo", 50, true)
	require.Contains(t, b.Draw(Options{}, false), "of keys with several rows the last is shown")
	require.NotContains(t, b.Draw(Options{}, true), "several")
	b.Remove("oslo")
	require.NotContains(t, b.Draw(Options{}, true), "oslo")
	require.Contains(t, b.Draw(Options{Height: 3}, true), "1 more with smaller values")
}

func TestBarsBelowZero(t *testing.T) {
	var b Bars
	b.Set("up", 10, true)
	b.Set("down", -10, true)
	b.Set("zero", 0, true)
	text := b.Draw(Options{Width: 50}, false)
	fits(t, text, 50)
	lines := strings.Split(text, "\n")
	require.Equal(t, "█", string([]rune(lines[0])[len([]rune(lines[2]))]), "one begins where the other ends:\n%s", text)
	b.Set("far", math.MaxFloat64, true)
	b.Set("near", -math.MaxFloat64, true)
	fits(t, b.Draw(Options{Width: 50}, false), 200)
}
