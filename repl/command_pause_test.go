package repl

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPauseAndResume(t *testing.T) {
	b := newBench(t)
	b.do(often, endless)
	for _, c := range []string{".pause", ".resume", ".stop"} {
		require.Contains(t, b.refused(c), "there is no job; .run starts")
	}
	b.do(".run")
	require.Contains(t, b.refused(".resume"), "job 1 (repl) is running; .pause and .stop end that")
	require.Eventually(t, func() bool { return b.jobs[0].Totals().RowsIn > 0 }, time.Minute, time.Millisecond)
	require.Regexp(t, `^job 1 \(repl\) is paused after [0-9,]+ rows, [0-9,]+ rows? in flight; .resume`, b.do(".pause"))
	require.Contains(t, b.refused(".pause"), "job 1 (repl) is paused already; .resume lets it go on")
	require.Contains(t, b.refused(".run"), "job 1 (repl) is paused; .stop ends it")
	require.Contains(t, b.refused(".stop --drain"), "paused and flushes nothing")
	at := b.jobs[0].Totals().RowsIn
	time.Sleep(100 * time.Millisecond)
	require.Equal(t, at, b.jobs[0].Totals().RowsIn)
	require.Contains(t, b.do(".jobs"), "1  repl: paused for ")
	require.Equal(t, "job 1 (repl) goes on\n", b.do(".resume"))
	require.Eventually(t, func() bool { return b.jobs[0].Totals().RowsIn > at }, time.Minute, time.Millisecond)
	b.do(".pause")
	require.Contains(t, b.do(".stop"), "job 1 (repl) is stopped; the next .run goes on from checkpoint")
	require.Contains(t, b.do(".resume"), "job 1 (repl) goes on from checkpoint ")
}

// TestDrain flushes the window that is open.
func TestDrain(t *testing.T) {
	b := newBench(t)
	b.do(`source s = generate({user: "int 1..3", at: "time"}, rate: 500, start: @2026-01-01T00:00:00Z) time at`,
		`s |> aggregate n = count() window tumbling(365d) |> into csv("out.csv")`, ".run")
	require.Eventually(t, func() bool { return b.jobs[0].Totals().RowsIn > 0 }, time.Minute, time.Millisecond)
	require.Regexp(t, `^job 1 \(repl\) has finished in .*: [0-9,]+ rows? in, 1 out\n$`, b.do(".stop --drain"))
	out, err := os.ReadFile("out.csv")
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(out), "\n"))
	require.Contains(t, b.refused(".resume"), "job 1 (repl) has finished; .run runs it again")
}

// TestSecondJob has two jobs, of which the one that was resumed last is the newest.
func TestSecondJob(t *testing.T) {
	b := newBench(t)
	b.do(often, endless, ".run one", ".stop")
	b.do(".undo", strings.Replace(endless, "out.", "two.", 1))
	b.do(".run two")
	require.Contains(t, b.do(".pause -j 2"), "job 2 (two) is paused")
	require.Contains(t, b.do(".resume -j one"), "job 1 (one) goes on from checkpoint")
	require.Contains(t, b.do(".stop"), "job 1 (one) is stopped")
	require.Contains(t, b.do(".resume -j two"), "job 2 (two) goes on")
}
