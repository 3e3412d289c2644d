package op

import (
	"slices"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// session aggregates in sessions: rows of a key that are at most gap apart. Without a window column it is also what
// `retain` makes of a plain aggregate: a key lives as long as its rows are not further apart, and until event time is that far
// ahead of the last one.
type session struct {
	spans
	passing
	late   lateness
	held   state.Buffer // of `retain`: rows behind their mark, in the order of that
	env    *exec.Env
	gap    int64
	retain bool
	allow  int64
	timers state.Timers

	updating bool
	early    bool
	every    int64
	dirty    []uint32
	gone     []uint32 // merged into others, to be taken back
	since    int64    // smallest event time of the rows that came since changes were given out
}

func newSession(c *spec.StageContext, in *inputs, cs *calls, out *outputs) *session {
	s := &session{spans: newSpans(c, in, cs, out), env: c.Env, since: types.MaxInstant, late: newLateness(c),
		updating: c.Out.Updating, allow: c.Args.Late.Allow, every: c.Args.Emit.Every}
	s.passing = newPassing(c, s)
	s.early = s.updating && s.allow == 0 || c.Args.Emit.Changes
	if w := c.Args.Window; w != nil {
		s.gap = w.Size
	} else {
		s.gap, s.retain = c.Args.Retain.For, true
	}
	return s
}

// end returns where a session ends: the first moment that cannot belong to it any more, less one.
func (s *session) end(w []uint64) int64 { return satAdd(int64(w[spLast]), s.gap) }

func (s *session) Process(_ int, b *vec.Batch, out *exec.Out) error {
	if err := s.finishOwed(out); err != nil {
		return err
	}
	r, err := s.in.take(b, out)
	if err != nil {
		return err
	}
	if s.clock != nil {
		s.clock.stamp(r)
	}
	if s.retain {
		s.hold(r)
	} else {
		s.onTime(r)
		s.late.send(r.b, out)
	}
	return s.step(r, nil, out)
}

// step puts rows into their sessions. over, if not nil, is the time of each row before which a session was over for it.
func (s *session) step(r *rowsIn, over []int64, out *exec.Out) error {
	rows := r.rows
	if len(rows) == 0 {
		return nil
	}
	s.lookup(r)
	s.ids = s.ids[:0]
	done := 0 // rows before it have been added to their sessions
	flush := func() {
		s.calls.apply(s.rows, s.off, s.ids, r, rows[done:done+len(s.ids)])
		done += len(s.ids)
		s.ids = s.ids[:0]
	}
	for i, row := range rows {
		horizon := int64(types.MinInstant)
		if over != nil {
			horizon = over[row]
		}
		s.ids = append(s.ids, s.place(s.heads[i], r.time[row], horizon, flush))
		s.since = min(s.since, r.time[row])
	}
	flush()
	if s.updating && s.every == 0 {
		return s.revise(out)
	}
	return nil
}

// hold takes rows that are behind their mark aside. Whether the life of their key was over when they were read depends on all
// rows that were read before them, and those may still come: they are taken in the order of their marks, once event time has
// passed these. Rows that are not behind cannot find a life over that they reach, whatever comes before them.
func (s *session) hold(r *rowsIn) {
	if r.mark == nil {
		return
	}
	var late []uint32
	s.keep(r, func(row uint32) bool {
		if r.time[row] >= r.mark[row] {
			return true
		}
		late = append(late, row)
		return false
	})
	if len(late) > 0 {
		cols := append(append(slices.Clone(r.keys), r.args...), &vec.Column{Type: types.T(types.Time), Ints: r.time})
		s.held.Add(&vec.Batch{N: r.n, Sel: late, Cols: cols, Time: r.mark, Pos: r.pos})
	}
}

// heldTypes returns the types of the columns of rows that are held.
func (s *session) heldTypes() []types.Type {
	return append(slices.Clone(s.in.types), types.T(types.Time))
}

// release takes a piece of the rows whose marks event time has passed, and reports whether there were some.
func (s *session) release(out *exec.Out) (bool, error) {
	b := s.held.Take(s.w)
	if b == nil {
		return false, nil
	}
	r := s.in.kept(b)
	last := len(r.args) - 1
	r.args, r.time = r.args[:last], r.args[last].Ints
	return true, s.step(r, b.Time, out)
}

// keep leaves only some of the rows.
func (s *session) keep(r *rowsIn, wanted func(row uint32) bool) {
	kept, hashes := make([]uint32, 0, len(r.rows)), r.hashes[:0]
	for i, row := range r.rows {
		if wanted(row) {
			kept, hashes = append(kept, row), append(hashes, r.hashes[i])
		}
	}
	r.rows, r.hashes = kept, hashes
}

// onTime takes late rows aside.
func (s *session) onTime(r *rowsIn) {
	if r.mark == nil && s.w == types.MinInstant {
		return
	}
	s.keep(r, func(row uint32) bool {
		closed := s.w
		if r.mark != nil {
			closed = max(closed, r.mark[row])
		}
		if r.time[row] >= satSub(closed, s.allow) {
			return true
		}
		s.late.add(row)
		return false
	})
}

// place returns the session of the key that a row at t belongs to: one that it reaches, all that it reaches made one,
// or a new one.
func (s *session) place(key uint32, t, horizon int64, flush func()) uint32 {
	chosen := state.None
	lo, hi := satSub(t, s.gap), satAdd(t, s.gap)
	for at := *s.head(key); at != 0; {
		id := uint32(at) - 1
		w := s.rows.At(id)
		at = w[spNext]
		first, last := int64(w[spFirst]), int64(w[spLast])
		if last < lo || first > hi || satAdd(last, s.gap) < horizon {
			continue
		}
		if chosen == state.None {
			chosen = id
			s.rows.Touch(id)
			w[spFirst], w[spLast] = uint64(min(first, t)), uint64(max(last, t))
			continue
		}
		flush() // the rows before this one are in their sessions now
		s.absorb(chosen, id)
	}
	if chosen == state.None {
		chosen = s.add(key, t)
		s.setTimer(chosen, satAdd(t, s.gap))
	}
	s.touch(chosen)
	return chosen
}

// absorb makes two sessions one.
func (s *session) absorb(id, other uint32) {
	s.rows.Touch(id)
	w, o := s.rows.At(id), s.rows.At(other)
	w[spFirst] = uint64(min(int64(w[spFirst]), int64(o[spFirst])))
	w[spLast] = uint64(max(int64(w[spLast]), int64(o[spLast])))
	s.calls.merge(s.rows, s.off, []uint32{id}, s.rows, s.off, []uint32{other})
	if o[spFlags]&spanFired != 0 {
		w[spFlags] |= spanFired
	}
	s.close(other)
	if o[spSent] != 0 {
		s.gone = append(s.gone, other)
		return
	}
	if o[spFlags]&spanDirty == 0 {
		s.free(other)
	} // else it goes when it comes up among the dirty ones
}

func (s *session) touch(id uint32) {
	if !s.updating {
		return
	}
	s.rows.Touch(id)
	w := s.rows.At(id)
	if w[spFlags]&spanDirty == 0 && (s.early || w[spFlags]&spanFired != 0) {
		w[spFlags] |= spanDirty
		s.dirty = append(s.dirty, id)
	}
}

func (s *session) setTimer(id uint32, at int64) {
	s.rows.Touch(id)
	*s.rows.Word(id, spTimer) = uint64(at)
	s.timers.Set(at, id)
}

// due looks at the next timer that is due and reports whether there was one.
func (s *session) due() bool {
	if s.timers.Len() == 0 || s.timers.First().At >= s.w && s.w != types.MaxInstant {
		return false
	}
	t := s.timers.Pop()
	if !s.isOpen(t) {
		return true // of a session that is no more, or went on
	}
	s.rows.Touch(t.ID)
	w := s.rows.At(t.ID)
	end := s.end(w)
	switch over := s.w == types.MaxInstant; {
	case end >= s.w && !over:
		s.setTimer(t.ID, end)
	case !s.updating:
		s.close(t.ID)
		s.ready = append(s.ready, t.ID)
	case satAdd(end, s.allow) < s.w || over:
		w[spFlags] |= spanReady
		s.ready = append(s.ready, t.ID) // to be forgotten
		fallthrough
	default:
		if w[spFlags] |= spanFired; !s.early || w[spFlags]&spanDirty != 0 || w[spSent] == 0 {
			s.touch(t.ID)
		}
		if at := satAdd(end, s.allow); at >= s.w && !over {
			s.setTimer(t.ID, at)
		}
	}
	return true
}

// Drain gives out a piece of what has ended.
func (s *session) Drain(out *exec.Out) (bool, error) {
	if some, err := s.release(out); some || err != nil {
		return some, err
	}
	for len(s.ready) < vec.MaxRows && s.due() {
	}
	if !s.updating {
		if err := s.drain(s.end, out); err != nil {
			return false, err
		}
	} else if len(s.ready)+len(s.dirty)+len(s.gone) > 0 && (s.every == 0 || len(s.ready) > 0) {
		if err := s.revise(out); err != nil {
			return false, err
		}
		for _, id := range s.ready {
			s.close(id)
			s.free(id)
		}
		s.ready = s.ready[:0]
	}
	return s.timers.Len() > 0 && (s.timers.First().At < s.w || s.w == types.MaxInstant), nil
}

// revise gives out the changes of all sessions that have changed.
func (s *session) revise(out *exec.Out) error {
	s.rows.TouchAll(s.gone)
	s.rows.TouchAll(s.dirty)
	if len(s.gone) > 0 {
		keys := make([]uint32, len(s.gone))
		for i, id := range s.gone {
			keys[i] = uint32(s.rows.At(id)[spKey])
		}
		s.out.retract(s.keys.Keys(keys), len(keys), func(i int) []uint64 { return s.rows.At(s.gone[i])[spSent:] }, out)
	}
	live := s.dirty[:0]
	for _, id := range s.dirty {
		w := s.rows.At(id)
		if w[spFlags] &^= spanDirty; w[spFlags]&spanOpen != 0 {
			live = append(live, id)
		} else if w[spSent] == 0 && !slices.Contains(s.gone, id) {
			s.free(id)
		}
	}
	for _, id := range s.gone {
		s.free(id)
	}
	s.gone, s.dirty = s.gone[:0], live
	for from := 0; from < len(live); from += vec.MaxRows {
		ids := live[from:min(from+vec.MaxRows, len(live))]
		err := s.out.revise(s.results(ids, s.end), func(i int) []uint64 { return s.rows.At(ids[i])[spSent:] }, func(int) bool { return true }, out)
		if err != nil {
			return err
		}
	}
	s.dirty = s.dirty[:0]
	s.since = types.MaxInstant
	return nil
}

// Tick tells the time to sessions by the clock, and gives out changes every so often.
func (s *session) Tick(now types.Instant, out *exec.Out) (types.Instant, error) {
	next := types.Instant(0)
	if s.updating && s.every > 0 {
		if err := s.revise(out); err != nil {
			return 0, err
		}
		next = now + s.every
	}
	if s.clock != nil {
		if err := s.advance(now, out); err != nil {
			return 0, err
		}
		if end := now + s.gap/4 + 1; next == 0 || end < next {
			next = end
		}
	}
	return next, nil
}

// Hold tells how far back sessions may still come out that are kept open for late rows, or be taken back by a changelog
// that comes every so often: a session that a row reaches ends after it.
func (s *session) Hold(w types.Instant) types.Instant {
	w = satSub(w, s.allow)
	if s.updating {
		w = min(w, s.since)
	}
	return w
}
