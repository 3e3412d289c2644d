package conn

import (
	"fmt"
	"slices"
	"sync"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// Given is the rows that a test gives to a source, batch by batch, while the run goes on. Like a file that grows it can be
// read again from where a checkpoint stood, so it outlives the runs that read it. The zero Given is empty and ready.
type Given struct {
	mu    sync.Mutex
	list  []givenRows
	ended bool
	wake  func()
}

// givenRows are rows, and those before them that could not be read.
type givenRows struct {
	batch  *vec.Batch // of all columns of the source, with what its rows do
	failed []*exec.RowError
}

// Add gives a batch of all columns of the source, and the rows before it that could not be read: the source deals with those
// as with any that fail. They are not changed any more.
func (g *Given) Add(b *vec.Batch, failed []*exec.RowError) {
	g.change(func() { g.list = append(g.list, givenRows{b, failed}) })
}

// End tells that no more rows come.
func (g *Given) End() { g.change(func() { g.ended = true }) }

func (g *Given) change(f func()) {
	g.mu.Lock()
	f()
	wake := g.wake
	g.mu.Unlock()
	if wake != nil {
		wake()
	}
}

// at returns the k-th batch, nil if it is not there yet.
func (g *Given) at(k int64) (rows givenRows, ended bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if k < int64(len(g.list)) {
		return g.list[k], false
	}
	return givenRows{}, g.ended
}

// Open opens the source for a run. One task reads it: the rows are few.
func (g *Given) Open(s *spec.Scan) ([]exec.Source, error) {
	t := &givenTask{given: g, scan: s, failures: s.Failures(), high: types.MinInstant, marked: types.MinInstant}
	s.Env.Splits.Name(s.Ordinal, 0, s.Name)
	if s.Restore != nil {
		if err := t.load(s.Restore); err != nil {
			return nil, err
		}
		t.again = true
	}
	g.mu.Lock()
	g.wake = s.Hosts[0].Wake
	g.mu.Unlock()
	return []exec.Source{t}, nil
}

// savedGiven is the kind of what the task saves.
const savedGiven = 4

type givenTask struct {
	given    *Given
	scan     *spec.Scan
	failures *exec.Failures
	next     int64 // the batch to come
	rows     int64 // before it
	high     types.Instant
	marked   types.Instant // last watermark
	spoke    int64         // when rows came last, or the run began; 0: it did not yet
	idle     bool
	again    bool // after a restart
}

// Poll emits the next batch.
func (t *givenTask) Poll(out *exec.Out) (exec.Status, error) {
	if t.spoke == 0 {
		t.spoke = t.scan.Env.Clock()
	}
	rows, ended := t.given.at(t.next)
	if t.again { // what was in flight of the batches before need not wait for the next one
		t.again = false
		out.Chunk(t.next)
		retell(t.marked, t.idle, out)
	}
	switch {
	case ended:
		return exec.Done, nil
	case rows.batch == nil:
		if at := t.Until(); at > 0 && t.scan.Env.Clock() >= at {
			t.idle = true
			out.Idle(true)
		}
		return exec.Idle, nil
	}
	return exec.More, t.emit(rows, out)
}

// Until returns when the source becomes idle.
func (t *givenTask) Until() types.Instant {
	if t.scan.Idle == 0 || t.idle {
		return 0
	}
	return t.spoke + t.scan.Idle
}

func (t *givenTask) emit(rows givenRows, out *exec.Out) error {
	s, whole := t.scan, rows.batch
	out.Chunk(t.next)
	if t.spoke = s.Env.Clock(); t.idle {
		t.idle = false
		out.Idle(false)
	}
	if err := t.failures.Add(out, rows.failed); err != nil {
		return err
	}
	t.rows += int64(len(rows.failed))
	b := &vec.Batch{N: whole.N, Change: whole.Change, Pos: make([]uint64, whole.N)}
	fields := make([]types.Field, len(s.Columns))
	for i, c := range s.Columns {
		b.Cols = append(b.Cols, whole.Cols[c])
		fields[i] = s.Schema.Fields[c]
	}
	for i := range b.Pos {
		b.Pos[i] = vec.Position(s.Ordinal, 0, t.rows+int64(i))
	}
	s.Env.Stats.RowsIn.Add(int64(b.N))
	if s.Time != nil && b.N > 0 {
		var failed []*exec.RowError
		var bad []uint32
		s.Time(b, func(row int, err error) {
			bad = append(bad, uint32(row))
			failed = append(failed, &exec.RowError{Stage: s.Name, Row: t.rows + int64(row) + 1, Err: err,
				Raw: string(vec.AppendRowJSON(nil, fields, b.Cols, row))})
		})
		if len(failed) > 0 {
			if err := t.failures.Add(out, failed); err != nil {
				return err
			}
			var sel []uint32
			for i := range uint32(b.N) {
				if !slices.Contains(bad, i) {
					sel = append(sel, i)
				}
			}
			if b = b.Select(sel); sel == nil {
				b = &vec.Batch{Cols: b.Gather(nil).Cols}
			}
		}
		b.Mark = marks(b, t.high, s.Lag)
		for i := range b.Rows() {
			t.high = max(t.high, b.Time[b.Row(i)])
		}
	}
	if b.Rows() > 0 {
		out.Emit(b)
	}
	if w := behind(t.high, s.Lag); s.Time != nil && w > t.marked {
		t.marked = w
		out.Watermark(w)
	}
	out.ChunkEnd(t.next)
	t.rows += int64(whole.N)
	t.next++
	return nil
}

// Close does nothing: there is nothing to release.
func (t *givenTask) Close() error { return nil }

// Save writes what the task needs to go on.
func (t *givenTask) Save(w *checkpoint.Writer) error {
	w.Uint(savedGiven)
	w.Int(t.next)
	w.Int(t.rows)
	w.Int(t.high)
	w.Int(t.marked)
	w.Int(t.spoke)
	w.Bool(t.idle)
	return nil
}

func (t *givenTask) load(saved []*checkpoint.Reader) error {
	if len(saved) == 0 || saved[0] == nil {
		return fmt.Errorf("source %s: the checkpoint has nothing of it", t.scan.Name)
	}
	r := saved[0]
	if kind := r.Uint(); kind != savedGiven {
		r.Fail("it is not of rows that a test gave, but of kind %d", kind)
	}
	t.next, t.rows, t.high, t.marked, t.spoke, t.idle = r.Int(), r.Int(), r.Int(), r.Int(), r.Int(), r.Bool()
	if t.next < 0 || t.rows < 0 {
		r.Fail("batch %d, row %d", t.next, t.rows)
	}
	if err := r.Done(); err != nil {
		return damaged(t.scan.Name, err)
	}
	return nil
}
