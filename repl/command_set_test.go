package repl

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSet(t *testing.T) {
	b := newBench(t)
	require.Contains(t, b.do(".set"), "nothing is set, and there is no param; the settings are checkpoint.align_timeout")
	require.Contains(t, b.do(".params"), "there is no param; `param limit")
	require.Contains(t, b.do(".set checkpoint.interval = 2s"), "checkpoint.interval")
	b.do(".set checkpoint.interval 3s")
	require.Equal(t, "set checkpoint.interval = 3s\n", b.do(".set"))
	require.Contains(t, b.refused(".set checkpoint.interval = soon"), "soon")
	require.Contains(t, b.refused(".set checkpoint.interval"), "usage: .set")
	require.Contains(t, b.refused(".set paralelism = 2"), "no param or setting is called paralelism; did you mean parallelism?")
	require.Contains(t, b.refused(".set nothing 1"), "no param is called `nothing`")

	b.do(`param least: int = 2`, `param name: string = "x"`)
	require.Equal(t, "least: int = 2\nname: string = \"x\"\n", b.do(".params"))
	require.Contains(t, b.refused(".set least many"), "least")
	require.Contains(t, b.refused(".set leest 3"), "did you mean `least`?")
	require.Equal(t, "least: int = 2\nname: string = \"x\"\n", b.do(".params"), "a refusal changes nothing")
	require.Contains(t, b.do(".set least 3", ".set name = two words"), "least = 3\nname = two words\n")
	require.Equal(t, "least: int = 3  (set; default 2)\nname: string = two words  (set; default \"x\")\n", b.do(".params"))
	require.NoError(t, os.WriteFile("in.csv", []byte("a\n1\n2\n3\n4\n"), 0o666))
	require.Equal(t, "{\"a\":3,\"name\":\"two words\"}\n{\"a\":4,\"name\":\"two words\"}\n",
		b.do(".mode jsonl", `csv("in.csv") |> where a >= least |> derive name = name`)[:len("{\"a\":3,\"name\":\"two words\"}\n")*2])

	// A job may have values of its own.
	b.do(`csv("in.csv") |> where a >= least |> into csv("out.csv")`, ".run --set least=4 --set name=q")
	b.until("has finished")
	out, err := os.ReadFile("out.csv")
	require.NoError(t, err)
	require.Equal(t, "a\n4\n", string(out))

	// A param that goes takes its value along.
	require.Contains(t, b.do(".undo", ".undo", `let c = 1`), "there is no param name any more: its value is forgotten")
	require.Equal(t, "least: int = 3  (set; default 2)\n", b.do(".params"))
}
