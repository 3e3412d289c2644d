package op

import (
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// ordered aggregates in windows that depend on the order of the rows of a key: windows of n rows, and sessions of
// limited length. Rows wait until event time has passed them, and are then taken in its order.
type ordered struct {
	spans
	passing
	late   lateness
	buffer state.Buffer
	timed  bool // rows have an event time; else the order of arrival counts
	size   int64
	gap    int64 // sessions: size is 0
	max    int64
	timers state.Timers
}

func newOrdered(c *spec.StageContext, in *inputs, cs *calls, out *outputs) *ordered {
	s := &ordered{spans: newSpans(c, in, cs, out), timed: c.In[0].Time, late: newLateness(c)}
	s.passing = newPassing(c, s)
	if w := c.Args.Window; w.Kind == types.CountWindow {
		s.size = w.Size
	} else {
		s.gap, s.max = w.Size, w.Max
	}
	return s
}

// end returns where a window ends: behind its last row, or where a session does, at most max after its first row.
func (s *ordered) end(w []uint64) int64 {
	if s.size > 0 {
		return satAdd(int64(w[spLast]), 1)
	}
	return min(satAdd(int64(w[spLast]), s.gap), satAdd(int64(w[spFirst]), s.max))
}

// due returns the time after which a session can take no more rows.
func (s *ordered) due(w []uint64) int64 {
	return min(satAdd(int64(w[spLast]), s.gap), satAdd(int64(w[spFirst]), s.max-1))
}

func (s *ordered) Process(_ int, b *vec.Batch, out *exec.Out) error {
	if err := s.finishOwed(out); err != nil {
		return err
	}
	r, err := s.in.take(b, out)
	if err != nil {
		return err
	}
	if !s.timed {
		s.step(r)
		return s.finishOwed(out)
	}
	kept := make([]uint32, 0, len(r.rows))
	for _, row := range r.rows {
		closed := s.w
		if r.mark != nil {
			closed = max(closed, r.mark[row])
		}
		if r.time[row] < closed {
			s.late.add(row)
		} else {
			kept = append(kept, row)
		}
	}
	s.late.send(r.b, out)
	cols := append(append([]*vec.Column(nil), r.keys...), r.args...)
	s.buffer.Add(&vec.Batch{N: r.n, Sel: kept, Cols: cols, Time: r.time, Pos: r.pos})
	return nil
}

// step takes rows in their order.
func (s *ordered) step(r *rowsIn) {
	if len(r.rows) == 0 {
		return
	}
	s.lookup(r)
	s.ids = room(s.ids, len(r.rows))
	for i, row := range r.rows {
		t := int64(0)
		if s.timed {
			t = r.time[row]
		}
		s.ids[i] = s.place(s.heads[i], t)
	}
	s.calls.apply(s.rows, s.off, s.ids, r, r.rows)
}

// place returns the window of the key that the next row belongs to.
func (s *ordered) place(key uint32, t int64) uint32 {
	id := state.None
	if h := *s.head(key); h != 0 {
		id = uint32(h) - 1
		s.rows.Touch(id)
		if w := s.rows.At(id); s.size == 0 && t > s.due(w) {
			s.finish(id)
			id = state.None
		} else {
			w[spLast] = uint64(t)
		}
	}
	if id == state.None {
		id = s.add(key, t)
		at := t
		if s.size == 0 {
			at = s.due(s.rows.At(id))
		}
		s.setTimer(id, at)
	}
	w := s.rows.At(id)
	if w[spCount]++; s.size > 0 && int64(w[spCount]) == s.size {
		s.finish(id)
	}
	return id
}

func (s *ordered) finish(id uint32) {
	s.close(id)
	s.ready = append(s.ready, id)
}

func (s *ordered) setTimer(id uint32, at int64) {
	if s.timed {
		s.rows.Touch(id)
		*s.rows.Word(id, spTimer) = uint64(at)
		s.timers.Set(at, id)
	}
}

// Drain takes a piece of the rows that event time has passed, or gives out a piece of the windows that are complete.
func (s *ordered) Drain(out *exec.Out) (bool, error) {
	if len(s.ready) > 0 {
		end := s.end
		if !s.timed {
			end = nil
		}
		return true, s.drain(end, out)
	}
	if b := s.buffer.Take(s.w); b != nil {
		s.step(s.in.kept(b))
		return true, nil
	}
	if s.w == types.MaxInstant {
		s.finishAll()
		return len(s.ready) > 0, nil
	}
	if s.size > 0 {
		return false, nil
	}
	for len(s.ready) < vec.MaxRows && s.timers.Len() > 0 && s.timers.First().At < s.w {
		t := s.timers.Pop()
		if !s.isOpen(t) {
			continue
		}
		if at := s.due(s.rows.At(t.ID)); at >= s.w {
			s.setTimer(t.ID, at)
		} else {
			s.finish(t.ID)
		}
	}
	return len(s.ready) > 0, nil
}

// Hold tells how far back an incomplete window of n rows may still come out: its event time is that of its last row.
func (s *ordered) Hold(w types.Instant) types.Instant {
	if s.size == 0 {
		return w
	}
	for s.timers.Len() > 0 {
		t := s.timers.First()
		if !s.isOpen(t) {
			s.timers.Pop()
			continue
		}
		last := int64(s.rows.At(t.ID)[spLast])
		if last == t.At {
			return min(w, last)
		}
		s.timers.Pop()
		s.setTimer(t.ID, last)
	}
	return w
}

// finishAll completes the windows that are short of rows: the input has ended.
func (s *ordered) finishAll() {
	for id := range s.rows.End() {
		if s.rows.Live(id) && s.rows.At(id)[spFlags]&spanOpen != 0 {
			s.finish(id)
		}
	}
}
