package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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
		panic(err)
	}
	return strings.NewReplacer("events: int = 500", "events: int = %d", fmt.Sprintf("jsonl(%q)", name+".jsonl"), `jsonl("out.jsonl")`).Replace(string(text))
}

// TestCheckpointCost tells what checkpoints take of a job's speed: runs with them beside runs without, in which a bare
// loop appends and flushes the same bytes at the same interval. The runs come as bare, job, job, bare; medians count.
func TestCheckpointCost(t *testing.T) {
	needsSpeed(t)
	fmt.Println("| job | every | checkpoints a run | bytes each | without s | bare s | with s | lost, clock | lost, CPU | CPU lost against no checkpoints |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	file := newBare(t, exec.OS().FS, t.TempDir())
	for _, j := range costJobs {
		for _, interval := range []time.Duration{time.Second, 100 * time.Millisecond} {
			script := fmt.Sprintf(j.script, int(float64(j.rows)**speedRows))
			var taken []*checkpoint.Manifest
			with := func() { taken = runLaunched(t, script, interval) }
			without := func() { runLaunched(t, script, 0) }
			bare := func() {
				stop := file.beside(t, taken, interval)
				without()
				stop()
			}
			with() // warm up, and to know how many bytes the loop is to write
			var sum int64
			for _, m := range taken {
				sum += m.StateBytes + m.FlightBytes
			}
			n := len(taken)
			b, w := abba(*speedRounds, bare, with)
			none := measure(without)
			fmt.Printf("| %s | %s | %d | %.2f MB | %.2f | %.2f | %.2f | %.1f %% | %.1f %% | %.1f %% |\n", j.name, interval, n, float64(sum)/1e6/float64(max(n, 1)),
				none.wall.Seconds(), b.wall.Seconds(), w.wall.Seconds(), percent(w.wall, b.wall)-100, percent(w.cpu, b.cpu)-100, percent(w.cpu, none.cpu)-100)
		}
	}
}

// runLaunched runs a script with checkpoints, without if interval is 0, and returns those that were taken.
func runLaunched(tb testing.TB, script string, interval time.Duration) (taken []*checkpoint.Manifest) {
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
	o := planner.Launch{Dir: filepath.Join(dir, "checkpoints"), Interval: int64(interval), Taken: func(m *checkpoint.Manifest) { taken = append(taken, m) }}
	if interval == 0 {
		o.Mode = "none"
	}
	l, err := c.Launch("bench.ebb", script, lib, env, o)
	require.NoError(tb, err)
	job, err := exec.Start(context.Background(), l.Graph, env, l.Setup)
	require.NoError(tb, err)
	require.NoError(tb, job.Wait())
	return taken
}

// beside appends and flushes what checkpoints wrote, at their interval, until it is stopped.
func (b *bare) beside(t *testing.T, taken []*checkpoint.Manifest, interval time.Duration) (stop func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for _, m := range taken {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			b.append(t, int(m.StateBytes+m.FlightBytes))
		}
	}()
	return func() {
		close(done)
		<-gone
	}
}

func TestTmpProfile(t *testing.T) {
	needsSpeed(t)
	j := costJobs[2]
	d, _ := time.ParseDuration(os.Getenv("EVERY"))
	for range 2 {
		c := measure(func() { runLaunched(t, fmt.Sprintf(j.script, j.rows/2), d) })
		fmt.Println(d, c)
	}
}
