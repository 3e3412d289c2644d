package planner

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/sim"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib"
)

// Scripts run in this process, in a folder of their own, at chosen sizes: how many tasks, how many bytes of a file a task
// reads at a time, how many rows a batch of a source has, how much a channel holds. None of them may change a result.

// sizes are the ways in which a run may differ from another one of the same script.
type sizes struct {
	parallelism int
	chunk       int64  // bytes; 0: as usual
	rows        int    // of a source's batches; 0: as usual
	channel     int    // rows that a channel holds; 0: as usual
	sim         uint64 // not 0: all tasks are stepped by one goroutine, in an order that this decides
	drowsy      uint64 // not 0: sources fall idle at moments that this decides
}

func (z sizes) String() string {
	return fmt.Sprintf("p%d,chunk=%d,rows=%d,channel=%d,sim=%d,drowsy=%d", z.parallelism, z.chunk, z.rows, z.channel, z.sim, z.drowsy)
}

// matrix is what every script of the golden files runs at.
var matrix = []sizes{
	{parallelism: 1},
	{parallelism: 1, chunk: 40, rows: 1, channel: 1},
	{parallelism: 2, chunk: 64, rows: 3, channel: 2},
	{parallelism: 3},
	{parallelism: 3, chunk: 1, rows: 2, channel: 1},
	{parallelism: 5, chunk: 100, rows: 7, channel: 16},
	{parallelism: 3, chunk: 50, rows: 4, sim: 7},
}

// folder is a file system in which all paths are relative to a folder. Nothing is synced: no test pulls the plug.
type folder string

func (f folder) at(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(string(f), name)
}

type unsynced struct{ *os.File }

func (unsynced) Sync() error { return nil }

func (f folder) relative(err error) error {
	if p, ok := err.(*fs.PathError); ok {
		if rel, e := filepath.Rel(string(f), p.Path); e == nil {
			return &fs.PathError{Op: p.Op, Path: rel, Err: p.Err}
		}
	}
	return err
}

func (f folder) open(name string, flags int) (exec.File, error) {
	file, err := os.OpenFile(f.at(name), flags, 0o666)
	if err != nil {
		return nil, f.relative(err)
	}
	return unsynced{file}, nil
}

func (f folder) Open(name string) (exec.File, error) { return f.open(name, os.O_RDONLY) }
func (f folder) Create(name string) (exec.File, error) {
	return f.open(name, os.O_CREATE|os.O_RDWR|os.O_TRUNC)
}
func (f folder) Append(name string) (exec.File, error) {
	return f.open(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND)
}
func (f folder) Edit(name string) (exec.File, error) {
	return f.open(name, os.O_CREATE|os.O_RDWR)
}
func (f folder) Link(from, to string) error   { return f.relative(os.Link(f.at(from), f.at(to))) }
func (folder) SyncDir(string) error           { return nil }
func (f folder) Rename(from, to string) error { return f.relative(os.Rename(f.at(from), f.at(to))) }
func (f folder) Remove(name string) error     { return f.relative(os.Remove(f.at(name))) }
func (f folder) MkdirAll(name string) error   { return f.relative(os.MkdirAll(f.at(name), 0o777)) }
func (f folder) Stat(name string) (fs.FileInfo, error) {
	i, err := os.Stat(f.at(name))
	return i, f.relative(err)
}
func (f folder) ReadDir(name string) ([]fs.DirEntry, error) {
	es, err := os.ReadDir(f.at(name))
	return es, f.relative(err)
}
func (f folder) Glob(pattern string) ([]string, error) {
	names, err := filepath.Glob(f.at(pattern))
	for i, n := range names {
		if !filepath.IsAbs(pattern) {
			names[i], _ = filepath.Rel(string(f), n)
		}
	}
	return names, err
}

// ran is what a run gave.
type ran struct {
	refused string // diagnostics of a script that does not compile
	err     error
	stdout  string
	stats   *exec.Stats
}

// lines returns what was printed, sorted.
func (r ran) lines() []string { return sorted(r.stdout) }

func sorted(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	sort.Strings(lines)
	return lines
}

// output is what all printing sinks of a run write to.
type output struct {
	mu sync.Mutex
	bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.Buffer.Write(b)
}

var library = sync.OnceValue(stdlib.New)

// runIn runs a script in a folder. A run that does not end is a failure.
func runIn(t testing.TB, dir, script string, z sizes, set map[string]string) ran {
	t.Helper()
	var stdout output
	env := exec.OS()
	env.FS, env.Stdin, env.Stdout, env.Chunk = folder(dir), strings.NewReader(""), &stdout, z.chunk
	lib := library()
	c, diags, err := Compile("test.ebb", script, lib, env, Options{Parallelism: z.parallelism, Set: set,
		Print: &types.ConnArgs{Name: "console", Args: map[string]any{"format": "jsonl"}}})
	require.NoError(t, err)
	if c == nil {
		var s strings.Builder
		for _, d := range diags {
			if d.Severity.String() == "error" {
				s.WriteString(strings.TrimRight(check.Render(d), "\n") + "\n")
			}
		}
		return ran{refused: s.String()}
	}
	g := c.Graph(lib, env)
	z.apply(g)
	if z.sim != 0 {
		err := sim.Run(g, env, exec.Setup{}, sim.Options{Seed: z.sim})
		return ran{err: err, stdout: stdout.String(), stats: env.Stats}
	}
	job, err := exec.Start(context.Background(), g, env, exec.Setup{})
	if err != nil {
		return ran{err: err, stats: env.Stats}
	}
	select {
	case <-job.Done():
	case <-time.After(5 * time.Minute):
		t.Fatalf("the run does not end at %v:\n%s", z, script)
	}
	return ran{err: job.Wait(), stdout: stdout.String(), stats: env.Stats}
}

// apply makes batches and channels of a graph small, and its sources drowsy.
func (z sizes) apply(g *exec.Graph) {
	if z.channel > 0 {
		for _, e := range g.Edges {
			e.Limits = exec.Limits{Rows: z.channel, Bytes: 1 << 10}
		}
	}
	if z.rows == 0 && z.drowsy == 0 {
		return
	}
	for k, group := range g.Groups {
		if group.Source == nil {
			continue
		}
		open := group.Source
		group.Source = func(hosts []*exec.Host, restore []*checkpoint.Reader) ([]exec.Source, error) {
			list, err := open(hosts, restore)
			for i := range list {
				if z.rows > 0 {
					list[i] = &slicer{Source: list[i], rows: z.rows}
				}
				if z.drowsy > 0 {
					list[i] = &drowsy{Source: list[i], r: rand.New(rand.NewPCG(z.drowsy, uint64(k*len(list)+i))), idle: true}
				}
			}
			return list, err
		}
	}
}

// slicer gives out the batches of a source in slices of a few rows.
type slicer struct {
	exec.Source
	rows int
}

func (s *slicer) Poll(out *exec.Out) (exec.Status, error) {
	return s.Source.Poll(exec.NewTap(func(port int, it exec.Item) {
		switch it.Kind {
		case exec.Rows:
			for from := 0; from < it.Batch.Rows(); from += s.rows {
				out.EmitTo(port, it.Batch.Slice(from, min(from+s.rows, it.Batch.Rows())))
			}
		case exec.Watermark:
			out.Watermark(it.W)
		case exec.WentIdle, exec.WentActive:
			out.Idle(it.Kind == exec.WentIdle)
		case exec.ChunkEnd:
			out.ChunkEnd(it.N)
		}
	}))
}

// drowsy is a source that falls idle now and then, for some polls. While one source alone is read this changes nothing: no other one
// can have closed a window meanwhile.
type drowsy struct {
	exec.Source
	r    *rand.Rand
	idle bool // at first it may have been, when the run was killed
}

func (s *drowsy) Poll(out *exec.Out) (exec.Status, error) {
	if s.idle && s.r.IntN(3) > 0 {
		return exec.More, nil
	}
	if s.idle {
		s.idle = false
		out.Idle(false)
	}
	st, err := s.Source.Poll(out)
	if err == nil && st != exec.Done && s.r.IntN(3) == 0 {
		s.idle = true
		out.Idle(true)
	}
	return st, err
}

func (s *drowsy) Save(w *checkpoint.Writer) error {
	return s.Source.(interface {
		Save(*checkpoint.Writer) error
	}).Save(w)
}

// writeFiles writes the inputs of a script.
func writeFiles(t testing.TB, dir string, files map[string]string) {
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
}

// outputs returns the files of a folder that are no inputs.
func outputs(t testing.TB, dir string, inputs map[string]string) map[string]string {
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if _, in := inputs[name]; !in {
			b, err := os.ReadFile(path)
			out[name] = string(b)
			return err
		}
		return nil
	}))
	return out
}

// removeOutputs leaves the inputs of a folder alone.
func removeOutputs(t testing.TB, dir string, inputs map[string]string) {
	names := slices.Collect(maps.Keys(inputs))
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if name == "." || slices.ContainsFunc(names, func(n string) bool { return n == name || strings.HasPrefix(n, name+"/") }) {
			return nil
		}
		if err := os.RemoveAll(path); err != nil || !d.IsDir() {
			return err
		}
		return fs.SkipDir
	}))
}
