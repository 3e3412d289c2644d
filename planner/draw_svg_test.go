package planner

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/stdlib"
)

const drawn = `source b = nexmark("bid", events: 1000)
stream hot = b |> where url != "<script>alert(1)</script> & 'x'" |> aggregate n = count() by auction window tumbling(10s)
hot |> tee blackhole() |> into blackhole()
b |> union b |> select auction |> into blackhole()
`

func TestSVG(t *testing.T) {
	for _, parallelism := range []int{1, 4} {
		c, diags, err := Compile("drawn.ebb", drawn, stdlib.New(), exec.OS(), Options{Parallelism: parallelism})
		require.NoError(t, err)
		require.NotNil(t, c, diags)
		seen := map[string]bool{}
		text := c.Physical.SVG(func(stage string) []string {
			seen[stage] = true
			return []string{"1,000 <rows>"}
		})
		words := ""
		for d := xml.NewDecoder(strings.NewReader(text)); ; {
			tok, err := d.Token()
			if err == io.EOF {
				break
			}
			require.NoError(t, err, "it is XML")
			if e, ok := tok.(xml.StartElement); ok {
				require.Contains(t, []string{"svg", "defs", "marker", "path", "g", "title", "rect", "text"}, e.Name.Local, "nothing of the script becomes an element")
			}
			if s, ok := tok.(xml.CharData); ok {
				words += string(s) + "\n"
			}
		}
		require.Contains(t, words, "1,000 <rows>")
		require.Contains(t, words, "<script>alert(1)</script>")
		require.NotEmpty(t, seen)
		boxes, arrows := c.Physical.drawing()
		require.Equal(t, len(seen), len(boxes), "each box asks for the counters of a stage of its own")
		require.Equal(t, len(boxes), strings.Count(text, "<rect "))
		require.Equal(t, len(arrows), strings.Count(text, "marker-end"))
		var all []*placed
		at := map[string]*placed{}
		for _, b := range boxes {
			x := &placed{box: b, high: 60}
			all, at[b.id] = append(all, x), x
		}
		width, height := layout(all, arrows, at)
		for i, a := range all {
			require.True(t, a.x >= 0 && a.y >= 0 && a.x+boxWidth <= width && a.y+a.high <= height, "%+v", a)
			for _, b := range all[:i] {
				require.False(t, a.x < b.x+boxWidth && b.x < a.x+boxWidth && a.y < b.y+b.high && b.y < a.y+a.high, "%s and %s overlap", a.stage, b.stage)
			}
		}
		for _, a := range arrows {
			require.Greater(t, at[a.to].y, at[a.from].y, "arrows lead down")
		}
	}
}

func TestDotWithNotes(t *testing.T) {
	c, _, err := Compile("drawn.ebb", drawn, stdlib.New(), exec.OS(), Options{Parallelism: 2})
	require.NoError(t, err)
	text := c.Physical.Dot(func(stage string) []string { return []string{`in "5"`} })
	require.Contains(t, text, `\nin \"5\""`)
}
