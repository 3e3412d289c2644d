package exec

import (
	"errors"
	"slices"
	"time"

	"github.com/ebb-lang/ebb/exec/vec"
)

// Stepping: a paused run does as little as lets something pass one stage. It stays paused, and what it does are steps
// like any other, so its checkpoints and outputs are those of a run that nobody has stopped.

// A Step says what is to pass, and where.
type Step struct {
	// Nodes are the stable names of the operators of a stage, or the name of a source. Every task that has one counts.
	Nodes []string
	// Rows is how many rows of a batch a task may take at a time; at least 1.
	Rows int
	// Patience is how long something is waited for.
	Patience time.Duration
	// Stop, when closed, gives the step up; nil: nobody does.
	Stop <-chan struct{}
}

// A Passed is something that an operator was given, or gave out, in a step.
type Passed struct {
	Node string
	Task int // index in its group
	Out  bool
	Port int  // that it was given out to, or input that it came by
	Item Item // its rows are copies
}

// These are the reasons for which nothing passed.
var (
	ErrNothingPassed = errors.New("nothing has come")
	ErrStageEnded    = errors.New("its input has ended")
	ErrNotPaused     = errors.New("the run is not paused")
	ErrNoStage       = errors.New("there is no such stage")
	ErrRunOver       = errors.New("the run has ended")
)

// When nothing is due, the clock of the paused run goes on, or what is paced by it would never come: by stepTick at a time
// and, when that was not enough a number of times, by more and more up to mostTick.
const (
	stepTick = time.Millisecond
	mostTick = 100 * time.Millisecond
	fewTicks = 250
)

// Step lets a paused job go on until one of the nodes has been given rows, a watermark or its end, and owes nothing of
// what follows from that. What lies before the nodes moves as far as it must, what lies behind them only where there is no
// room. Only one Step may be under way.
func (j *Job) Step(s Step) ([]Passed, error) {
	x := &stepping{Step: s, run: j.Run, gone: j.gone, tick: stepTick}
	if !j.Paused() {
		return nil, ErrNotPaused
	}
	for _, t := range j.tasks {
		if t.hasNode(s.Nodes) {
			x.here = append(x.here, t)
		}
	}
	if some := slices.DeleteFunc(slices.Clone(x.here), func(t *Task) bool { _, none := t.source.(noSource); return none }); len(some) > 0 {
		x.here = some // tasks for which the input had no part have nothing to show but its end
	}
	if len(x.here) == 0 {
		return nil, ErrNoStage
	}
	x.before = before(j.tasks, x.here)
	for _, t := range j.tasks {
		if !slices.Contains(x.here, t) && !slices.Contains(x.before, t) {
			x.behind = append(x.behind, t)
		}
	}
	x.deadline = wallClock().Add(s.Patience)
	err := x.forward()
	return x.passed, err
}

// stepping is a step under way.
type stepping struct {
	Step
	run  *Run
	gone <-chan struct{}
	// The tasks: those with the nodes, those that lead to them, the nearest first, and all others.
	here, before, behind []*Task

	deadline time.Time
	ticks    int // of the clock so far
	tick     time.Duration
	passed   []Passed
	came     bool
}

func (t *Task) hasNode(names []string) bool {
	return t.source != nil && slices.Contains(names, t.group) || slices.ContainsFunc(t.nodes, func(n *node) bool { return slices.Contains(names, n.id) })
}

// before returns the tasks that lead to some, the nearest first.
func before(all, to []*Task) (out []*Task) {
	seen := map[string]bool{}
	for _, t := range to {
		seen[t.group] = true
	}
	for next := to; len(next) > 0; {
		from := map[string]bool{}
		for _, t := range next {
			for _, in := range t.inputs {
				if !seen[in.edge.From.ID] {
					from[in.edge.From.ID] = true
				}
			}
		}
		next = nil
		for _, t := range all {
			if from[t.group] {
				seen[t.group] = true
				next = append(next, t)
			}
		}
		out = append(out, next...)
	}
	return out
}

// forward moves tasks until something has come.
func (x *stepping) forward() error {
	for {
		moved, ended, err := x.some(x.here, true)
		switch {
		case err != nil:
			return err
		case x.came:
			return x.settle()
		case moved:
		case ended:
			return ErrStageEnded
		default:
			if moved, _, err = x.some(x.before, false); err == nil && !moved {
				moved, _, err = x.some(x.behind, false)
			}
			if err != nil {
				return err
			}
			if !moved { // it waits for the clock, or for a reader
				if x.ticks++; x.ticks > fewTicks {
					x.tick = min(2*x.tick, mostTick)
				}
				x.run.env.Pauses.since.Add(int64(x.tick))
				time.Sleep(stepTick / 5)
			}
		}
	}
}

// some steps tasks until something has come, once each or, if told so, the first that can as long as it works. ended tells
// that none of them will ever work again.
func (x *stepping) some(tasks []*Task, on bool) (moved, ended bool, err error) {
	ended = true
	for _, t := range tasks {
		for {
			p, err := x.once(t)
			if err != nil {
				return moved, false, err
			}
			moved = moved || p == Worked
			ended = ended && p == Finished
			if x.came {
				return moved, false, nil
			}
			if p != Worked || !on {
				break
			}
		}
		if moved && !on {
			return moved, false, nil
		}
	}
	return moved, ended, nil
}

// settle lets the tasks give out what their nodes owe.
func (x *stepping) settle() error {
	for _, t := range x.here {
		for x.owes(t) {
			p, err := x.once(t)
			if err != nil {
				return err
			}
			if p != Worked { // no room
				if moved, _, err := x.some(x.behind, false); err != nil || !moved {
					return err
				}
			}
		}
	}
	return nil
}

func (x *stepping) owes(t *Task) (owes bool) {
	x.do(t, func() {
		for _, n := range t.nodes {
			owes = owes || n.owes && slices.Contains(x.Nodes, n.id)
		}
	})
	return owes
}

// once steps a task and takes down what passes the nodes.
func (x *stepping) once(t *Task) (p Progress, err error) {
	select {
	case <-x.Stop:
		return Waiting, ErrNothingPassed
	default:
	}
	if !x.came && wallClock().After(x.deadline) {
		return Waiting, ErrNothingPassed
	}
	err = x.do(t, func() {
		x.listen(t, true)
		t.atOnce = max(x.Rows, 1)
		t.snaps.standing(t)
		p = t.move()
		t.atOnce = 0
		x.listen(t, false)
	})
	return p, err
}

// do calls f between two steps of a task, on its goroutine.
func (x *stepping) do(t *Task, f func()) error {
	done := make(chan struct{})
	t.order(order{what: call, call: func() { defer close(done); f() }})
	select {
	case <-done:
		return nil
	case <-x.gone:
	}
	select {
	case <-done: // a task that works is not interrupted
		return nil
	default:
		return ErrRunOver
	}
}

// listen puts the ears on the nodes of a task, or takes them off.
func (x *stepping) listen(t *Task, on bool) {
	if t.source != nil && slices.Contains(x.Nodes, t.group) {
		t.heads.taps = nil
		if on {
			t.heads.taps = func(port int, it Item) { x.note(t, t.group, true, port, it) }
		}
	}
	for _, n := range t.nodes {
		if !slices.Contains(x.Nodes, n.id) {
			continue
		}
		n.seen, n.out.taps = nil, nil
		if on {
			n.seen = func(in int, it Item) { x.note(t, n.id, false, in, it) }
			n.out.taps = func(port int, it Item) { x.note(t, n.id, true, port, it) }
		}
	}
}

func (x *stepping) note(t *Task, node string, out bool, port int, it Item) {
	switch it.Kind {
	case Rows:
		it.Batch = Copy(it.Batch)
	case Watermark, End:
	default:
		return
	}
	source := t.source != nil && node == t.group
	x.came = x.came || !out || source
	x.passed = append(x.passed, Passed{Node: node, Task: t.index, Out: out, Port: port, Item: it})
}

// Copy returns the rows of a batch in memory of their own: what a source emits may lie in memory that is used again.
func Copy(b *vec.Batch) *vec.Batch {
	c, _, err := vec.DecodeBlock(vec.AppendBlock(nil, b))
	if err != nil { // cannot be: it was written by this process
		return &vec.Batch{}
	}
	return c
}
