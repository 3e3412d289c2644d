package op

import (
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// passing is what the aggregates share whose windows come out as time passes: how far it has come. What that makes owed
// comes out by Drain, and before anything else happens.
type passing struct {
	w      int64  // event time, or of the clock
	clock  *clock // nil: event time
	self   exec.Drainer
	merged merged
}

func newPassing(c *spec.StageContext, self exec.Drainer) passing {
	return passing{w: types.MinInstant, clock: newClock(c), self: self}
}

// Advance makes the windows owed that have closed.
func (p *passing) Advance(w types.Instant, out *exec.Out) error {
	if p.clock != nil && w != types.MaxInstant {
		return nil
	}
	return p.advance(w, out)
}

func (p *passing) advance(w int64, out *exec.Out) error {
	if err := p.finishOwed(out); err != nil {
		return err
	}
	p.w = max(p.w, w)
	return nil
}

func (p *passing) finishOwed(out *exec.Out) error {
	for more := true; more; {
		var err error
		if more, err = p.self.Drain(out); err != nil {
			return err
		}
	}
	return nil
}

// Finish has nothing to add: Advance(MaxInstant) has made everything owed.
func (p *passing) Finish(*exec.Out) error { return nil }

// clock gives rows the time of the machine, for windows by the clock.
type clock struct {
	now   func() int64
	times []int64
}

// newClock returns nil for a window in event time.
func newClock(c *spec.StageContext) *clock {
	if c.Args.Window == nil || !c.Args.Window.Processing {
		return nil
	}
	return &clock{now: c.Env.Now}
}

func (k *clock) stamp(r *rowsIn) {
	now := k.now()
	if len(k.times) < r.n {
		k.times = make([]int64, max(r.n, vec.MaxRows))
	}
	for i := range k.times[:r.n] {
		k.times[i] = now
	}
	r.time, r.mark = k.times[:r.n], nil
}
