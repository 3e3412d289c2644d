package checkpoint

import (
	"fmt"
	"math"
	"slices"
)

// Mode is how the cut of a checkpoint runs through the channels.
type Mode uint8

const (
	Auto      Mode = iota // aligned, and unaligned after Policy.AlignTimeout
	Unaligned             // every task steps at once; rows in flight belong to the checkpoint
	Aligned               // a task steps when the marks of all its inputs have reached it
)

func (m Mode) String() string { return [...]string{"auto", "unaligned", "aligned"}[m] }

// ParseMode reads what String prints.
func ParseMode(s string) (Mode, error) {
	for _, m := range []Mode{Auto, Unaligned, Aligned} {
		if s == m.String() {
			return m, nil
		}
	}
	return 0, fmt.Errorf("unknown checkpoint mode %q: it is auto, aligned or unaligned", s)
}

// A Policy says when checkpoints are taken. Times are in nanoseconds.
type Policy struct {
	Interval     int64 // between the starts of two; 0: only those that are asked for
	MinPause     int64 // from the end of one to the start of one that the interval calls for; if not 0 those never overlap
	Timeout      int64 // from the trigger until every part is in, then it is aborted; 0: never
	AlignTimeout int64 // of Auto, from the trigger
	Mode         Mode
	MaxOpen      int // so many are open at a time, a final one not counted; less than 1 means 1
	Tolerate     int // so many may fail in a row; the failure after them ends the run
}

// DefaultPolicy returns what holds where nothing is set.
func DefaultPolicy() Policy {
	const second = 1e9
	return Policy{Interval: 10 * second, Timeout: 600 * second, AlignTimeout: second / 10, Mode: Auto, MaxOpen: 2, Tolerate: 3}
}

// maxWaiting bounds the requests that wait for a free place.
const maxWaiting = 1000

// Request asks for a checkpoint.
type Request struct {
	Token  uint64 // not 0; comes back in Done or Reject, exactly once
	Reason string // one word for lists: manual, stop, end
	Name   string // for the checkpoint; may be empty
	// Final says that the run ends with it. It does not wait for others to end, and what was asked for and has not
	// started is rejected. Its mode is Unaligned: an alignment would only hold up the end.
	Final bool
}

// Coordinator decides when a checkpoint of a run starts and what becomes of it. Events go in, actions come out; it has
// no goroutine, no clock and does no I/O. Its methods are called by one goroutine. Times come from a clock that does
// not jump; one that goes back is taken to stand still.
//
// A checkpoint is open from its Trigger to its one outcome, Done or Abort, or the Fail that ends the run. Parts are
// handed in in any order, publishing is in the order of ids: a younger one waits until every older one is with the
// store or aborted. Once with the store, a checkpoint is not aborted any more, since what the store did is not known
// until it answers.
type Coordinator struct {
	o         Policy
	now       int64
	tasks     int
	next      ID // the id of the next one
	published ID // the newest one of this run
	open      []*attempt
	waiting   []Request
	due       int64 // when the interval calls for the next one; never: not at all
	ended     int64 // when the last one ended; only with any
	any       bool
	failures  int // in a row
	shells    []bool
	live      int
	final     ID   // the open final one
	held      bool // the interval calls for none
	over      bool // after Fail or the end of a final one
	wake      int64
	out       []Action
}

// attempt is an open checkpoint.
type attempt struct {
	Request           // Token is 0 if the interval was due
	id, parent        ID
	mode              Mode
	at                int64 // of the trigger
	stepped           []bool
	handed            []bool
	unstepped, absent int // tasks
	lastStep, lastIn  int64
	slowest           int
	deadline          int64
	stage             stage
}

type stage uint8

const (
	taking     stage = iota // parts come in
	writing                 // it is with the store
	committing              // it is published
)

const never = math.MaxInt64

// NewCoordinator returns a coordinator of one run; Start is its first event.
func NewCoordinator(o Policy) *Coordinator {
	o.MaxOpen = max(o.MaxOpen, 1)
	return &Coordinator{o: o, due: never, wake: never}
}

// Start says that the run's tasks, numbered from 0, are ready for triggers. Ids count up from first, which must be above
// every id that the job ever used.
func (c *Coordinator) Start(now int64, tasks int, first ID) []Action {
	c.now, c.tasks, c.next = now, tasks, first
	c.shells, c.live = make([]bool, tasks), tasks
	if c.o.Interval > 0 {
		c.due = later(now, c.o.Interval)
	}
	return c.settle()
}

// Skip says that ids below next may not be used: the store gives them out itself. It may be called after each Trigger.
func (c *Coordinator) Skip(next ID) { c.next = max(c.next, next) }

// Tick says what time it is.
func (c *Coordinator) Tick(now int64) []Action {
	c.clock(now)
	c.wake = never // whatever it was, the caller's alarm is gone
	for _, a := range slices.Clone(c.open) {
		if a.stage != taking || c.over {
			continue
		}
		if a.absent > 0 && c.now >= a.deadline {
			c.abort(a, fmt.Sprintf("it took too long: %d of %d tasks had not handed in their part", a.absent, c.tasks))
		}
	}
	return c.settle()
}

// Request asks for a checkpoint. It starts now or when fewer are open.
func (c *Coordinator) Request(now int64, r Request) []Action {
	c.clock(now)
	switch {
	case c.over:
		c.do(Reject{r.Token, "the run has ended"})
	case c.final != 0:
		c.do(Reject{r.Token, fmt.Sprintf("the run is ending, its final checkpoint %d is under way", c.final)})
	case r.Final:
		for _, w := range c.waiting {
			c.do(Reject{w.Token, "the run is ending"})
		}
		c.waiting = nil
		c.trigger(r, Unaligned)
	case len(c.waiting) >= maxWaiting:
		c.do(Reject{r.Token, fmt.Sprintf("%d requests are waiting already", maxWaiting)})
	default:
		c.waiting = append(c.waiting, r)
	}
	return c.settle()
}

// Stepped says that a task has taken its snapshot step, and whether it did when all marks had reached it.
func (c *Coordinator) Stepped(now int64, task int, id ID, aligned bool) []Action {
	c.clock(now)
	if a := c.asked(id, task); a != nil {
		c.step(a, task)
		if a.mode == Auto && !aligned {
			a.mode = Unaligned
		}
	}
	return c.settle()
}

// Acked says that a task has handed in its part.
func (c *Coordinator) Acked(now int64, task int, id ID) []Action {
	c.clock(now)
	if a := c.asked(id, task); a != nil {
		c.step(a, task)
		a.handed[task] = true
		a.absent--
		a.lastIn, a.slowest = c.now, task
	}
	return c.settle()
}

// Declined says that a task cannot hand in its part. One that it has handed in stays.
func (c *Coordinator) Declined(now int64, task int, id ID, reason string) []Action {
	c.clock(now)
	if a := c.asked(id, task); a != nil {
		c.abort(a, fmt.Sprintf("task %d: %s", task, reason))
	}
	return c.settle()
}

// TaskEnded says that a task has come to its end. It still answers triggers. When all have ended, the interval calls for
// no more checkpoints, as nothing changes.
func (c *Coordinator) TaskEnded(now int64, task int) []Action {
	c.clock(now)
	if task >= 0 && task < c.tasks && !c.shells[task] {
		c.shells[task] = true
		if c.live--; c.live == 0 {
			c.due = never
		}
	}
	return c.settle()
}

// Over says that the run ends without another checkpoint; none may be open. What is asked for from now on is rejected.
func (c *Coordinator) Over(now int64) []Action {
	c.clock(now)
	c.over = true
	for _, w := range c.waiting {
		c.do(Reject{w.Token, "the run has ended"})
	}
	c.waiting = nil
	return c.settle()
}

// Hold says whether the run stands still. Then only checkpoints are taken that are asked for, as nothing changes.
func (c *Coordinator) Hold(now int64, on bool) []Action {
	c.clock(now)
	if c.held && !on && c.due != never {
		c.due = later(c.now, c.o.Interval)
	}
	c.held = on
	return c.settle()
}

// Published says that a checkpoint is durable.
func (c *Coordinator) Published(now int64, id ID) []Action {
	c.clock(now)
	if a := c.find(id); a != nil && a.stage == writing {
		a.stage = committing
		c.published = id
		c.failures = 0
		c.do(Commit{id})
	}
	return c.settle()
}

// PublishFailed says that it is not known whether a checkpoint is durable. That ends the run.
func (c *Coordinator) PublishFailed(now int64, id ID, err error) []Action {
	c.clock(now)
	if a := c.find(id); a != nil && a.stage == writing {
		c.fail(fmt.Errorf("store checkpoint %d: %w", id, err))
	}
	return c.settle()
}

// Committed says that the outputs of a checkpoint are committed.
func (c *Coordinator) Committed(now int64, id ID) []Action {
	c.clock(now)
	if a := c.find(id); a != nil && a.stage == committing {
		c.do(Done{id, a.Token, a.Final})
		c.end(a)
		c.over = c.over || a.Final
	}
	return c.settle()
}

// CommitFailed says that outputs of a published checkpoint could not be committed. That ends the run; the next one
// commits again.
func (c *Coordinator) CommitFailed(now int64, id ID, err error) []Action {
	c.clock(now)
	if a := c.find(id); a != nil && a.stage == committing {
		c.fail(fmt.Errorf("commit the outputs of checkpoint %d: %w", id, err))
	}
	return c.settle()
}
