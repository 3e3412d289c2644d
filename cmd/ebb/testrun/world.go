// Package testrun runs the tests of scripts: the job of a script, with rows that the test gives in the place of its sources
// and with outputs that are kept in memory. Tasks are stepped on one goroutine, time is the test's own, and checkpoints
// go through the code of every run to a disk in memory.
package testrun

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib"
	"github.com/ebb-lang/ebb/stdlib/conn"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// checkpointDir is where the checkpoints of a test lie, in memory.
const checkpointDir = ".ebb-test"

// captureName is the connector that keeps the rows of a stream that a test speaks of. No script sees it.
const captureName = "captured"

// world is what the job of a test meets instead of files: it outlives crashes.
type world struct {
	given    map[string]*conn.Given // by source
	replaced map[string]bool        // the sources that the test gives rows to
	outputs  map[string]*output     // by streamName or sinkName
	sinks    map[types.Place]bool   // the outputs that the test speaks of, by where they are called
}

// output is the rows that were written somewhere.
type output struct {
	schema types.Schema
	rows   []written
}

// written is a row of an output.
type written struct {
	values []any // by column
	change vec.Change
}

func streamName(name string) string { return "stream " + name }

func sinkName(at types.Place) string { return "sink " + at.String() }

func (w *world) output(name string) *output {
	o := w.outputs[name]
	if o == nil {
		o = &output{}
		w.outputs[name] = o
	}
	return o
}

// catalog is the library with the connectors that a test sees.
func (w *world) catalog() *stdlib.Catalog {
	capture := &spec.Conn{
		Doc:      spec.Doc{Name: captureName},
		ConnSig:  types.ConnSig{Sink: true, Params: []types.ConnParam{{Name: "name", Type: types.T(types.String), Required: true}}},
		Updating: func(*types.ConnArgs) bool { return true },
		Sink: func(x *spec.Write) (exec.Sink, error) {
			return w.sink(streamName(x.Args.Args["name"].(string)), x), nil
		},
	}
	return stdlib.New().WithConns(func(k spec.Conn) spec.Conn {
		info, open := k.Info, k.Open
		k.Info = func(a *types.ConnArgs, declared *types.Schema, env *exec.Env) (types.SourceInfo, error) {
			return testInfo(info, a, declared, env)
		}
		k.Open = func(s *spec.Scan) ([]exec.Source, error) {
			if s.Args.Name == "rows" && !w.replaced[s.Name] { // they stand in the script
				return open(s)
			}
			g := w.given[s.Name]
			if g == nil {
				g = &conn.Given{}
				w.given[s.Name] = g
			}
			return g.Open(s)
		}
		k.Reached, k.Encoder = nil, nil
		k.Sink = func(x *spec.Write) (exec.Sink, error) {
			if w.sinks[x.Args.Pos] {
				return w.sink(sinkName(x.Args.Pos), x), nil
			}
			return nobody{}, nil
		}
		return k
	}).With(capture)
}

// testInfo describes an input that no test reads. Where its columns are declared it need not be there.
func testInfo(info func(*types.ConnArgs, *types.Schema, *exec.Env) (types.SourceInfo, error), a *types.ConnArgs, declared *types.Schema, env *exec.Env) (types.SourceInfo, error) {
	x, err := info(a, declared, env)
	if _, script := err.(*types.StageError); err == nil || script {
		return x, err
	}
	if declared == nil {
		return x, fmt.Errorf("%w; where its columns are declared, with `schema { … }`, a test needs no file", err)
	}
	return types.SourceInfo{Schema: *declared, Bounded: a.Args["follow"] != true, Updating: a.Args["changes"] == true}, nil
}

// sink is an output as a run writes it. It forgets what was written after the checkpoint that a run goes on from.
func (w *world) sink(name string, x *spec.Write) exec.Sink {
	o := w.output(name)
	o.schema = x.Schema
	return (*outputSink)(o)
}

// begin forgets all rows: a run starts afresh.
func (w *world) begin() {
	for _, o := range w.outputs {
		o.rows = nil
	}
}

type outputSink output

// Write keeps rows.
func (o *outputSink) Write(b *vec.Batch) error {
	for i := range b.Rows() {
		r := b.Row(i)
		row := written{values: make([]any, len(b.Cols))}
		for k, c := range b.Cols {
			row.values[k] = c.Value(r)
		}
		if b.Change != nil {
			row.change = b.Change[r]
		}
		o.rows = append(o.rows, row)
	}
	return nil
}

// Finish does nothing: the rows are there.
func (o *outputSink) Finish() error { return nil }

// Close does nothing.
func (o *outputSink) Close() error { return nil }

// Save notes how many rows there are.
func (o *outputSink) Save(w *checkpoint.Writer) error {
	w.Uint(uint64(len(o.rows)))
	return nil
}

// Load forgets what was written since.
func (o *outputSink) Load(r *checkpoint.Reader) error {
	n := r.Uint()
	if err := r.Done(); err != nil {
		return err
	}
	if n > uint64(len(o.rows)) {
		return fmt.Errorf("the checkpoint knows of %d rows, the output of %d", n, len(o.rows))
	}
	o.rows = o.rows[:n]
	return nil
}

// nobody is an output that no test can speak of.
type nobody struct{}

// Write forgets the rows.
func (nobody) Write(*vec.Batch) error { return nil }

// Finish does nothing.
func (nobody) Finish() error { return nil }

// Close does nothing.
func (nobody) Close() error { return nil }

// files are those of the machine, which nothing changes, and a disk in memory for checkpoints.
type files struct {
	disk.FS
	memory *disk.Sim
}

func newFiles(real disk.FS, memory *disk.Sim) files { return files{disk.ReadOnly{FS: real}, memory} }

func (f files) of(name string) disk.FS {
	if clean := filepath.ToSlash(filepath.Clean(name)); clean == checkpointDir || strings.HasPrefix(clean, checkpointDir+"/") {
		return f.memory
	}
	return f.FS
}

func (f files) Open(name string) (disk.File, error)        { return f.of(name).Open(name) }
func (f files) Create(name string) (disk.File, error)      { return f.of(name).Create(name) }
func (f files) Append(name string) (disk.File, error)      { return f.of(name).Append(name) }
func (f files) Edit(name string) (disk.File, error)        { return f.of(name).Edit(name) }
func (f files) Rename(from, to string) error               { return f.of(from).Rename(from, to) }
func (f files) Remove(name string) error                   { return f.of(name).Remove(name) }
func (f files) Link(from, to string) error                 { return f.of(from).Link(from, to) }
func (f files) Stat(name string) (fs.FileInfo, error)      { return f.of(name).Stat(name) }
func (f files) MkdirAll(name string) error                 { return f.of(name).MkdirAll(name) }
func (f files) Glob(pattern string) ([]string, error)      { return f.of(pattern).Glob(pattern) }
func (f files) ReadDir(name string) ([]fs.DirEntry, error) { return f.of(name).ReadDir(name) }

// SyncDir makes the names in a folder durable; that of the checkpoints lies in the working directory.
func (f files) SyncDir(name string) error {
	if filepath.Clean(name) == filepath.Dir(checkpointDir) {
		return f.memory.SyncDir(filepath.Dir(checkpointDir))
	}
	return f.of(name).SyncDir(name)
}

// Lock makes a checkpoint folder that of one run.
func (f files) Lock(name string) (unlock func() error, err error) { return f.memory.Lock(name) }

// noInput is the standard input of a test.
func noInput() io.Reader { return strings.NewReader("") }

// batches makes the batches of rows that a test gives.
func batches(schema types.Schema, rows []map[string]any, changes []vec.Change) (out []*vec.Batch) {
	for from := 0; from < len(rows); from += vec.MaxRows {
		to := min(from+vec.MaxRows, len(rows))
		b := batch(schema, rows[from:to])
		if changes != nil {
			b.Change = changes[from:to]
		}
		out = append(out, b)
	}
	return out
}

// batch makes one batch of rows.
func batch(schema types.Schema, rows []map[string]any) *vec.Batch {
	b := &vec.Batch{N: len(rows)}
	for _, f := range schema.Fields {
		col := vec.NewBuilder(f.Type)
		for _, row := range rows {
			col.Append(stored(row[f.Name], f.Type))
		}
		b.Cols = append(b.Cols, col.Column())
	}
	return b
}

// stored is a value as columns hold it: one of any type is JSON.
func stored(v any, t types.Type) any {
	switch {
	case v == nil:
	case t.Kind == types.Any:
		text, _ := json.Marshal(v)
		return string(text)
	case t.Kind == types.List:
		list := v.([]any)
		out := make([]any, len(list))
		for i, x := range list {
			out[i] = stored(x, *t.Elem)
		}
		return out
	case t.Kind == types.Record:
		out := map[string]any{}
		for _, f := range t.Fields {
			out[f.Name] = stored(v.(map[string]any)[f.Name], f.Type)
		}
		return out
	}
	return v
}
