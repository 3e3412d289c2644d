package repl

import (
	"testing"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/stretchr/testify/require"
)

func TestOutputsBeside(t *testing.T) {
	for path, want := range map[string]string{"out.csv": "out.f.csv", "a.b/out.csv.gz": "a.b/out.f.csv.gz", "/x/out": "/x/out.f", ".hidden.csv": ".hidden.f.csv", "dir/": "dir/.f"} {
		require.Equal(t, want, beside(path, "f"), path)
	}
	text, moved, err := withOutputs(`source g = csv("in.csv")
sink s = jsonl("a.jsonl", changes: true)
g |> tee s |> aggregate n = count() by k window tumbling(1s) late into csv("late.csv") |> split {
  when a => csv(path: "b.csv")
  else => jsonl("-")
}
g |> into csv("c.csv")
g |> into csv("/dev/null")
g |> into csv("/dev/stderr")
`, "f", disk.OS{})
	require.NoError(t, err)
	require.Equal(t, `source g = csv("in.csv")
sink s = jsonl("a.f.jsonl", changes: true)
g |> tee s |> aggregate n = count() by k window tumbling(1s) late into csv("late.f.csv") |> split {
  when a => csv(path: "b.f.csv")
  else => jsonl("-")
}
g |> into csv("c.f.csv")
g |> into csv("/dev/null")
g |> into csv("/dev/stderr")
`, text)
	require.Len(t, moved, 4)
	_, _, err = withOutputs("g |> into csv(dir + \"/x.csv\")\n", "f", disk.OS{})
	require.ErrorContains(t, err, "is computed")
}
