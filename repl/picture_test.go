package repl

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPictures(t *testing.T) {
	t.Chdir(t.TempDir())
	s := newSession(t, 0, Options{})
	s.refused(".html", "usage: .html FILE")
	s.refused(".html plan.html", "nothing yet that could be planned")
	s.say(`source b = nexmark("bid", events: 20_000)`)
	s.say(`b |> where url != "<script>alert(1)</script>" |> aggregate n = count() by auction |> into csv("out.csv")`)
	_, notes := s.say(".html plan.html")
	require.Contains(t, notes, "is drawn in plan.html")
	s.say(".dot plan.dot")
	text, err := os.ReadFile("plan.dot")
	require.NoError(t, err)
	require.Contains(t, string(text), "digraph plan {")
	page, err := os.ReadFile("plan.html")
	require.NoError(t, err)
	require.Contains(t, string(page), "<svg ")
	require.NotContains(t, string(page), "<script")
	require.NotContains(t, string(page), "src=")

	require.NoError(t, os.WriteFile("mine.csv", []byte("a,b\n"), 0o644))
	s.refused(".html mine.csv", "mine.csv is there already and was not drawn by ebb")
	s.refused(".dot mine.csv", "was not drawn by ebb")
	s.refused(".dot plan.html", "was not drawn by ebb")
	s.refused(".html nowhere/plan.html", "nowhere")
	s.refused(".html a.html b.html", `"b.html" is one argument too many`)
	s.refused(".html a.html -j 7", "no job")

	s.say(".run")
	j := s.jobs[0]
	<-j.Done()
	s.say(".html plan.html")
	page, err = os.ReadFile("plan.html")
	require.NoError(t, err)
	require.Contains(t, string(page), "18,400 rows")
	require.Contains(t, string(page), "finished")
	require.Regexp(t, `18,400 rows in \([0-9.]+[kM]/s\), [0-9,]+ rows out \([0-9.]+[kM]?/s\)`, string(page)) // of the aggregate, or what stands before it
	require.Regexp(t, `18,400 rows out \([0-9.]+[kM]/s\)`, string(page))                                     // of the source
	require.NoError(t, s.Close())
}
