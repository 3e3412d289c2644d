package repl

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
)

// With several jobs, a command that looks at the wrong one says which is meant, and completion looks at the job that is named.
func TestOtherJobsAreNamed(t *testing.T) {
	b := newBench(t)
	b.do(`set checkpoint.interval = 1h`, `source g = generate({n: "sequence"}, rate: 1000)`, `g |> into csv("a.csv")`, ".run one", ".checkpoint here", ".fork here as two", ".stop")
	require.Contains(t, b.refused(".state here"), `there is no checkpoint named "here"`)
	require.Contains(t, b.refused(".state here"), "; job 1 (one) has it: -j one")
	require.NotContains(t, b.refused(".state nowhere"), "has it")
	require.Contains(t, b.refused(".checkpoint"), "job 2 (two) is stopped; .resume goes on from its last checkpoint; job 1 (one) is running: -j one")
	_, words := b.Complete(".state -j one h")
	require.Contains(t, words, "here")
	_, words = b.Complete(".state h")
	require.NotContains(t, words, "here")
	_, words = b.Complete(".state -j one here g")
	require.Contains(t, words, "g/source")
}

func TestEarlierJobs(t *testing.T) {
	b := newBench(t)
	require.Empty(t, Earlier())
	b.do(`generate({n: "sequence"}, rate: 1000) |> into csv("a.csv")`, ".run one", ".checkpoint")
	require.Empty(t, Earlier(), "it runs")
	b.do(".stop")
	require.Regexp(t, `^Jobs of this folder .*:\n  one, .* ago: \.load \.ebb/one, then \.run one\n$`, Earlier())
	next := &bench{New(b.desk, exec.OS, Options{Version: "test"}), b.desk, t, ""}
	defer func() { require.NoError(t, next.Close()) }()
	next.do(".load .ebb/one", ".run one")
	require.Contains(t, next.taken, "goes on from checkpoint 2")
	next.do(".stop --drain")
	require.Empty(t, Earlier(), "it has come to its end")
	require.Contains(t, next.refused(".load .ebb"), "cannot read the checkpoints in .ebb")
}
