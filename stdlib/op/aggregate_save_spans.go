package op

import (
	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/lang/types"
)

func (s *spans) save(w *checkpoint.Writer) {
	s.keys.Freeze(w)
	s.rows.Freeze(w)
	s.calls.save(w)
	s.out.sent.Freeze(w)
	saveIDs(w, s.ready)
}

func (s *spans) load(r *checkpoint.Reader) {
	s.keys.Load(r)
	s.rows.Load(r)
	s.calls.load(r)
	s.out.sent.Load(r)
	s.ready = loadIDs(r, s.rows)
	if r.Err() == nil && !s.sound() {
		r.Fail("the windows of keys make no sense")
	}
}

// sound checks that keys and windows lead to each other.
func (s *spans) sound() bool {
	held := make([]uint64, s.keys.Rows().End())
	open := 0
	for id := range s.rows.End() {
		if !s.rows.Live(id) {
			continue
		}
		w := s.rows.At(id)
		if w[spKey] >= uint64(len(held)) || !s.keys.Rows().Live(uint32(w[spKey])) {
			return false
		}
		held[w[spKey]]++
		if w[spFlags]&spanOpen != 0 {
			open++
		}
	}
	for key := range uint32(len(held)) {
		if !s.keys.Rows().Live(key) {
			continue
		}
		if *s.held(key) != held[key] {
			return false
		}
		for at := *s.head(key); at != 0; open-- {
			if at > uint64(s.rows.End()) || !s.rows.Live(uint32(at)-1) || open == 0 {
				return false
			}
			w := s.rows.At(uint32(at) - 1)
			if w[spKey] != uint64(key) || w[spFlags]&spanOpen == 0 {
				return false
			}
			at = w[spNext]
		}
	}
	return open == 0
}

// merge takes over the owned keys and their windows. It returns the number here of each window there; state.None for
// those that are not taken.
func (s *spans) merge(o *spans, owns func(hash uint64) bool) []uint32 {
	none := func(n uint32) []uint32 {
		out := make([]uint32, n)
		for i := range out {
			out[i] = state.None
		}
		return out
	}
	keys, ids := none(o.keys.Rows().End()), none(o.rows.End())
	owned := o.keys.Owned(owns)
	for i, key := range takeRows(s.keys, o.keys, owned) {
		keys[owned[i]] = key
	}
	var taken []uint32
	for id := range o.rows.End() {
		if !o.rows.Live(id) {
			continue
		}
		from := o.rows.At(id)
		if key := keys[from[spKey]]; key != state.None {
			ids[id] = s.rows.Add()
			w := s.rows.At(ids[id])
			copy(w, from)
			w[spKey] = uint64(key)
			state.AdoptText(w[spSent:], &s.out.sent, &o.out.sent)
			taken = append(taken, ids[id])
		}
	}
	moved := func(next *uint64) {
		if *next != 0 {
			*next = uint64(ids[*next-1]) + 1
		}
	}
	for _, id := range taken {
		if w := s.rows.At(id); w[spFlags]&spanOpen != 0 {
			moved(&w[spNext])
		}
	}
	for _, key := range owned {
		moved(s.head(keys[key]))
	}
	s.calls.adopt(s.rows, s.off, taken, o.calls)
	s.ready = append(s.ready, renumbered(o.ready, ids)...)
	return ids
}

// renumbered returns the numbers here of those of ids that were taken.
func renumbered(ids, here []uint32) []uint32 {
	var out []uint32
	for _, id := range ids {
		if here[id] != state.None {
			out = append(out, here[id])
		}
	}
	return out
}

// mergeTimers takes over the timers of windows that were taken.
func mergeTimers(to, from *state.Timers, here []uint32) {
	from.Each(func(t state.Timer) {
		if id := here[t.ID]; id != state.None {
			to.Set(t.At, id)
		}
	})
}

// Save writes the sessions.
func (s *session) Save(w *checkpoint.Writer) error {
	s.passing.save(w)
	s.spans.save(w)
	s.timers.Save(w)
	saveIDs(w, s.dirty)
	saveIDs(w, s.gone)
	if s.retain {
		w.Int(types.MinInstant) // no event time: earlier versions held no rows
		s.held.Save(w)
	}
	w.Int(s.since)
	return nil
}

// Load reads what Save wrote.
func (s *session) Load(r *checkpoint.Reader) error {
	s.passing.load(r)
	s.spans.load(r)
	s.timers.Load(r, s.rows.End())
	s.dirty = loadIDs(r, s.rows)
	s.gone = loadIDs(r, s.rows)
	if s.since = r.Int(); s.since == types.MinInstant && s.retain {
		if err := s.held.Load(r, s.heldTypes()); err != nil {
			return err
		}
		s.since = r.Int()
	}
	return r.Err()
}

// Merge takes over sessions of another task.
func (s *session) Merge(from exec.Operator, owns func(hash uint64) bool) error {
	o, ok := from.(*session)
	if !ok {
		return mergeError(from)
	}
	here := s.spans.merge(&o.spans, owns)
	mergeTimers(&s.timers, &o.timers, here)
	s.dirty = append(s.dirty, renumbered(o.dirty, here)...)
	s.gone = append(s.gone, renumbered(o.gone, here)...)
	s.since = min(s.since, o.since)
	mergeBuffer(&s.held, &o.held, s.in.keys, owns)
	s.passing.merge(&o.passing)
	return nil
}

// Save writes the windows, and the rows that wait for event time to pass them.
func (s *ordered) Save(w *checkpoint.Writer) error {
	s.passing.save(w)
	s.spans.save(w)
	s.timers.Save(w)
	s.buffer.Save(w)
	return nil
}

// Load reads what Save wrote.
func (s *ordered) Load(r *checkpoint.Reader) error {
	s.passing.load(r)
	s.spans.load(r)
	s.timers.Load(r, s.rows.End())
	return s.buffer.Load(r, s.in.types)
}

// Merge takes over windows and waiting rows of another task.
func (s *ordered) Merge(from exec.Operator, owns func(hash uint64) bool) error {
	o, ok := from.(*ordered)
	if !ok {
		return mergeError(from)
	}
	here := s.spans.merge(&o.spans, owns)
	mergeTimers(&s.timers, &o.timers, here)
	mergeBuffer(&s.buffer, &o.buffer, s.in.keys, owns)
	s.passing.merge(&o.passing)
	return nil
}
