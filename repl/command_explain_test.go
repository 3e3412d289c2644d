package repl

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExplain(t *testing.T) {
	source := `source b = nexmark("bid", events: 500)`
	hot := `stream hot = b |> where price > 5 |> aggregate n = count() by auction`
	for line, want := range map[string][]string{
		".explain hot":                         {"logical plan\n", "parallel plan\n", "aggregate", "hash"},
		".explain hot --logical":               {"write print"},
		".explain --physical hot":              {"group 1 × "},
		".explain hot |> limit 3 --mermaid":    {"flowchart LR", "limit"},
		".explain b |> where price -1 > 3":     {"price - 1"},
		".explain b --dot":                     {"digraph plan {"},
		".explain --json b":                    {`"logical": [`},
		".explain hot |> aggregate m = max(n)": {"m"},
	} {
		out, err := on(t, 0, source, hot, line)
		require.NoError(t, err, line)
		for _, w := range want {
			require.Contains(t, out, w, line)
		}
		if strings.Contains(line, "--logical") {
			require.NotContains(t, out, "group")
		}
	}
	out, err := on(t, 0, source, `b |> where price > 7 |> limit 1`, ".explain")
	require.NoError(t, err)
	require.Contains(t, out, "price > 7", "without an argument: what was shown last")
	for line, want := range map[string]string{
		".explain":                     "nothing yet",
		".explain hott":                "did you mean `hot`",
		".explain hot --dot --json":    "usage: .explain",
		".explain --dott hot":          "usage: .explain",
		".explain b |> wher price > 3": "did you mean `where`",
		".explain hot\n|> into csv('x": "",
	} {
		_, err := on(t, 0, source, hot, line)
		require.ErrorContains(t, err, want, line)
	}
}
