package conn

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
	"github.com/stretchr/testify/require"
)

// What the tests of files share: files in memory, and a driver that polls sources.

// casesDir returns a folder of the shared cases, or skips the test where they are absent.
func casesDir(t testing.TB, folder string) string {
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod")
		}
		dir = filepath.Dir(dir)
	}
	dir = filepath.Join(dir, "..", "shared", "cases", folder)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the shared cases are not here: %v", err)
	}
	return dir
}

// memFS holds the files of a test.
type memFS struct {
	exec.FS
	files map[string]string
}

type memFile struct {
	*bytes.Reader
	name string
	size int64
}

func (f *memFile) Write([]byte) (int, error)          { return 0, fs.ErrPermission }
func (f *memFile) WriteAt([]byte, int64) (int, error) { return 0, fs.ErrPermission }
func (f *memFile) Close() error                       { return nil }
func (f *memFile) Sync() error                        { return nil }
func (f *memFile) Truncate(int64) error               { return fs.ErrPermission }
func (f *memFile) Stat() (fs.FileInfo, error) {
	return memInfo{f.name, f.size}, nil
}

type memInfo struct {
	name string
	size int64
}

func (i memInfo) Name() string       { return i.name }
func (i memInfo) Size() int64        { return i.size }
func (i memInfo) Mode() fs.FileMode  { return 0 }
func (i memInfo) ModTime() time.Time { return time.Time{} }
func (i memInfo) IsDir() bool        { return false }
func (i memInfo) Sys() any           { return nil }

func (m memFS) Open(name string) (exec.File, error) {
	s, ok := m.files[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &memFile{bytes.NewReader([]byte(s)), name, int64(len(s))}, nil
}

func (m memFS) Stat(name string) (fs.FileInfo, error) {
	s, ok := m.files[name]
	if !ok {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return memInfo{name, int64(len(s))}, nil
}

func (m memFS) ReadDir(string) ([]fs.DirEntry, error) { return nil, nil }
func (m memFS) Glob(string) ([]string, error)         { return nil, nil }
func (m memFS) Create(name string) (exec.File, error) { return nil, fs.ErrPermission }

// testInline is Env.Inline of the tests.
var testInline int

func testEnv() *exec.Env {
	env := exec.OS()
	env.Inline = testInline
	env.Stdin = strings.NewReader("")
	env.Stdout = io.Discard
	return env
}

func memEnv(files map[string]string) *exec.Env {
	env := testEnv()
	env.FS = memFS{files: files}
	return env
}

// read is how a test reads files.
type read struct {
	args    map[string]any
	schema  types.Schema
	info    types.SourceInfo // what the connector said, if it was asked
	columns []int            // nil: all
	width   int
	time    string // column of the event time
	lag     int64
	idle    int64
	mode    string // of failures; "" collects error rows
	shuffle *rand.Rand
	limit   int64
	limited bool // a task may end inside a chunk that nobody wants
}

// got is what a source gave, in the order of its chunks.
type got struct {
	limited bool
	rows    []string // values
	pos     []uint64
	late    []string // position: mark, of the rows behind it
	errors  []string
	marks   []string // watermarks and idleness, by task
	err     error
	batch   []*vec.Batch
}

func field(name string, t types.Type) types.Field { return types.Field{Name: name, Type: t} }

// scanOf makes the planner's request.
func (r read) scanOf(env *exec.Env) *spec.Scan {
	s := &spec.Scan{Name: "src", Ordinal: 1, Args: &types.ConnArgs{Args: r.args}, Info: r.info, Schema: r.schema, Columns: r.columns, Width: max(1, r.width), Lag: r.lag, Idle: r.idle, Limit: r.limit, Env: env}
	if s.Columns == nil {
		for i := range r.schema.Fields {
			s.Columns = append(s.Columns, i)
		}
	}
	mode := r.mode
	if mode == "" {
		mode = "into"
	}
	s.Failures = func() *exec.Failures { return &exec.Failures{Mode: mode, Port: 1, Stats: env.Stats} }
	if r.time != "" {
		at := -1
		for k, c := range s.Columns {
			if r.schema.Fields[c].Name == r.time {
				at = k
			}
		}
		s.Time = func(b *vec.Batch, fail func(int, error)) {
			b.Time = make([]int64, b.N)
			for i := range b.Rows() {
				row := b.Row(i)
				if b.Cols[at].Null(row) {
					fail(row, errors.New("the event time is null"))
					continue
				}
				b.Time[row] = b.Cols[at].Ints[row]
			}
		}
	}
	return s
}

// run reads everything with a format's own opener.
func (r read) run(t testing.TB, env *exec.Env, open func(*spec.Scan) ([]exec.Source, error)) got {
	g := got{limited: r.limited}
	sources, err := open(r.scanOf(env))
	if err != nil {
		g.err = err
		return g
	}
	return g.drain(t, sources, r.shuffle)
}

func (g got) drain(t testing.TB, sources []exec.Source, shuffle *rand.Rand) got {
	type chunk struct {
		n    int64
		rows []exec.Item
		errs []exec.Item
	}
	var chunks []chunk
	open := make([]chunk, len(sources))
	outs := make([]*exec.Out, len(sources))
	for i := range sources {
		outs[i] = exec.NewTap(func(port int, it exec.Item) {
			switch {
			case port == 1:
				open[i].errs = append(open[i].errs, it)
			case it.Kind == exec.Rows:
				open[i].rows = append(open[i].rows, it)
			case it.Kind == exec.ChunkEnd:
				open[i].n = it.N
				chunks = append(chunks, open[i])
				open[i] = chunk{}
			case it.Kind == exec.Watermark:
				g.marks = append(g.marks, fmt.Sprintf("%d: %d", i, it.W))
			default:
				g.marks = append(g.marks, fmt.Sprintf("%d: %v", i, it.Kind == exec.WentIdle))
			}
		})
	}
	defer func() {
		for _, s := range sources {
			s.Close()
		}
	}()
	done := make([]bool, len(sources))
	left := len(sources)
	stalled := time.Now()
	for k := 0; left > 0; k++ {
		i := k % len(sources)
		if shuffle != nil {
			i = shuffle.IntN(len(sources))
		}
		if done[i] {
			continue
		}
		st, err := sources[i].Poll(outs[i])
		if err != nil {
			g.err = err
			return g
		}
		switch st {
		case exec.Done:
			done[i] = true
			left--
		case exec.Idle:
			if time.Since(stalled) > 20*time.Second {
				t.Fatalf("no progress: %v tasks wait", left)
			}
			if k%64 == 0 {
				time.Sleep(10 * time.Microsecond)
			}
			continue
		}
		stalled = time.Now()
	}
	sort.Slice(chunks, func(i, j int) bool { return chunks[i].n < chunks[j].n })
	for i, c := range chunks {
		if c.n != int64(i) {
			t.Fatalf("chunk %d ended as the %d.", c.n, i)
		}
		for _, it := range c.rows {
			g.add(it.Batch)
		}
		for _, it := range c.errs {
			for r := range it.Batch.Rows() {
				b := it.Batch
				g.errors = append(g.errors, fmt.Sprintf("%s %d: %s | %s", b.Cols[3].Strs[r], b.Cols[4].Ints[r], b.Cols[0].Strs[r], b.Cols[2].Strs[r]))
			}
		}
	}
	for i, c := range open {
		if !g.limited && (len(c.rows) > 0 || len(c.errs) > 0) {
			t.Fatalf("task %d ended inside a chunk", i)
		}
	}
	return g
}

func (g *got) add(b *vec.Batch) {
	g.batch = append(g.batch, b)
	for i := range b.Rows() {
		r := b.Row(i)
		if len(b.Cols) > 0 {
			var v []any
			for _, c := range b.Cols {
				x := c.Value(r)
				if s, ok := x.(string); ok {
					x = short(s)
				}
				v = append(v, x)
			}
			g.rows = append(g.rows, short(fmt.Sprintf("%#v", v)))
		} else {
			g.rows = append(g.rows, "-")
		}
		g.pos = append(g.pos, b.Pos[r])
		if b.Mark != nil && b.Time[r] < b.Mark[r] {
			g.late = append(g.late, fmt.Sprintf("%d: %d", b.Pos[r], b.Mark[r]))
		}
	}
}

// short keeps what tests print and compare small.
func short(s string) string {
	if len(s) > 1000 {
		return fmt.Sprintf("%s…%d", s[:100], len(s))
	}
	return s
}

func openCSV(chunk int64) func(*spec.Scan) ([]exec.Source, error) {
	return func(s *spec.Scan) ([]exec.Source, error) {
		form, err := newCSVFormat(s)
		if err != nil {
			return nil, err
		}
		return openChunked(s, form, csvExts, chunk)
	}
}
