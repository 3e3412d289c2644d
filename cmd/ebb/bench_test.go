package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// The benchmarks run the scripts of examples/nexmark from file to file, side by side with loops that are written by hand
// for the query and the file at hand (bench_loop_test.go), on the same number of cores. Ratios of one run count; seconds
// say more about the machine than about the engine. docs/speed.md says how to read them.

// bidSchema is how the scripts read the bids; times are milliseconds in the files.
const bidSchema = `schema { auction: int, bidder: int, price: int, channel: string, url: string, date_time: time(ms), extra: string }`

// exampleBids is the line of the examples that is replaced by a file.
const exampleBids = `source bids = nexmark("bid", events: events)`

// benchQuery returns the script of an example that reads bids from in and writes to out, both by their format.
func benchQuery(tb testing.TB, query, format, in, out string) string {
	text, err := os.ReadFile("../../examples/nexmark/" + query + ".ebb")
	require.NoError(tb, err)
	script := string(text)
	for old, new := range map[string]string{
		exampleBids:                              fmt.Sprintf("source bids = %s(%q)\n    %s\n    time date_time lag 1s", format, in, bidSchema),
		fmt.Sprintf("jsonl(%q)", query+".jsonl"): fmt.Sprintf("%s(%q)", format, out),
	} {
		require.Contains(tb, script, old)
		script = strings.Replace(script, old, new, 1)
	}
	return script
}

// runScript runs a script in this process to its end.
func runScript(tb testing.TB, script string, cores int) {
	env := exec.OS()
	lib := stdlib.New()
	c, diags, err := planner.Compile("bench", script, lib, env, planner.Options{Parallelism: cores})
	require.NoError(tb, err)
	require.NotNil(tb, c, "%v", diags)
	job, err := exec.Start(context.Background(), c.Graph(lib, env), env, exec.Setup{})
	require.NoError(tb, err)
	require.NoError(tb, job.Wait())
}

// writeBids makes files of the bids among the first events of the generator.
func writeBids(tb testing.TB, events int, paths ...string) {
	script := fmt.Sprintf("source bids = nexmark(\"bid\", events: %d)\n", events)
	for i, path := range paths {
		script += fmt.Sprintf("sink s%d = %s(%q) %s\nbids |> into s%d\n", i, strings.TrimPrefix(filepath.Ext(path), "."), path, bidSchema, i)
	}
	runScript(tb, script, runtime.GOMAXPROCS(0))
}

// bidsOf returns how many bids are among the first events.
func bidsOf(events int) int { return events/50*46 + max(0, events%50-4) }

// benchBids returns a file of bids in .bench, which is made if it is not there, and its number of rows.
// EBB_BENCH_EVENTS sets how many events it is made of.
func benchBids(tb testing.TB, format string) (path string, rows int) {
	events := 1_000_000
	if s := os.Getenv("EBB_BENCH_EVENTS"); s != "" {
		var err error
		events, err = strconv.Atoi(s)
		require.NoError(tb, err, "EBB_BENCH_EVENTS")
	}
	dir, err := filepath.Abs("../../.bench")
	require.NoError(tb, err)
	require.NoError(tb, os.MkdirAll(dir, 0o777))
	path = filepath.Join(dir, fmt.Sprintf("bid-%d.%s", events, format))
	if _, err := os.Stat(path); err != nil {
		writeBids(tb, events, path)
	}
	return path, bidsOf(events)
}

// cost is the time a run took by the clock, and by all cores together in the program and in the system.
// cost is what something took: by the clock, of CPU, and what other programs had of the CPU meanwhile, where that is known.
type cost struct{ wall, cpu, others time.Duration }

func measure(f func()) cost {
	runtime.GC() // what the run before left
	spent := stopwatch()
	f()
	return spent()
}

// stopwatch returns a function that tells what was spent since.
func stopwatch() func() cost {
	all, cpu, start := machineTime(), cpuTime(), time.Now()
	return func() cost {
		own := cpuTime() - cpu
		return cost{time.Since(start), own, max(machineTime()-all-own, 0)}
	}
}

// machineTime returns what all programs have used of the CPU, and what the host of a virtual machine took of it, since the start
// of the machine; 0 where the system does not tell it.
func machineTime() (d time.Duration) {
	text, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(text), "\n")
	for i, f := range strings.Fields(line) {
		if n, err := strconv.ParseInt(f, 10, 64); err == nil && i != 4 && i != 5 && i < 9 { // not idle, nor waiting; guests count as users
			d += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return d
}

// measured makes of a run one that measures all of it.
func measured(f func()) func() cost { return func() cost { return measure(f) } }

func cpuTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// abba runs a and b in turn, a b b a in each round, and returns the median of what each says that it cost.
func abba(rounds int, a, b func() cost) (ca, cb cost) {
	var as, bs []cost
	for range rounds {
		as = append(as, a())
		bs = append(bs, b(), b())
		as = append(as, a())
	}
	return median(as), median(bs)
}

func median(cs []cost) cost {
	of := func(get func(cost) time.Duration) time.Duration {
		ds := make([]time.Duration, len(cs))
		for i, c := range cs {
			ds[i] = get(c)
		}
		slices.Sort(ds)
		return (ds[(len(ds)-1)/2] + ds[len(ds)/2]) / 2
	}
	return cost{of(func(c cost) time.Duration { return c.wall }), of(func(c cost) time.Duration { return c.cpu }), of(func(c cost) time.Duration { return c.others })}
}

func percent(a, b time.Duration) float64 { return 100 * float64(a) / float64(b) }

func millions(rows int, d time.Duration) float64 { return float64(rows) / d.Seconds() / 1e6 }

// BenchmarkNexmark compares each query with its loop: %loop is the speed of the engine in percent of the loop's by the
// clock, %loop-cpu by CPU seconds.
func BenchmarkNexmark(b *testing.B) {
	limitGarbage()
	cores := runtime.GOMAXPROCS(0)
	for _, format := range []string{"csv", "jsonl"} {
		for _, query := range loopQueries {
			b.Run(format+"/"+query, func(b *testing.B) {
				in, rows := benchBids(b, format)
				dir := b.TempDir()
				ours, theirs := filepath.Join(dir, "ebb."+format), filepath.Join(dir, "loop."+format)
				script := benchQuery(b, query, format, in, ours)
				ebb := func() { runScript(b, script, cores) }
				loop := func() { runLoop(b, query, format, in, theirs, cores) }
				ebb() // warm up: page cache, memory
				loop()
				b.ResetTimer()
				l, e := abba(b.N, measured(loop), measured(ebb))
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(percent(l.wall, e.wall), "%loop")
				b.ReportMetric(percent(l.cpu, e.cpu), "%loop-cpu")
				b.ReportMetric(millions(rows, e.wall), "Mrows/s")
				b.ReportMetric(millions(rows, l.wall), "Mrows/s-loop")
			})
		}
	}
}

// TestLoops checks that the loops do the work of the scripts: they write the same rows, and without groups the same bytes.
func TestLoops(t *testing.T) {
	dir, events := t.TempDir(), 50_000
	if testing.Short() { // under the race detector
		events = 10_000
	}
	for _, format := range []string{"csv", "jsonl"} {
		in := filepath.Join(dir, "bid."+format)
		writeBids(t, events, in)
		for _, query := range loopQueries {
			t.Run(format+"/"+query, func(t *testing.T) {
				ours, theirs := filepath.Join(dir, query+"-ebb."+format), filepath.Join(dir, query+"-loop."+format)
				runScript(t, benchQuery(t, query, format, in, ours), 2)
				runLoop(t, query, format, in, theirs, 2)
				require.Equal(t, lines(t, theirs, loops[query].groups != nil), lines(t, ours, loops[query].groups != nil))
			})
		}
	}
}

// lines returns the lines of a file, sorted if their order does not count.
func lines(t *testing.T, path string, sorted bool) []string {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	ls := strings.Split(string(text), "\n")
	if sorted {
		slices.Sort(ls)
	}
	return ls
}
