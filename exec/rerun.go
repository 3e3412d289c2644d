package exec

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ebb-lang/ebb/exec/vec"
)

// A Rerun does once more what a run has done from a checkpoint on, on the goroutine of its caller: some rows of a source at
// a time, and then all that follows from them. Its time is its own: it goes on where something waits for it. Nothing is
// committed, and no checkpoint is taken.
type Rerun struct {
	run     *Run
	clock   *RerunClock
	sources []*Task
	turn    int
	rows    int        // that the source at turn may give at once
	of      *Task      // that gave the last
	took    *vec.Batch // the last that it gave
	n       int
}

// Took says what a step of a rerun took.
type Took struct {
	Group string     // stable name of the source; "" at the end
	Rows  int        // how many
	Last  *vec.Batch // what holds the last of them; valid up to the next step
}

// NewRerun builds a rerun of a graph. env.Now must be clock.Now. Close it.
func NewRerun(g *Graph, env *Env, clock *RerunClock, o Setup) (*Rerun, error) {
	r, err := Build(g, env, o)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	x := &Rerun{run: r, clock: clock}
	for _, t := range r.tasks {
		if t.source == nil {
			continue
		}
		x.sources = append(x.sources, t)
		t.heads.taps = func(_ int, it Item) {
			if it.Kind == Rows {
				x.n += it.Batch.Rows()
				x.took = it.Batch
			}
		}
	}
	return x, nil
}

// RerunClock is the time that a rerun goes by.
type RerunClock struct{ at int64 }

// NewRerunClock returns a clock that stands at a time, nanoseconds since 1970 UTC.
func NewRerunClock(at int64) *RerunClock { return &RerunClock{at} }

// Now is for Env.Now.
func (c *RerunClock) Now() int64 { return c.at }

const (
	rerunTick     = int64(linger) // nobody looks at a clock more often
	mostRerunTick = int64(100 * time.Millisecond)
	rerunPatience = 10 * time.Second      // for a reader in the background
	rerunCalm     = 100                   // rounds without anything, after which nothing more comes
	rerunTurn     = 50 * time.Millisecond // after which another task has its turn
)

// Settle does all that follows from what was done before.
func (x *Rerun) Settle() error {
	for moved := true; moved; {
		moved = false
		for _, t := range x.run.tasks {
			if t.source != nil && !x.owes(t) {
				continue // waits for its turn
			}
			for {
				p, err := x.step(t)
				if err != nil {
					return err
				}
				if p != Worked {
					break
				}
				moved = true
				if t.source != nil && !x.owes(t) {
					break
				}
			}
		}
	}
	return nil
}

func (x *Rerun) owes(t *Task) bool {
	return slices.ContainsFunc(t.nodes, func(n *node) bool { return n.owes })
}

func (x *Rerun) step(t *Task) (p Progress, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: internal error: %v\n%s", t.name, r, stack())
		}
	}()
	t.atOnce = max(x.rows, 1)
	if t.source == nil {
		t.atOnce = vec.MaxRows
	}
	return t.Step()
}

// Step takes at most so many rows of one source, and does all that follows from them. The tasks of the sources have their
// turns one after the other, each step one, unless stay is set: then the one of the step before goes on. Took.Group is ""
// once no source has more.
func (x *Rerun) Step(rows int, stay bool) (Took, error) {
	if err := x.Settle(); err != nil {
		return Took{}, err
	}
	if !stay {
		x.turn++
	}
	x.rows, x.n, x.took = rows, 0, nil
	idle, tick := 0, rerunTick
	deadline := wallClock().Add(rerunPatience)
	for since := wallClock(); ; {
		var open, short []*Task // that may go on, and that have rows to give
		for _, t := range x.sources {
			if x.over(t) {
				continue
			}
			open = append(open, t)
			if t.feed.ready() || !t.feed.atUntil() {
				short = append(short, t)
			}
		}
		var moved bool
		var err error
		switch {
		case len(short) == 0 && (len(open) == 0 || idle > rerunCalm):
			return Took{}, x.told(open)
		case len(short) == 0:
			moved, err = x.each(open)
		default:
			t := x.sources[x.turn%len(x.sources)]
			if !slices.Contains(short, t) || time.Since(since) > rerunTurn {
				if _, err := x.each(open); err != nil { // one may wait for what another tells
					return Took{}, err
				}
				x.turn++
				since = wallClock()
				if x.n == 0 {
					continue
				}
				t = x.sources[x.turn%len(x.sources)]
			}
			if x.n == 0 {
				moved, err = x.each([]*Task{t})
			}
			if x.n > 0 {
				return Took{x.of.group, x.n, Copy(x.took)}, x.Settle()
			}
		}
		switch {
		case err != nil:
			return Took{}, err
		case moved:
			deadline = wallClock().Add(rerunPatience)
			idle = 0
			continue
		case wallClock().After(deadline):
			return Took{}, fmt.Errorf("the sources give no rows any more: they may have changed")
		}
		if idle++; idle > 50 {
			tick = min(2*tick, mostRerunTick)
		}
		x.clock.at += tick
		time.Sleep(200 * time.Microsecond)
	}
}

// each steps sources once each, and does what follows.
func (x *Rerun) each(tasks []*Task) (moved bool, err error) {
	for _, t := range tasks {
		p, err := x.step(t)
		if err != nil {
			return moved, err
		}
		moved = moved || p == Worked
		if x.n > 0 {
			x.of = t
			return moved, nil
		}
	}
	return moved, x.Settle()
}

// told ends the reading of the sources that have given what they were to give.
func (x *Rerun) told(tasks []*Task) error {
	for _, t := range tasks {
		t.feed.cut = true
		t.feed.tell()
		for t.feed.ready() {
			if p, err := x.step(t); err != nil {
				return err
			} else if p != Worked {
				if err := x.Settle(); err != nil {
					return err
				}
			}
		}
	}
	return x.Settle()
}

// over reports whether nothing more comes from a source.
func (x *Rerun) over(t *Task) bool {
	if t.feed.ready() || x.owes(t) {
		return false
	}
	return t.over || t.feed.cut && t.feed.told
}

// Tap is Run.Tap.
func (x *Rerun) Tap(id string, f func(*vec.Batch)) (stop func(), ok bool) { return x.run.Tap(id, f) }

// Taken returns how many rows operators have been given, by their stable names, of all their tasks.
func (x *Rerun) Taken(nodes []string) (n int64) {
	for _, t := range x.run.tasks {
		for _, m := range t.nodes {
			if slices.Contains(nodes, m.id) {
				n += m.took.Load()
			}
		}
	}
	return n
}

// Kept returns the state of operators, see Job.Kept.
func (x *Rerun) Kept(nodes []string, most int) ([]Kept, error) {
	var out []Kept
	for _, t := range x.run.tasks {
		for _, n := range t.nodes {
			if n.sink || !slices.Contains(nodes, n.id) {
				continue
			}
			data, err := saved(n.op, most)
			if err != nil {
				return nil, err
			}
			if len(data) > 0 {
				out = append(out, Kept{Node: n.id, Fit: n.fit, Task: t.index, Data: data})
			}
		}
	}
	return out, nil
}

// End makes visible what has come to the outputs. The sources are not ended: where one ends before others, event time
// would go on by those.
func (x *Rerun) End() error {
	for _, t := range x.run.tasks {
		for _, n := range t.nodes {
			if !n.sink || n.done {
				continue
			}
			if err := n.op.Finish(n.out); err != nil {
				return err
			}
			d, ok := n.op.(Drainer)
			for more := ok; more; {
				var err error
				if more, err = d.Drain(n.out); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Close releases what the run has opened.
func (x *Rerun) Close() error { return x.run.Close() }
