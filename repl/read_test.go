package repl

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIncomplete(t *testing.T) {
	for _, more := range []string{"orders |>", "orders |> where (a", "orders |> select a,", "let x =", "let x = 1 +", "orders |> where a and", "orders |> where not",
		"let s = `raw", "/* a remark", "stream x = orders // of today\n  |>", "test \"x\" {", "orders |> where a ?", "orders |> select (a ?"} {
		require.True(t, Incomplete(more), more)
	}
	for _, done := range []string{"orders", "orders |> limit 2", "orders |> limit 2 // (", "param x: int?", "let x = \"|>\"", "let x = (1]", "let x = 1)", ".set a =", "", "// x,", "in", "?where"} {
		require.False(t, Incomplete(done), done)
	}
}

func TestJoin(t *testing.T) {
	require.Equal(t, "orders |>\n  where a", Join("orders |>", "where a"))
	require.Equal(t, "orders |>\n\twhere a", Join("orders |>", "\twhere a"))
	require.Equal(t, "let s = `a\nb", Join("let s = `a", "b"))
	require.Equal(t, "f(\n)", Join("f(", ")"))
}

func TestMend(t *testing.T) {
	text, mended := mend("csv(\"a|b\") | where a | limit 2")
	require.True(t, mended)
	require.Equal(t, "csv(\"a|b\") |> where a |> limit 2", text)
	text, mended = mend("| where a | limit 1")
	require.True(t, mended)
	require.Equal(t, "|> where a |> limit 1", text)
	_, mended = mend("orders |> where a | upper() == \"X\"")
	require.False(t, mended)
}
