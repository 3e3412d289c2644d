package op

import (
	"slices"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// sliced aggregates in tumbling, hopping or cumulating windows: groups are kept a slice of time and merged when a window
// fires, so a row is added once, however many windows it lies in.
type sliced struct {
	in    *inputs
	calls *calls
	out   *outputs
	deal

	firing *firing
	taken  []*firing    // of other tasks, to come out before anything else
	sum    *state.Table // for a window whose slices all live on
	found  []uint32
	from   []uint32

	rev *revisions // nil: each window comes out once
}

// firing is a window that is coming out.
type firing struct {
	start, end int64
	into       *state.Table // holds the window when all of merge is in it
	merge      []*pane
	next       uint32 // row of merge[0] or, when all is merged, of into
	dying      []*pane
	goOn       []*pane
	scratch    bool // into is no pane's
}

func newSliced(c *spec.StageContext, in *inputs, cs *calls, out *outputs) *sliced {
	s := &sliced{in: in, calls: cs, out: out}
	s.deal = newDeal(c, cs, s)
	cs.one = len(c.Args.By) == 0
	if c.Out.Updating {
		s.rev = newRevisions(c)
		s.allow = s.rev.allow
		s.panes.ordered = true
	}
	return s
}

func (s *sliced) Process(_ int, b *vec.Batch, out *exec.Out) error {
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
	if r.slice != nil {
		s.partialRows(r)
	} else {
		s.divide(r)
	}
	s.late.send(r.b, out)
	for _, p := range s.batch {
		p.ids = room(p.ids, len(p.rows))
		p.table.Lookup(r.keys, p.rows, p.hashes, p.ids, true)
		s.calls.apply(p.table.Rows(), p.table.Off(), p.ids, r, p.rows)
		if s.rev != nil {
			s.rev.touch(s, p, r)
		}
	}
	s.dealt()
	if s.rev != nil && s.rev.every == 0 {
		return s.rev.flush(s, out)
	}
	return nil
}

// Tick tells the time to windows by the clock, and to a changelog that comes every so often.
func (s *sliced) Tick(now types.Instant, out *exec.Out) (types.Instant, error) {
	next := types.Instant(0)
	if s.rev != nil && s.rev.every > 0 {
		if err := s.rev.flush(s, out); err != nil {
			return 0, err
		}
		next = now + s.rev.every
	}
	if s.clock != nil {
		if err := s.advance(now, out); err != nil {
			return 0, err
		}
		_, end := s.grid.sliceOf(now)
		if next == 0 || end < next {
			next = end
		}
	}
	return next, nil
}

// Hold tells how far back the results of windows may still come out that are kept open for late rows.
func (s *sliced) Hold(w types.Instant) types.Instant { return satSub(w, s.allow) }

// Drain does a bounded piece of firing.
func (s *sliced) Drain(out *exec.Out) (bool, error) {
	if s.rev != nil {
		return s.rev.drain(s, out)
	}
	if s.firing == nil && !s.fire() {
		return false, nil
	}
	f := s.firing
	if len(f.merge) > 0 {
		s.mergePart(f)
		return true, nil
	}
	ids, next := f.into.All(f.next, vec.MaxRows, s.found[:0])
	s.found, f.next = ids, next
	if err := s.emit(f, ids, out); err != nil {
		return false, err
	}
	if next < f.into.Rows().End() {
		return true, nil
	}
	s.fired(f)
	s.firing = nil
	end, ok := s.nextEnd()
	return ok && end <= s.w || len(s.taken) > 0, nil
}

// fire begins with the next window that is due, and reports whether there is one.
func (s *sliced) fire() bool {
	if len(s.taken) > 0 {
		s.firing, s.taken = s.taken[0], s.taken[1:]
		return true
	}
	end, ok := s.nextEnd()
	if ok = ok && end <= s.w; ok {
		s.choose()
	}
	return ok
}

// choose takes the next window and chooses what to merge into what. A slice for which this is the last window, and all
// slices of cumulating windows, may take up the others in place.
func (s *sliced) choose() {
	end, of := s.popWindow()
	f := &firing{start: s.grid.start(end), end: end}
	s.firing = f
	if s.grid.kind == types.Cumulate { // the windows to come hold all of these slices, too
		f.into, f.merge, f.dying = of[0].table, of[1:], of[1:]
		if end < of[0].last {
			f.goOn = of[:1]
		} else {
			f.dying = of
		}
		return
	}
	for _, p := range of {
		if end < p.last {
			f.goOn = append(f.goOn, p)
		} else {
			f.dying = append(f.dying, p)
		}
	}
	switch {
	case len(of) == 1:
		f.into = of[0].table
	case len(f.dying) > 0:
		f.into = f.dying[0].table
		f.merge = slices.DeleteFunc(slices.Clone(of), func(p *pane) bool { return p == f.dying[0] })
	default:
		if s.sum == nil {
			s.sum = state.NewTable(s.panes.keys, s.panes.words)
		}
		f.into, f.merge, f.scratch = s.sum, of, true
	}
}

// mergePart merges a piece of a pane into the window.
func (s *sliced) mergePart(f *firing) {
	src := f.merge[0].table
	s.from, f.next = src.All(f.next, vec.MaxRows, s.from[:0])
	s.found = room(s.found, len(s.from))
	f.into.Find(src, s.from, s.found, true)
	s.calls.merge(f.into.Rows(), f.into.Off(), s.found, src.Rows(), src.Off(), s.from)
	if f.next >= src.Rows().End() {
		f.merge, f.next = f.merge[1:], 0
	}
}

func (s *sliced) emit(f *firing, ids []uint32, out *exec.Out) error {
	rows, off := f.into.Rows(), f.into.Off()
	if s.calls.counted {
		ids = slices.DeleteFunc(ids, func(id uint32) bool { return !s.calls.lives(rows, off, id) })
	}
	if len(ids) == 0 {
		return nil
	}
	r := &results{n: len(ids), keys: f.into.Keys(ids), calls: s.calls.results(rows, off, ids)}
	r.start, r.end = filled(f.start, len(ids)), filled(f.end, len(ids))
	return s.out.emit(r, out)
}

func filled(v int64, n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// fired drops what no window needs any more.
func (s *sliced) fired(f *firing) {
	for _, p := range f.dying {
		s.drop(p)
	}
	for _, p := range f.goOn {
		s.goOn(p, f.end)
	}
	if f.scratch {
		s.calls.clear(f.into, f.into.Off())
	}
}

func (s *sliced) drop(p *pane) {
	s.panes.close(p)
	s.calls.clear(p.table, p.table.Off())
	s.recycle(p)
}
