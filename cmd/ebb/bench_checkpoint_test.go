package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// What checkpoints cost: tests that print tables, and run only with -speed (make bench-checkpoint). Beside each number
// stands a bare loop that appends and flushes the same bytes in the same run, on the same disk, under the same load.
// docs/checkpoints-speed.md says how to read them.

var (
	speed    = flag.Bool("speed", false, "measure checkpoints and print tables")
	speedRow = flag.String("speed-row", "", "only the rows of TestCheckpointTime whose first four columns match, such as 'unaligned .* 1ms true'")
)

func needsSpeed(t *testing.T) {
	if !*speed {
		t.Skip("measures; runs with -speed")
	}
	limitGarbage()
}

// TestCheckpointTime is Flink's CheckpointingTimeBenchmark: source, rebalance, map, rebalance, and a sink that burns a
// time for each record of 1 KB, all at parallelism 2; checkpoints are asked for while every channel is full.
func TestCheckpointTime(t *testing.T) {
	needsSpeed(t)
	fmt.Println("| mode | edges | sink/record | flush | n | p50 | p99 | bare p50 | bare p99 | beyond p50 | beyond p99 | step | gather | queue | encode | write+flush | in flight |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, flush := range []bool{true, false} {
		for _, burn := range []time.Duration{200 * time.Microsecond, time.Millisecond, 10 * time.Millisecond} {
			for _, mode := range []checkpoint.Mode{checkpoint.Unaligned, checkpoint.Auto} {
				timeCheckpoints(t, timing{mode: mode, spread: exec.Rebalance, burn: burn, flush: flush, n: 200})
			}
			timeCheckpoints(t, timing{mode: checkpoint.Unaligned, spread: exec.Hash, burn: burn, flush: flush, n: 200})
		}
	}
	for burn, n := range map[time.Duration]int{200 * time.Microsecond: 5, time.Millisecond: 3, 10 * time.Millisecond: 1} {
		timeCheckpoints(t, timing{mode: checkpoint.Aligned, spread: exec.Rebalance, burn: burn, flush: true, n: n})
	}
}

type timing struct {
	mode   checkpoint.Mode
	spread exec.Spread // rebalance: from task i to task i; hash: from each to each
	burn   time.Duration
	flush  bool
	n      int
}

func timeCheckpoints(t *testing.T, o timing) {
	spread := "i → i"
	if o.spread == exec.Hash {
		spread = "all → all"
	}
	line := []string{o.mode.String(), spread, o.burn.String(), fmt.Sprint(o.flush)}
	if !regexp.MustCompile(*speedRow).MatchString(strings.Join(line, " ")) {
		return
	}
	env := exec.OS()
	if !o.flush {
		env.FS = noFlush{env.FS}
	}
	var taken []*checkpoint.Manifest
	policy := checkpoint.DefaultPolicy()
	policy.Interval, policy.Mode, policy.MaxOpen = 0, o.mode, 1
	dir := t.TempDir()
	setup := exec.Setup{Checkpoints: &exec.Checkpoints{Policy: policy, First: 1,
		Open: func() (*checkpoint.Store, error) {
			s, _, err := checkpoint.Open(env.FS, filepath.Join(dir, "checkpoints"), checkpoint.Options{})
			return s, err
		},
		Taken: func(m *checkpoint.Manifest) { taken = append(taken, m) }}}
	ctx, cancel := context.WithCancel(context.Background())
	sink := &burner{each: o.burn}
	job, err := exec.Start(ctx, burnGraph(o.spread, sink, env.Stats), env, setup)
	require.NoError(t, err)
	time.Sleep(500 * time.Millisecond) // until all channels are full
	bare := newBare(t, env.FS, dir)
	var bares []time.Duration
	for i := range o.n + 2 {
		out := <-job.Checkpoint("")
		require.NoError(t, out.Err)
		if m := taken[len(taken)-1]; i >= 2 { // the first ones open the store
			bares = append(bares, bare.append(t, int(m.StateBytes+m.FlightBytes)))
		}
		time.Sleep(7 * time.Millisecond)
	}
	cancel()
	job.Wait()
	taken = taken[2:]
	var took []time.Duration
	phases := map[string][]time.Duration{}
	var bytes, rows []int64
	for _, m := range taken {
		d := time.Duration(m.Durable - m.Created)
		if o.mode == checkpoint.Auto {
			d -= time.Duration(policy.AlignTimeout)
		}
		took = append(took, d)
		for p, d := range m.Phases {
			phases[p] = append(phases[p], time.Duration(d))
		}
		bytes, rows = append(bytes, m.FlightBytes), append(rows, m.FlightRows)
	}
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f", d.Seconds()*1e3) }
	line = append(line, fmt.Sprint(len(taken)), ms(at(took, 50)), ms(at(took, 99)), ms(at(bares, 50)), ms(at(bares, 99)), ms(at(took, 50)-at(bares, 50)), ms(at(took, 99)-at(bares, 99)))
	for _, p := range []string{"step", "gather", "queue", "encode", "flush"} {
		line = append(line, ms(at(phases[p], 50))+"/"+ms(at(phases[p], 99)))
	}
	line = append(line, fmt.Sprintf("%.2f MB, %d rows", float64(slices.Max(bytes))/1e6, slices.Max(rows)))
	fmt.Println("| " + strings.Join(line, " | ") + " |")
}

// at returns a percentile, by the nearest rank.
func at(ds []time.Duration, percent int) time.Duration {
	ds = slices.Sorted(slices.Values(ds))
	return ds[(len(ds)*percent+99)/100-1]
}

// bare appends and flushes what it is told to, to a file that has room for it.
type bare struct {
	f   disk.File
	off int64
	buf []byte
}

const bareRoom = 256 << 20

func newBare(t *testing.T, fs disk.FS, dir string) *bare {
	f, err := fs.Create(filepath.Join(dir, "bare"))
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	b := &bare{f: f, buf: make([]byte, 8<<20)}
	for off := int64(0); off < bareRoom; off += int64(len(b.buf)) {
		_, err = f.WriteAt(b.buf, off)
		require.NoError(t, err)
	}
	require.NoError(t, f.Sync())
	for i := range b.buf {
		b.buf[i] = byte(i*7919) | 1
	}
	return b
}

func (b *bare) append(t testing.TB, n int) time.Duration {
	if b.off+int64(n) > bareRoom {
		b.off = 0
	}
	start := time.Now()
	for n > 0 {
		k, err := b.f.WriteAt(b.buf[:min(n, len(b.buf))], b.off)
		require.NoError(t, err)
		n, b.off = n-k, b.off+int64(k)
	}
	require.NoError(t, b.f.Sync())
	d := time.Since(start)
	b.off = (b.off + 4095) &^ 4095
	return d
}

// noFlush is files that are never flushed.
type noFlush struct{ disk.FS }

func (n noFlush) Lock(name string) (func() error, error) { return n.FS.(disk.Locker).Lock(name) }

type noFlushFile struct{ disk.File }

func (noFlushFile) Sync() error                         { return nil }
func (noFlush) SyncDir(string) error                    { return nil }
func (n noFlush) Create(name string) (disk.File, error) { return unflushed(n.FS.Create(name)) }
func (n noFlush) Append(name string) (disk.File, error) { return unflushed(n.FS.Append(name)) }
func (n noFlush) Edit(name string) (disk.File, error)   { return unflushed(n.FS.Edit(name)) }

func unflushed(f disk.File, err error) (disk.File, error) {
	if err != nil {
		return nil, err
	}
	return noFlushFile{f}, nil
}

// burnGraph is the graph of the benchmark.
func burnGraph(spread exec.Spread, sink *burner, stats *exec.Stats) *exec.Graph {
	const width = 2
	src := &exec.Group{ID: "source", Name: "source", Width: width, Source: func(hosts []*exec.Host, _ []*checkpoint.Reader) ([]exec.Source, error) {
		var out []exec.Source
		for i := range hosts {
			out = append(out, &kilobytes{next: int64(i) << 40})
		}
		return out, nil
	}}
	add := &exec.Group{ID: "map", Name: "map", Width: width}
	end := &exec.Group{ID: "sink", Name: "sink", Width: width}
	one := &exec.Edge{ID: "one", From: src, To: add, Spread: spread, Keys: []int{0}}
	two := &exec.Edge{ID: "two", From: add, To: end, Spread: spread, Keys: []int{0}}
	src.Ports = [][]exec.Link{{{Edge: one}}}
	add.Ports = [][]exec.Link{{{Node: &exec.Node{ID: "add", Name: "add", Ports: [][]exec.Link{{{Edge: two}}},
		New: func(int) (exec.Operator, error) { return addOne{}, nil }}}}}
	end.Ports = [][]exec.Link{{{Node: &exec.Node{ID: "burn", Name: "burn", Sink: true,
		New: func(int) (exec.Operator, error) { return &exec.SinkOperator{Sink: sink, Stats: stats}, nil }}}}}
	return &exec.Graph{Groups: []*exec.Group{src, add, end}, Edges: []*exec.Edge{one, two}}
}

// kilobytes is an endless source of records of 1 KB.
type kilobytes struct{ next int64 }

var kilobyte = strings.Repeat("0123456789abcdef", 64)[:1000]

func (k *kilobytes) Poll(out *exec.Out) (exec.Status, error) {
	const rows = 64
	ids, texts := make([]int64, rows), make([]string, rows)
	for i := range ids {
		ids[i], texts[i] = k.next, kilobyte
		k.next++
	}
	out.Emit(&vec.Batch{N: rows, Cols: []*vec.Column{{Type: types.T(types.Int), Ints: ids}, {Type: types.T(types.String), Strs: texts}}})
	return exec.More, nil
}

func (k *kilobytes) Close() error                    { return nil }
func (k *kilobytes) Save(w *checkpoint.Writer) error { w.Int(k.next); return nil }

// addOne is the map.
type addOne struct{ exec.Stateless }

func (addOne) Process(_ int, b *vec.Batch, out *exec.Out) error {
	vs := make([]int64, b.N)
	for i, v := range b.Cols[0].Ints {
		vs[i] = v + 1
	}
	out.Emit(b.With([]*vec.Column{{Type: types.T(types.Int), Ints: vs}, b.Cols[1]}))
	return nil
}

// burner is a sink that keeps a core busy for a time a record.
type burner struct {
	each time.Duration
	n    atomic.Int64
}

func (s *burner) Write(b *vec.Batch) error {
	for range b.Rows() {
		for start := time.Now(); time.Since(start) < s.each; {
		}
		s.n.Add(1)
	}
	return nil
}
func (s *burner) Finish() error { return nil }
func (s *burner) Close() error  { return nil }
