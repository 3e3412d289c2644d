package sim_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/sim"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// world is what outlives the crashes of a job: its disk and the time.
type world struct {
	t        *testing.T
	fs       *disk.Sim
	clock    *sim.Clock
	rng      *rand.Rand
	script   string
	trace    func(op, name string)
	taken    int // checkpoints published
	lives    int
	restored int   // lives that went on from a checkpoint
	flight   int64 // rows put back
}

func newWorld(t *testing.T, script string, seed uint64, files map[string]string) *world {
	w := &world{t: t, fs: disk.NewSim(), clock: &sim.Clock{At: 1e18}, rng: rand.New(rand.NewPCG(seed, 1)), script: script}
	for name, text := range files {
		f, err := w.fs.Create(name)
		require.NoError(t, err)
		_, err = f.Write([]byte(text))
		require.NoError(t, err)
		require.NoError(t, f.Sync())
		require.NoError(t, f.Close())
	}
	require.NoError(t, w.fs.SyncDir("."))
	return w
}

// life is one run of the job.
type life struct {
	seed     uint64
	width    int
	mode     string
	interval int64 // of checkpoints; 0: none
	open     int   // checkpoints that may be open
	rows     int   // of a step, at most
	crash    int   // steps; 0: never
	stop     int   // steps after which the run is stopped as by a signal; 0: never
	crashAt  int   // operations on the disk; 0: never
	from     string
}

var library = stdlib.New()

var first = flag.Int("first", 0, "first seed")

// run lives a life. It returns whether the job came to its end.
func (w *world) run(l life) (done bool, err error) {
	env := exec.OS()
	env.FS, env.Now, env.Stdin, env.Stdout, env.Chunk = w.fs, w.clock.Now, strings.NewReader(""), io.Discard, 300
	steps := rand.New(rand.NewPCG(l.seed, 2))
	env.StepRows = func() int { return 1 + steps.IntN(l.rows) }
	ops, at := 0, 0
	crashed := false
	w.fs.Before = func(op, name string) error {
		if w.trace != nil {
			w.trace(op, name)
		}
		if ops++; l.crashAt > 0 && ops >= l.crashAt {
			crashed = true
			return sim.ErrCrash
		}
		return nil
	}
	c, diags, err := planner.Compile("job.ebb", w.script, library, env, planner.Options{Parallelism: l.width})
	require.NoError(w.t, err)
	require.NotNil(w.t, c, "%v", diags)
	mode := l.mode
	if l.interval == 0 {
		mode = "none"
	}
	launched, err := c.Launch("job.ebb", w.script, library, env, planner.Launch{Mode: mode, Interval: l.interval, From: l.from,
		Policy: func(p *checkpoint.Policy) { p.MaxOpen, p.AlignTimeout = max(l.open, 1), l.interval/3 },
		Together: func(fs []func()) {
			w.rng.Shuffle(len(fs), func(i, k int) { fs[i], fs[k] = fs[k], fs[i] })
			for _, f := range fs {
				f()
			}
		},
		Taken: func(*checkpoint.Manifest) { w.taken++ }})
	if err == nil {
		err = sim.Run(launched.Graph, env, launched.Setup, sim.Options{Seed: l.seed, Clock: w.clock, Crash: l.crash, Each: func(r *exec.Run) {
			if at++; at == l.stop {
				r.Stop()
			}
		}})
	}
	if launched != nil && !crashed && !errors.Is(err, sim.ErrCrash) {
		if e := launched.Close(); err == nil {
			err = e
		}
	}
	w.lives++
	if testing.Verbose() {
		from := checkpoint.ID(0)
		if launched != nil && launched.From != nil {
			from = launched.From.ID
		}
		w.t.Logf("from %d: %+v: %v", from, l, err)
	}
	if launched != nil && launched.From != nil && launched.Setup.From != nil {
		w.restored++
		w.flight += launched.Setup.From.Rows()
	}
	if crashed || errors.Is(err, sim.ErrCrash) {
		w.fs.Before = nil
		w.fs = w.fs.Crash(w.rng)
		return false, nil
	}
	return err == nil, err
}

// output returns the lines of a file, sorted.
func (w *world) output(name string) string {
	f, err := w.fs.Open(name)
	if err != nil {
		return err.Error()
	}
	b, err := io.ReadAll(f)
	require.NoError(w.t, err)
	lines := strings.Split(string(b), "\n")
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// jobs write files, so that what they gave can be compared after crashes.
var jobs = map[string]string{
	"copy":     `csv("in.csv") |> where n % 3 != 0 |> into csv("out.csv")`,
	"keyed":    `nexmark("bid", events: 4_000) |> aggregate n = count(), s = sum(price), who = distinct(bidder) by auction |> into csv("out.csv")`,
	"windowed": `nexmark("bid", events: 4_000) |> aggregate n = count() by bidder window hopping(100ms, every: 20ms) |> into csv("out.csv")`,
	"late": `source b = nexmark("bid", events: 4_000, disorder: 977) time date_time lag 10ms
b |> aggregate n = count() by channel window tumbling(100ms) late into behind |> into csv("out.csv")
behind |> aggregate late = count(), s = sum(price) |> into jsonl("late.jsonl")`,
	"session":    `nexmark("bid", events: 4_000) |> aggregate n = count(), first = min(price) by bidder window session(10ms) |> into csv("out.csv")`,
	"two levels": `nexmark("bid", events: 3_000) |> aggregate top = max(price) by auction, bidder |> aggregate a = avg(top), n = count() by auction |> where n > 1 |> into csv("out.csv")`,
	"fan": `stream b = nexmark("bid", events: 2_000)
stream dear = b |> where price > 1_000_000 |> select auction, tag = "dear"
stream odd = b |> where auction % 2 == 1 |> select auction, tag = "odd"
dear |> union odd |> aggregate n = count() by auction, tag |> sort by auction, tag |> into csv("out.csv")
b |> where price < 1000 |> into jsonl("late.jsonl")`,
}

func inputs() map[string]string {
	var in strings.Builder
	in.WriteString("n,s\n")
	for i := range 1500 {
		fmt.Fprintf(&in, "%d,%s\n", i, strings.Repeat("x", 1+i%9))
	}
	return map[string]string{"in.csv": in.String()}
}

// TestCrashes runs each job once in peace and then with crashes, in which it goes on from its checkpoints: the outputs
// must be the same.
func TestCrashes(t *testing.T) {
	for name, script := range jobs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peace := newWorld(t, script, 0, inputs())
			_, err := peace.run(life{width: 1, rows: 1000})
			require.NoError(t, err)
			for seed := uint64(*first); seed < uint64(*seeds); seed++ {
				crashes(t, script, seed, peace)
			}
		})
	}
}

func crashes(t *testing.T, script string, seed uint64, peace *world) {
	w := newWorld(t, script, seed, inputs())
	replay := fmt.Sprintf("go test ./exec/sim -run %q -seeds %d # seed %d", t.Name(), seed+1, seed)
	width := 1 + w.rng.IntN(3)
	for n := 0; ; n++ {
		if seed%2 == 1 {
			width = 1 + w.rng.IntN(4)
		}
		l := life{seed: seed<<8 + uint64(n), width: width, mode: []string{"auto", "aligned", "unaligned"}[w.rng.IntN(3)],
			interval: int64(20_000 + w.rng.IntN(2_000_000)), open: 1 + w.rng.IntN(3), rows: 1 << w.rng.IntN(8)}
		if n < 6 {
			if w.rng.IntN(2) == 0 {
				l.crash = 1 + w.rng.IntN(3000)
			} else {
				l.crashAt = 1 + w.rng.IntN(200)
			}
		}
		done, err := w.run(l)
		require.NoError(t, err, "%s, life %d: %+v", replay, n, l)
		if done {
			break
		}
		require.Less(t, n, 20, replay)
	}
	t.Logf("seed %d: %d lives, %d restored, %d checkpoints, %d rows put back", seed, w.lives, w.restored, w.taken, w.flight)
	for _, file := range []string{"out.csv", "late.jsonl"} {
		if d := difference(peace.output(file), w.output(file)); d != "" {
			t.Errorf("%s: %s:%s", replay, file, d)
		}
	}
}

// difference tells in a few lines which lines are missing and which are too many; "" if the texts are equal.
func difference(want, got string) string {
	if want == got {
		return ""
	}
	count := map[string]int{}
	for _, l := range strings.Split(want, "\n") {
		count[l]++
	}
	for _, l := range strings.Split(got, "\n") {
		count[l]--
	}
	var out []string
	for l, n := range count {
		if n != 0 {
			out = append(out, fmt.Sprintf("%+d %s", -n, l))
		}
	}
	sort.Strings(out)
	n := len(out)
	return fmt.Sprintf(" %d lines differ\n%s", n, strings.Join(out[:min(n, 8)], "\n"))
}
