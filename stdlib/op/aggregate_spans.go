package op

import (
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// spans are windows whose ends follow from their rows: sessions, and windows of n rows. A key has a chain of open ones.
type spans struct {
	in    *inputs
	calls *calls
	out   *outputs
	keys  *state.Table // words: first open span of the key plus 1, and how many spans there are
	rows  *state.Rows
	off   int // of the calls' words
	ready []uint32
	ids   []uint32
	heads []uint32
}

// Words of a span.
const (
	spNext  = iota // the key's next span plus 1
	spKey          // row of the key
	spFirst        // smallest event time
	spLast         // largest event time
	spTimer        // due time that is set for it
	spFlags
	spSent  // what was given out for it
	spCount = spSent + 2
	spWords = spCount + 1
)

// Flags of a span.
const (
	spanFired = 1 << iota // it has come out, and stays open for late rows
	spanDirty             // it has changed since it came out
	spanOpen              // it is in its key's chain
	spanReady             // it is in ready
)

func newSpans(c *spec.StageContext, in *inputs, cs *calls, out *outputs) spans {
	return spans{in: in, calls: cs, out: out, keys: state.NewTable(keyTypes(c.Args), 2), rows: state.NewRows(spWords + cs.words), off: spWords}
}

// lookup finds the keys of the rows; their numbers are in heads.
func (s *spans) lookup(r *rowsIn) {
	s.heads = room(s.heads, len(r.rows))
	s.keys.Lookup(r.keys, r.rows, r.hashes, s.heads, true)
}

// head returns the key's first open span plus 1.
func (s *spans) head(key uint32) *uint64 { return s.keys.Rows().Word(key, s.keys.Off()) }

// held returns the key's number of spans.
func (s *spans) held(key uint32) *uint64 { return s.keys.Rows().Word(key, s.keys.Off()+1) }

// add begins a span of the key.
func (s *spans) add(key uint32, t int64) uint32 {
	id := s.rows.Add()
	w := s.rows.At(id)
	h := s.head(key)
	w[spNext], w[spKey], w[spFirst], w[spLast], w[spFlags] = *h, uint64(key), uint64(t), uint64(t), spanOpen
	*h = uint64(id) + 1
	*s.held(key)++
	return id
}

// close takes a span out of its key's chain: no row goes there any more.
func (s *spans) close(id uint32) {
	w := s.rows.At(id)
	h := s.head(uint32(w[spKey]))
	s.rows.Touch(id)
	s.keys.Rows().Touch(uint32(w[spKey]))
	for *h != uint64(id)+1 {
		before := uint32(*h) - 1
		s.rows.Touch(before)
		h = s.rows.Word(before, spNext)
	}
	*h = w[spNext]
	w[spFlags] &^= spanOpen
}

// isOpen reports whether the span is, and is the one for which a timer was set.
func (s *spans) isOpen(t state.Timer) bool {
	if !s.rows.Live(t.ID) {
		return false
	}
	w := s.rows.At(t.ID)
	return w[spFlags]&(spanOpen|spanReady) == spanOpen && int64(w[spTimer]) == t.At
}

// free forgets a span that was closed, and its key if it was the last.
func (s *spans) free(id uint32) {
	s.rows.Touch(id)
	s.calls.free(s.rows, s.off, []uint32{id})
	w := s.rows.At(id)
	state.FreeText(w[spSent:], &s.out.sent)
	key := uint32(w[spKey])
	s.rows.Delete(id)
	s.keys.Rows().Touch(key)
	n := s.held(key)
	if *n--; *n == 0 {
		s.keys.Delete(key)
	}
}

// results computes output rows; end gives the end of a span's window, nil stands for none.
func (s *spans) results(ids []uint32, end func(w []uint64) int64) *results {
	keys := make([]uint32, len(ids))
	r := &results{n: len(ids)}
	if end != nil {
		r.start, r.end = make([]int64, len(ids)), make([]int64, len(ids))
	}
	for i, id := range ids {
		w := s.rows.At(id)
		keys[i] = uint32(w[spKey])
		if end != nil {
			r.start[i], r.end[i] = int64(w[spFirst]), end(w)
		}
	}
	r.keys = s.keys.Keys(keys)
	r.calls = s.calls.results(s.rows, s.off, ids)
	return r
}

// drain gives out a piece of the closed spans that are ready, for the first and last time.
func (s *spans) drain(end func(w []uint64) int64, out *exec.Out) error {
	ids := s.ready[:min(len(s.ready), vec.MaxRows)]
	if len(ids) == 0 {
		return nil
	}
	if err := s.out.emit(s.results(ids, end), out); err != nil {
		return err
	}
	for _, id := range ids {
		s.free(id)
	}
	s.ready = append(s.ready[:0], s.ready[len(ids):]...)
	return nil
}
