package repl

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func (b *bench) write(name, text string) {
	b.t.Helper()
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	require.NoError(b.t, err)
	_, err = f.WriteString(text)
	require.NoError(b.t, err)
	require.NoError(b.t, f.Close())
}

func TestErrors(t *testing.T) {
	b := newBench(t)
	b.write("in.csv", "a\n1\n0\n2\n0\n")
	require.Contains(t, b.refused(".errors"), "there is no job")
	b.do(`csv("in.csv") |> derive b = 8 % a on_error drop |> into csv("out.csv")`, ".run")
	b.until("has finished")
	out := b.do(".errors")
	require.Equal(t, 2, strings.Count(out, "derive: in.csv: row "), out)
	require.Contains(t, out, "derive: in.csv: row 2: ")
	require.Contains(t, out, "\n  {\"a\":0}\n")
	require.Contains(t, b.refused(".errors 3"), "usage: .errors [-j JOB]")
	require.Contains(t, b.do(".late"), "no row of job 1 (repl) was late")

	var long strings.Builder
	for range 300 {
		long.WriteString("0\n")
	}
	b.write("in.csv", long.String())
	b.do(".run")
	b.until("has finished")
	require.Contains(t, b.do(".errors"), "the last 100 of 302 rows that failed\n")
}

func TestLate(t *testing.T) {
	b := newBench(t)
	b.write("in.csv", "at,n\n2026-01-01T00:00:05Z,1\n2026-01-01T00:01:05Z,2\n2026-01-01T00:00:06Z,3\n")
	b.do(`source s = csv("in.csv") time at`, `s |> aggregate n = sum(n) window tumbling(10s) |> into csv("out.csv")`, ".run")
	b.until("has finished")
	out := b.do(".late")
	require.Contains(t, out, "aggregate: in.csv: row 3: event time 2026-01-01T00:00:06Z, when its split had come to 2026-01-01T00:01:05Z\n")
	require.Contains(t, out, `"n":3`)
	require.Contains(t, out, "1 row was dropped; `late into TARGET` keeps them")
}

// TestHeldBack has a job that emits nothing since one of two files says nothing.
func TestHeldBack(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", "at,n\n2026-01-01T00:00:05Z,1\n")
	b.write("b.csv", "at,n\n2026-01-01T00:00:05Z,1\n")
	b.do(`source s = csv("*.csv", follow: true) time at lag 1s`, `s |> aggregate n = sum(n) window tumbling(10s) |> into jsonl("out.jsonl")`)
	require.Contains(t, b.refused(".watermark"), "there is no job")
	b.do(".run")
	b.write("a.csv", "2026-01-01T00:01:05Z,1\n")
	j := b.jobs[0]
	require.Eventually(t, func() bool { return j.Totals().RowsIn == 3 }, time.Minute, time.Millisecond)
	later := time.Now().Add(still)
	for ; later.After(time.Now()); time.Sleep(50 * time.Millisecond) { // a goes on, b does not
		b.write("a.csv", fmt.Sprintf("2026-01-01T00:02:%02dZ,1\n", time.Now().Second()))
	}
	require.Eventually(t, func() bool { return strings.Contains(b.do(".watermark"), "b.csv holds event time back at") }, time.Minute, 100*time.Millisecond)
	out := b.do(".watermark")
	require.Contains(t, out, "s b.csv: watermark 2026-01-01 00:00:04 (latest event 2026-01-01 00:00:05, lag 1s), has not moved for ")
	require.Contains(t, out, "s b.csv holds event time back at 2026-01-01 00:00:04: its latest event is of 2026-01-01 00:00:05\n"+
		"the window of 10s that is open comes out when an event of 2026-01-01 00:00:11 or later is read (its end, and `lag 1s`)\n"+
		"`idle 30s` behind the `time` of the source lets the others go on without it\n")

	// It says so by itself, once.
	note := j.silent.look(j, j.Totals(), time.Now().Add(20*time.Second))
	require.Contains(t, note, "job 1 (repl) has emitted nothing for ")
	require.Contains(t, note, "s b.csv holds event time back at")
	require.Empty(t, j.silent.look(j, j.Totals(), time.Now().Add(40*time.Second)))

	b.write("b.csv", "2026-01-01T00:03:05Z,1\n")
	require.Eventually(t, func() bool { return j.Totals().RowsOut > 0 }, time.Minute, time.Millisecond)
}

func TestNoEventTime(t *testing.T) {
	b := newBench(t)
	b.do(endless, ".run")
	require.Contains(t, b.do(".watermark"), "no source of job 1 (repl) has event time")
}
