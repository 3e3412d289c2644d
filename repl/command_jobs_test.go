package repl

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// With a name .jobs shows the stages of a job, also while it runs and when it is over: what has passed each, what waits before
// it, and its state.
func TestJobsByStage(t *testing.T) {
	b := newBench(t)
	b.do("set parallelism = 2", "set checkpoint.interval = 1h",
		`source s = generate({k: "int 0..99", n: "sequence"}, rate: 20_000, seed: 7)`,
		"stream hot = s |> where k < 50 |> aggregate c = count(), m = median(n) by k emit changes",
		`hot |> into jsonl("out.jsonl", changes: true)`, ".run")
	const held = `\nhot/aggregate +\d{4,} +\d{4,} +\d+ +[0-9.]+k/s +[0-9.]+k/s +[0-9.]+ KiB`
	var live string
	require.Eventually(t, func() bool {
		live = b.do(".jobs repl")
		return regexp.MustCompile(held).MatchString(live)
	}, time.Minute, 50*time.Millisecond, "%s", lazily(&live))
	require.Regexp(t, `\nstage +rows_in +rows_out +in_flight +in/s +out/s +state +watermark\s*\n`, live)
	require.Regexp(t, `\ns +\d{4,} +[0-9.]+k/s\s*\n`, live)
	require.Regexp(t, `\njsonl/sink +\d{4,} +\d+ +[0-9.]+k/s +\n`, live)
	require.Contains(t, live, "1  repl: running for ")
	b.do(".stop")
	over := b.do(".jobs 1")
	require.Regexp(t, held, over)
	time.Sleep(20 * time.Millisecond) // what is over gets no older and no slower
	ago := regexp.MustCompile(`checkpoint 1, \S+ ago`)
	require.Equal(t, ago.ReplaceAllString(over, ""), ago.ReplaceAllString(b.do(".jobs 1"), ""))
	require.Contains(t, b.refused(".jobs repk"), "did you mean repl?")
	require.Contains(t, b.refused(".jobs repl now"), "usage: .jobs [JOB]")
}
