package conn

import (
	"math"
	"sync/atomic"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// Sources that make their rows instead of reading them. What they make is a function of a number, the tick (an event of
// Nexmark, a row of generate), so the tasks of a source deal the ticks among them in chunks, chunk k to task k mod N,
// and each makes its chunks without asking the others. Only two things pass from chunk to chunk: the highest event
// time so far, from which lateness follows, and the number of rows so far, from which positions do.

// made describes such a source.
type made struct {
	ticks int64   // how many there are; < 0: endless
	chunk int64   // ticks a chunk, such that their rows fit in one batch
	rate  float64 // ticks per second of wall time; 0: as fast as they are taken
	// maker returns what makes rows for one task.
	maker func() maker
}

// maker makes the n rows of the ticks from..to: a column for each of Scan.Columns. It keeps nothing of them.
type maker interface {
	make(from, to int64) (cols []*vec.Column, n int)
}

// chunksPerSecond bounds how long the ticks of a chunk wait for the last of them.
const chunksPerSecond = 200

// open returns the tasks of the source.
func (m made) open(s *spec.Scan) ([]exec.Source, error) {
	var saved *savedMaking
	if s.Restore != nil {
		var err error
		if saved, err = loadMaking(s); err != nil {
			return nil, err
		}
		m.chunk = saved.chunk
	} else if m.rate > 0 {
		m.chunk = min(m.chunk, max(1, int64(m.rate/chunksPerSecond)))
	}
	width := max(1, s.Width)
	if s.OneSplit {
		width = 1
	}
	if m.ticks >= 0 {
		width = min(width, int(max(1, (m.ticks+m.chunk-1)/m.chunk)))
	}
	s.Env.Splits.Name(s.Ordinal, 0, s.Name)
	shared := &madeSplit{made: m, scan: s, width: width, relay: newRelay(width)}
	shared.relay.pass(0, start())
	if saved != nil {
		if err := shared.resume(saved); err != nil {
			return nil, err
		}
	}
	sources := make([]exec.Source, width)
	for i := range sources {
		t := &madeTask{split: shared, chunk: int64(i), maker: m.maker(), failures: s.Failures(), marked: types.MinInstant}
		if saved != nil {
			t.resume(saved)
		}
		sources[i] = t
	}
	return sources, nil
}

// madeSplit is what the tasks of a source share.
type madeSplit struct {
	made
	scan  *spec.Scan
	width int

	started atomic.Int64 // wall time of the first poll, 0 before
	emitted atomic.Int64 // wall time of the last rows

	relay *relay
	done  progress // chunks that were finished before a restart
}

// due reports whether the ticks before to have come, by the wall clock.
func (s *madeSplit) due(to, now int64) bool {
	s.started.CompareAndSwap(0, now)
	s.emitted.CompareAndSwap(0, now)
	return float64(now-s.started.Load()) >= float64(to)/s.rate*1e9
}

// pass tells what came before a chunk and passes on what comes before the next one; ok is false if that is not known yet.
func (s *madeSplit) pass(chunk int64, b *vec.Batch, high types.Instant) (at place, ok bool) {
	at, ok, _ = s.relay.take(chunk)
	if !ok {
		return at, false
	}
	next := place{rows: at.rows + int64(b.N), good: at.good + int64(b.Rows()), high: max(at.high, high)}
	if !s.done.finished(chunk + 1) {
		s.relay.pass(chunk+1, next)
	}
	if s.width > 1 {
		s.scan.Hosts[(chunk+1)%int64(s.width)].Wake()
	}
	return at, true
}

// madeTask is one task of a source.
type madeTask struct {
	split    *madeSplit
	maker    maker
	failures *exec.Failures
	chunk    int64 // the next one
	idle     bool
	marked   types.Instant // last watermark
	again    bool          // after a restart: tell both once more
	rows     int64         // sent, also those of earlier runs

	// The rows of the chunk that wait for their turn.
	batch  *vec.Batch
	high   types.Instant
	failed []*exec.RowError // Row counts within the batch until the turn comes
}

func (t *madeTask) Poll(out *exec.Out) (exec.Status, error) {
	s := t.split
	if t.again {
		t.again = false
		out.Chunk(t.chunk)
		retell(t.marked, t.idle, out)
	}
	if t.batch == nil {
		from := t.chunk * s.made.chunk
		if s.ticks >= 0 && from >= s.ticks {
			return exec.Done, nil
		}
		to := from + s.made.chunk
		if s.ticks >= 0 {
			to = min(to, s.ticks)
		}
		if s.rate > 0 {
			if now := s.scan.Env.Clock(); !s.due(to, now) {
				t.rest(now, out)
				return exec.Idle, nil
			}
		}
		t.prepare(from, to)
	}
	at, ok := s.pass(t.chunk, t.batch, t.high)
	if !ok {
		return exec.Idle, nil
	}
	var err error
	status := exec.More
	if s.scan.Limit > 0 && at.good >= s.scan.Limit {
		status = exec.Done
	} else {
		err = t.emit(at.rows, at.high, out)
	}
	t.batch = nil
	t.chunk = s.done.next(t.chunk+int64(s.width), int64(s.width))
	return status, err
}

// Close does nothing: there is nothing to release.
func (t *madeTask) Close() error { return nil }

// rest tells how far the chunks of the other tasks have brought the split: what comes of this one is no older, and event time
// waits for it, idle or not. Once the split has been silent for long enough it tells that it has nothing to say.
func (t *madeTask) rest(now int64, out *exec.Out) {
	out.Chunk(t.chunk)
	t.advance(t.split.relay.reached(t.chunk), out)
	if d := t.split.scan.Idle; d > 0 && !t.idle && now-t.split.emitted.Load() >= d {
		t.idle = true
		t.report(types.MinInstant)
		out.Idle(true)
	}
}

// report tells people how the split stands.
func (t *madeTask) report(high types.Instant) {
	if s := t.split.scan; s.Time != nil {
		s.Env.Splits.Report(s.Env.Now(), exec.SplitState{Source: s.Name, High: high, Lag: s.Lag, IdleAfter: s.Idle, Idle: t.idle})
	}
}

// prepare makes the rows of a chunk, as far as they do not depend on the chunks before.
func (t *madeTask) prepare(from, to int64) {
	s := t.split.scan
	cols, n := t.maker.make(from, to)
	t.batch = &vec.Batch{N: n, Cols: cols}
	t.high = types.MinInstant
	t.failed = t.failed[:0]
	if s.Time == nil || n == 0 {
		return
	}
	s.Time(t.batch, func(row int, err error) {
		t.failed = append(t.failed, &exec.RowError{Stage: s.Name, Row: int64(row), Err: err})
	})
	if len(t.failed) > 0 {
		t.dropFailed()
	}
	for i := range t.batch.Rows() {
		t.high = max(t.high, t.batch.Time[t.batch.Row(i)])
	}
}

// dropFailed takes the failed rows out of the selection.
func (t *madeTask) dropFailed() {
	bad := vec.NewBitmap(t.batch.N)
	var fields []types.Field
	for _, c := range t.split.scan.Columns {
		fields = append(fields, t.split.scan.Schema.Fields[c])
	}
	for _, f := range t.failed {
		row := int(f.Row)
		bad.Set(row)
		f.Raw = string(vec.AppendRowJSON(nil, fields, t.batch.Cols, row))
	}
	sel := make([]uint32, 0, t.batch.N)
	for i := range t.batch.N {
		if !bad.Get(i) {
			sel = append(sel, uint32(i))
		}
	}
	t.batch = t.batch.Select(sel)
}

// emit sends the rows of the chunk, before which there were so many rows up to so high an event time.
func (t *madeTask) emit(rows int64, high types.Instant, out *exec.Out) error {
	s, b := t.split.scan, t.batch
	out.Chunk(t.chunk)
	if t.idle {
		t.idle = false
		out.Idle(false)
	}
	s.Env.Stats.RowsIn.Add(int64(b.N))
	t.rows += int64(b.N)
	b.Pos = make([]uint64, b.N)
	for i := range b.Pos {
		b.Pos[i] = vec.Position(s.Ordinal, 0, rows+int64(i))
	}
	if s.Time != nil && b.N > 0 {
		b.Mark = marks(b, high, s.Lag)
		high = max(high, t.high)
	}
	if t.split.rate > 0 && b.N > 0 {
		t.split.emitted.Store(s.Env.Clock())
	}
	if len(t.failed) > 0 {
		for _, f := range t.failed {
			f.Row += rows + 1
		}
		if err := t.failures.Add(out, t.failed); err != nil {
			return err
		}
	}
	out.Emit(b)
	t.report(high)
	t.advance(high, out)
	out.ChunkEnd(t.chunk)
	return nil
}

// advance sends the watermark, if it has moved.
func (t *madeTask) advance(high types.Instant, out *exec.Out) {
	s := t.split.scan
	if w := behind(high, s.Lag); s.Time != nil && w > t.marked {
		t.marked = w
		out.Watermark(w)
	}
}

// marks returns the watermark before each row, given the highest event time before the batch; nil if no row is behind it.
func marks(b *vec.Batch, high types.Instant, lag int64) []int64 {
	before, late := high, false
	for i := range b.Rows() {
		at := b.Time[b.Row(i)]
		late = late || at < behind(high, lag)
		high = max(high, at)
	}
	if !late {
		return nil
	}
	out := make([]int64, b.N)
	for i := range b.Rows() {
		row := b.Row(i)
		out[row] = behind(before, lag)
		before = max(before, b.Time[row])
	}
	return out
}

// behind is t less lag, no lower than the first instant.
func behind(t types.Instant, lag int64) types.Instant {
	if t < math.MinInt64+lag {
		return types.MinInstant
	}
	return t - lag
}

// misuse says that an error is the script's and not the input's: a source that makes its rows has no input to be wrong.
func misuse(err error) error { return &types.StageError{Message: err.Error()} }
