package repl

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Intervals of a job at full speed, of several tasks, with rows in flight at both of their ends, come out the same.
func TestReplayUnderLoad(t *testing.T) {
	b := newBench(t)
	rng := rand.New(rand.NewPCG(1, 2))
	var in strings.Builder
	in.WriteString("id,k,v,at\n")
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 200_000 {
		fmt.Fprintf(&in, "%d,%d,%d,%s\n", i, rng.IntN(100), rng.IntN(1000), at.Add(time.Duration(i*20-rng.IntN(3000))*time.Millisecond).Format(time.RFC3339))
	}
	require.NoError(t, os.WriteFile("in.csv", []byte(in.String()), 0o644))
	b.do("set checkpoint.interval = 1h", `set checkpoint.mode = "unaligned"`, "set parallelism = 3",
		`source s = csv("in.csv") schema { id: int, k: int, v: int, at: time } time at lag 2s`,
		`s |> where k < 50 |> into csv("a.csv")`,
		"stream w = s |> aggregate n = count(), top = max(v) by k window tumbling(10s)", `w |> into jsonl("w.jsonl.gz")`,
		"stream c = s |> aggregate n = count(), m = median(v) by k window tumbling(1m)", `c |> into csv("c.csv.zst")`,
		".run --pause")
	for i := range 4 {
		b.do(fmt.Sprintf(".step %d %s --batch", 10+rng.IntN(60), []string{"w", "c", "s"}[rng.IntN(3)]), ".checkpoint")
		if i == 1 {
			b.do(".resume", ".pause", ".checkpoint")
		}
	}
	flight := b.do(".checkpoints")
	for i := range 4 {
		out := b.do(fmt.Sprintf(".replay %d", i+1))
		require.NotContains(t, out, "differ", flight)
		require.Contains(t, out, "state of w/aggregate: the same")
		require.Contains(t, out, "a.csv: the same")
	}
	b.do(".resume")
}
