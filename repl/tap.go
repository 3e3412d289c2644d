package repl

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// tapName is the connector that reads from a running job. It is in no catalog that a script sees.
const tapName = "tapped"

// tap takes copies of rows of a running job, as many as whoever looks can take: the job never waits for it.
type tap struct {
	of     types.Stream
	rows   chan *vec.Batch
	have   []int           // for each column of it the one that the job carries, -1: none
	over   <-chan struct{} // closed: the job has ended
	missed atomic.Int64    // rows that came while others were looked at
	mu     sync.Mutex      // held while a batch is copied: two tasks do not race for room
}

// tapBatches is how many batches wait for whoever looks.
const tapBatches = 16

func newTap(of types.Stream) *tap {
	t := &tap{of: of, rows: make(chan *vec.Batch, tapBatches)}
	for i := range of.Schema.Fields {
		t.have = append(t.have, i)
	}
	return t
}

// fill makes the columns those of a schema of which the job carries only some: the others are null. It returns those.
func (t *tap) fill(whole types.Schema) (missing []string) {
	carried := t.of.Schema
	t.have, t.of.Schema = nil, types.Schema{}
	for _, f := range whole.Fields {
		k := carried.Index(f.Name)
		if k < 0 {
			f.Type = f.Type.Null()
			missing = append(missing, f.Name)
		}
		t.have = append(t.have, k)
		t.of.Schema.Fields = append(t.of.Schema.Fields, f)
	}
	return missing
}

// take is what a task of the job calls.
func (t *tap) take(b *vec.Batch) {
	if !t.mu.TryLock() {
		t.missed.Add(int64(b.Rows()))
		return
	}
	defer t.mu.Unlock()
	if len(t.rows) == cap(t.rows) {
		t.missed.Add(int64(b.Rows()))
		return
	}
	rows := make([]uint32, b.Rows())
	for i := range rows {
		rows[i] = uint32(b.Row(i))
	}
	c := b.Gather(rows)
	c.Free, c.Mark, c.Pos = nil, nil, nil
	for _, col := range c.Cols {
		own(col)
	}
	t.rows <- c
}

// own makes the texts of a column its own: those of a batch may lie in memory that is used again.
func own(c *vec.Column) {
	for i, s := range c.Strs {
		c.Strs[i] = strings.Clone(s)
	}
	for _, k := range c.Kids {
		own(k)
	}
}

// conn is the tap as a connector.
func (t *tap) conn() *spec.Conn {
	return &spec.Conn{
		Doc:     spec.Doc{Name: tapName},
		ConnSig: types.ConnSig{Name: tapName, Source: true},
		Info: func(*types.ConnArgs, *types.Schema, *exec.Env) (types.SourceInfo, error) {
			return types.SourceInfo{Schema: t.of.Schema, Updating: t.of.Updating}, nil
		},
		Open: func(s *spec.Scan) ([]exec.Source, error) { return []exec.Source{&tapSource{t, s}}, nil },
	}
}

// tapSource is the tap as a source.
type tapSource struct {
	*tap
	scan *spec.Scan
}

// Poll gives out what has come.
func (t *tapSource) Poll(out *exec.Out) (exec.Status, error) {
	select {
	case b := <-t.rows:
		t.emit(b, out)
		return exec.More, nil
	default:
	}
	select {
	case <-t.over:
		if len(t.rows) > 0 {
			return exec.More, nil
		}
		return exec.Done, nil
	default:
		return exec.Idle, nil
	}
}

func (t *tapSource) emit(b *vec.Batch, out *exec.Out) {
	cols := make([]*vec.Column, len(t.scan.Columns))
	for i, c := range t.scan.Columns {
		if k := t.have[c]; k >= 0 {
			cols[i] = b.Cols[k]
		} else {
			cols[i] = vec.NewNull(t.of.Schema.Fields[c].Type, b.N)
		}
	}
	t.scan.Env.Stats.RowsIn.Add(int64(b.N))
	out.Emit(&vec.Batch{N: b.N, Cols: cols, Change: b.Change})
}

// Close does nothing.
func (t *tapSource) Close() error { return nil }
