package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

var (
	speedRows   = flag.Float64("speed-rows", 1, "how many times as many rows the runs of TestCheckpointCost read")
	speedJob    = flag.String("speed-job", "", "only the job of this name of TestCheckpointCost")
	speedEvery  = flag.Duration("speed-every", 0, "only this interval of TestCheckpointCost")
	speedRounds = flag.Int("speed-rounds", 2, "rounds of TestCheckpointCost")
)

// costJobs are what TestCheckpointCost runs; %d is the number of rows or events.
var costJobs = []struct {
	name, script string
	rows         int
}{
	{"q5", nexmarkQuery("q5"), 48_000_000},
	{"q12", nexmarkQuery("q12"), 48_000_000},
	{"5 M keys", `generate({k: "int 1..5000000"}, count: %d) |> aggregate n = count() by k |> into csv("out.csv")`, 20_000_000},
}

func nexmarkQuery(name string) string {
	text, err := os.ReadFile("../../examples/nexmark/" + name + ".ebb")
	if err != nil {
		return "" // not in the tree
	}
	return strings.NewReplacer("events: int = 500", "events: int = %d", fmt.Sprintf("jsonl(%q)", name+".jsonl"), `jsonl("out.jsonl")`).Replace(string(text))
}

// TestCheckpointCost tells what checkpoints take of a job's speed: runs with them beside runs without, in which a bare
// loop appends and flushes the same bytes at the same interval. The runs come as bare, job, job, bare; medians count.
func TestCheckpointCost(t *testing.T) {
	needsSpeed(t)
	fmt.Println("| job | every | checkpoints a run | MB a run | without s (CPU) | bare s (CPU) | with s (CPU) | lost, clock | of it the last | lost, CPU | others' CPU a run |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	file := newBare(t, exec.OS().FS, t.TempDir())
	for _, j := range costJobs {
		if *speedJob != "" && j.name != *speedJob {
			continue
		}
		for _, interval := range []time.Duration{time.Second, 100 * time.Millisecond} {
			if *speedEvery != 0 && interval != *speedEvery {
				continue
			}
			script := fmt.Sprintf(j.script, int(float64(j.rows)**speedRows))
			var taken []*checkpoint.Manifest
			var last []time.Duration // of the checkpoint at the end of each run, while nothing else runs
			with := func() (c cost) {
				taken, c = runLaunched(t, script, interval, nil)
				t.Log("with", c, c.others)
				if n := len(taken); n > 0 {
					last = append(last, time.Duration(taken[n-1].Durable-taken[n-1].Created))
				}
				return c
			}
			beside := func(b *bare) cost {
				_, c := runLaunched(t, script, 0, func() func() { return b.beside(t, taken, interval) })
				t.Log("without, bare:", b != nil, c, c.others)
				return c
			}
			with() // warm up, and to know how many bytes the loop is to write
			var sum int64
			for _, size := range flushed(taken) {
				sum += int64(size)
			}
			n := len(taken)
			b, w := abba(*speedRounds, func() cost { return beside(file) }, with)
			none := median([]cost{beside(nil), beside(nil)})
			slices.Sort(last)
			fmt.Printf("| %s | %s | %d | %.0f | %s | %s | %s | %.1f %% | %.1f %% | %.1f %% | %.2f s |\n", j.name, interval, n, float64(sum)/1e6,
				none, b, w, percent(w.wall, b.wall)-100, percent(last[len(last)/2], b.wall), percent(w.cpu, b.cpu)-100, max(b.others, w.others).Seconds())
		}
	}
}

func (c cost) String() string { return fmt.Sprintf("%.2f (%.2f)", c.wall.Seconds(), c.cpu.Seconds()) }

// flushed returns how many bytes each checkpoint made durable: its own, and those of the outputs that belong to it and to
// none before.
func flushed(taken []*checkpoint.Manifest) (sizes []int) {
	before := map[checkpoint.Sealed]bool{}
	for _, m := range taken {
		n := m.StateBytes + m.FlightBytes
		for _, x := range m.Outputs {
			if !before[x] {
				before[x] = true
				n += x.Length
			}
		}
		sizes = append(sizes, int(n))
	}
	return sizes
}

// runLaunched runs a script with checkpoints, without if interval is 0, and returns those that were taken and what the run
// cost up to its end: what it has written is removed afterwards, and what runs before have left to the system to write is
// written before. beside, if not nil, begins something beside it that is part of the cost and returns what ends it.
func runLaunched(tb testing.TB, script string, interval time.Duration, beside func() (stop func())) (taken []*checkpoint.Manifest, c cost) {
	syscall.Sync()
	var spent func() cost
	taken = launchScript(tb, script, func(l *planner.Launch) {
		l.Interval = int64(interval)
		if interval == 0 {
			l.Mode = "none"
		}
		runtime.GC()
		spent = stopwatch()
	}, func(job *exec.Job, _ *exec.Env, _ func() []*checkpoint.Manifest) {
		stop := func() {}
		if beside != nil {
			stop = beside()
		}
		require.NoError(tb, job.Wait())
		stop()
		c = spent()
	})
	return taken, c
}

// launchScript runs a script in a folder of its own until during returns.
func launchScript(tb testing.TB, script string, set func(*planner.Launch), during func(job *exec.Job, env *exec.Env, taken func() []*checkpoint.Manifest)) (taken []*checkpoint.Manifest) {
	dir, err := os.MkdirTemp("", "ebb")
	require.NoError(tb, err)
	defer os.RemoveAll(dir)
	for _, out := range []string{"out.csv", "out.jsonl"} {
		script = strings.ReplaceAll(script, out, filepath.Join(dir, out))
	}
	env, lib := exec.OS(), stdlib.New()
	c, diags, err := planner.Compile("bench.ebb", script, lib, env, planner.Options{Parallelism: runtime.GOMAXPROCS(0)})
	require.NoError(tb, err)
	require.NotNil(tb, c, "%v", diags)
	o := planner.Launch{Dir: filepath.Join(dir, "checkpoints"), Taken: func(m *checkpoint.Manifest) { taken = append(taken, m) }}
	set(&o)
	l, err := c.Launch("bench.ebb", script, lib, env, o)
	require.NoError(tb, err)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	job, err := exec.Start(ctx, l.Graph, env, l.Setup)
	require.NoError(tb, err)
	during(job, env, func() []*checkpoint.Manifest { return taken })
	cancel()
	job.Wait()
	return taken
}

// beside appends and flushes what checkpoints wrote, at their interval, and when it is stopped what is left. nil does nothing.
func (b *bare) beside(t *testing.T, taken []*checkpoint.Manifest, interval time.Duration) (stop func()) {
	if b == nil {
		return func() {}
	}
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for _, size := range flushed(taken) {
			select {
			case <-done:
			case <-tick.C:
			}
			b.append(t, size)
		}
	}()
	return func() {
		close(done)
		<-gone
	}
}

// TestCheckpointPause tells how long a task does nothing but a checkpoint at a time, with about 1 GiB of state that goes on
// changing: the step, and the pieces that are written between steps.
func TestCheckpointPause(t *testing.T) {
	needsSpeed(t)
	keys := int(7_000_000 * *speedRows)
	script := fmt.Sprintf(`generate({k: "int 1..%d", a: "int 1..1000", b: "float 0..1"}, count: 1000000000)
  |> aggregate n = count(), s1 = sum(a), lo1 = min(a), hi1 = max(a), m1 = avg(a), s2 = sum(b), lo2 = min(b), hi2 = max(b), m2 = avg(b) by k
  |> into csv("out.csv")`, keys)
	fmt.Println("| checkpoint | state | longest pause | to durable | written as |\n|---|---|---|---|---|")
	taken := launchScript(t, script, func(l *planner.Launch) {
		l.Policy = func(p *checkpoint.Policy) { p.Interval = 0 }
	}, func(job *exec.Job, env *exec.Env, taken func() []*checkpoint.Manifest) {
		for env.Stats.RowsIn.Load() < int64(3*keys) {
			time.Sleep(20 * time.Millisecond)
		}
		for n := range 4 {
			require.NoError(t, (<-job.Checkpoint("")).Err)
			m := taken()[n]
			how := "all"
			for _, k := range m.Tasks {
				for _, x := range k.Nodes {
					if len(x.Chain()) > 1 {
						how = "changes"
					}
				}
			}
			fmt.Printf("| %d | %.0f MiB | %.2f ms | %s | %s |\n", m.ID, float64(m.StateBytes)/(1<<20), float64(m.Phases["pause"])/1e6, time.Duration(m.Durable-m.Created).Round(time.Millisecond), how)
		}
	})
	require.NotEmpty(t, taken)
}

// TestRecoveryTime kills a job with more than 100 MiB of state and tells how long the next run takes until it is restored, until
// it writes its first new row, and until rows are visible in a file, beside reading the bytes of the checkpoint.
func TestRecoveryTime(t *testing.T) {
	needsSpeed(t)
	fmt.Println("| written | run | state | reading the bytes | restored | first new row | beyond reading | visible |\n|---|---|---|---|---|---|---|---|")
	const keyed = `generate({k: "int 1..4000000"}) |> aggregate n = count() by k emit changes `
	recoveryTime(t, "every change, to a file", "1s", keyed+`|> into jsonl("out.jsonl", changes: true)`)
	recoveryTime(t, "one in a thousand, to a pipe", "200ms", keyed+`|> where k % 1000 == 0 |> into jsonl("-", changes: true)`)
}

func recoveryTime(t *testing.T, name, interval, script string) {
	script = "set checkpoint.interval = " + interval + "\n" + script
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "job.ebb"), []byte(script), 0o666))
	begin := func(n int) (q *process, log func() string) {
		q = prepare(t, "run", "job.ebb", "--log", "json", "--parallelism", "2")
		q.Dir, q.dir = dir, dir
		file := func(name string) *os.File {
			f, err := os.Create(filepath.Join(dir, fmt.Sprint(name, n)))
			require.NoError(t, err)
			t.Cleanup(func() { f.Close() })
			return f
		}
		f := file("log")
		q.Stderr, q.Stdout = f, file("direct")
		return q.begin(t), func() string { return q.read(filepath.Base(f.Name())) }
	}
	taken := func(log string) int { return strings.Count(log, `"state_bytes"`) }
	q, log := begin(0)
	for n := range 3 {
		require.Eventually(t, func() bool { return taken(log()) > 6-2*n }, time.Minute, 5*time.Millisecond, "%s", log())
		time.Sleep(300 * time.Millisecond)
		q.Process.Kill()
		<-q.done
		bytes, reading := readAll(t, filepath.Join(dir, ".ebb", "job"))
		start := time.Now()
		q, log = begin(n + 1)
		var restored, row, visible time.Duration
		for visible == 0 && time.Since(start) < time.Minute {
			now := log()
			if restored == 0 && strings.Contains(now, "goes on from") {
				restored = time.Since(start)
			}
			if row == 0 && newBytes(dir, n+1, q.Process.Pid) > 0 {
				row = time.Since(start)
			}
			if taken(now) > 0 {
				visible = time.Since(start)
			}
			time.Sleep(time.Millisecond)
		}
		fmt.Printf("| %s | %d | %.0f MB | %.2f s | %.2f s | %.2f s | %.2f s | %.2f s |\n", name, n+1, float64(bytes)/1e6, reading.Seconds(), restored.Seconds(), row.Seconds(), (row - reading).Seconds(), visible.Seconds())
	}
	q.Process.Kill()
	<-q.done
}

// newBytes returns how many bytes of new rows a run has written: to its standard output, and to hidden files of its own.
func newBytes(dir string, n, pid int) (size int64) {
	names, _ := filepath.Glob(filepath.Join(dir, fmt.Sprintf(".out.jsonl.tmp-%d-*", pid)))
	for _, name := range append(names, filepath.Join(dir, fmt.Sprint("direct", n))) {
		if i, err := os.Stat(name); err == nil {
			size += i.Size()
		}
	}
	return size
}

// readAll reads what the newest checkpoint of a folder needs.
func readAll(t *testing.T, dir string) (n int64, took time.Duration) {
	start := time.Now()
	f, err := checkpoint.OpenReader(exec.OS().FS, dir)
	require.NoError(t, err)
	defer f.Close()
	m, err := f.Manifest(f.Head())
	require.NoError(t, err)
	m.Refs(func(r checkpoint.Ref) {
		b, err := f.Read(r)
		require.NoError(t, err)
		n += int64(len(b))
	})
	return n, time.Since(start)
}
