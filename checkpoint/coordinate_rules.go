package checkpoint

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ebb-lang/ebb/checkpoint/fault"
)

// settle starts what can start, sends to the store what is complete, and returns the actions of the event.
func (c *Coordinator) settle() []Action {
	for c.hand() || c.begin() {
	}
	c.alarm()
	out := c.out
	c.out = nil
	return out
}

// hand gives the store every complete checkpoint that no older one holds back.
func (c *Coordinator) hand() (did bool) {
	for _, a := range c.open {
		if a.stage != taking {
			continue
		}
		if a.absent > 0 && fault.On("publish-out-of-order") {
			continue
		}
		if a.absent > 1 || a.absent > 0 && !fault.On("publish-incomplete") {
			return did // the younger ones wait for it
		}
		a.stage = writing
		did = true
		if a.mode == Auto {
			a.mode = Aligned // it was in time
		}
		c.do(Write{ID: a.id, Parent: a.parent, Mode: a.mode, Reason: a.Reason, Name: a.Name, Final: a.Final,
			Triggered: a.at, Stepped: a.lastStep, Handed: a.lastIn, Slowest: a.slowest})
	}
	return did
}

// begin starts a checkpoint that was asked for or is due, if one may start now.
func (c *Coordinator) begin() bool {
	if c.over || c.final != 0 || len(c.open) >= c.o.MaxOpen {
		return false
	}
	if len(c.waiting) > 0 {
		r := c.waiting[0]
		c.waiting = c.waiting[1:]
		c.trigger(r, c.o.Mode)
		return true
	}
	if c.held || c.now < c.due || c.o.MinPause > 0 && (len(c.open) > 0 || c.now < c.rested()) {
		return false
	}
	c.due = later(c.now, c.o.Interval)
	c.trigger(Request{Reason: "interval"}, c.o.Mode)
	return true
}

// rested is when the pause after the last checkpoint is over.
func (c *Coordinator) rested() int64 {
	if !c.any {
		return c.now
	}
	return later(c.ended, c.o.MinPause)
}

func (c *Coordinator) trigger(r Request, mode Mode) {
	if mode == Auto && c.o.AlignTimeout <= 0 {
		mode = Unaligned
	}
	a := &attempt{Request: r, id: c.next, parent: c.published, mode: mode, at: c.now, lastStep: c.now, lastIn: c.now,
		stepped: make([]bool, c.tasks), handed: make([]bool, c.tasks), unstepped: c.tasks, absent: c.tasks,
		deadline: never}
	until := int64(0)
	if mode == Auto {
		until = later(c.now, c.o.AlignTimeout)
	}
	if c.o.Timeout > 0 {
		a.deadline = later(c.now, c.o.Timeout)
	}
	if r.Final {
		c.final = a.id
	}
	for _, b := range c.open {
		if mode == Unaligned && b.unstepped > 0 { // this trigger makes the tasks step the smaller ids first
			b.mode = Unaligned
		}
	}
	c.next++
	c.open = append(c.open, a)
	c.do(Trigger{ID: a.id, Parent: a.parent, Mode: mode, Sources: mode != Unaligned, Until: until, Reason: r.Reason, Name: r.Name, Final: r.Final})
}

// step notes that a task has stepped.
func (c *Coordinator) step(a *attempt, task int) {
	if a.stepped[task] {
		return
	}
	a.stepped[task] = true
	a.lastStep = c.now
	a.unstepped--
}

// abort gives an open checkpoint up that is not with the store.
func (c *Coordinator) abort(a *attempt, reason string) {
	c.do(Abort{a.id, reason, where(a.handed, false)})
	if a.Token != 0 {
		c.do(Reject{a.Token, fmt.Sprintf("checkpoint %d failed: %s", a.id, reason)})
	}
	c.end(a)
	if c.failures++; c.failures > c.o.Tolerate {
		from := "the next run goes on from where this one began"
		if c.published != 0 {
			from = fmt.Sprintf("the next run goes on from checkpoint %d", c.published)
		}
		what := "a checkpoint failed"
		if c.failures > 1 {
			what = fmt.Sprintf("%d checkpoints in a row failed, the last", c.failures)
		}
		c.fail(errors.New(what + ": " + reason + "; " + from + "; `checkpoint.timeout` and `checkpoint.tolerate` allow for more"))
	}
}

// end takes a checkpoint that has its outcome out of those that are open.
func (c *Coordinator) end(a *attempt) {
	c.open = slices.DeleteFunc(c.open, func(b *attempt) bool { return b == a })
	c.ended, c.any = c.now, true
	if c.final == a.id {
		c.final = 0
	}
}

// fail ends the run. Open checkpoints get no other outcome: what the store has of them is not known.
func (c *Coordinator) fail(err error) {
	for _, a := range c.open {
		if a.Token != 0 {
			c.do(Reject{a.Token, "the run failed: " + err.Error()})
		}
	}
	for _, r := range c.waiting {
		c.do(Reject{r.Token, "the run failed: " + err.Error()})
	}
	c.open, c.waiting, c.final = nil, nil, 0
	c.do(Fail{err})
	c.over = true
}

// alarm asks for a Tick when the next thing is due, unless that was asked for already.
func (c *Coordinator) alarm() {
	if c.over {
		return
	}
	at := int64(never)
	for _, a := range c.open {
		if a.stage == taking && a.absent > 0 {
			at = min(at, a.deadline)
		}
	}
	if !c.held && c.final == 0 && len(c.open) < c.o.MaxOpen && (c.o.MinPause <= 0 || len(c.open) == 0) { // else the end of an open one decides
		at = min(at, max(c.due, c.rested()))
	}
	if at != never && at != c.wake {
		c.wake = at
		c.do(Wake{at})
	}
}

// find returns the open checkpoint id, or nil.
func (c *Coordinator) find(id ID) *attempt {
	for _, a := range c.open {
		if a.id == id {
			return a
		}
	}
	return nil
}

// asked returns the open checkpoint id if it waits for the part of a task, else nil.
func (c *Coordinator) asked(id ID, task int) *attempt {
	if a := c.find(id); a != nil && task >= 0 && task < c.tasks && !a.handed[task] {
		return a
	}
	return nil
}

func (c *Coordinator) clock(now int64) { c.now = max(c.now, now) }

// do notes an action; none follows Fail.
func (c *Coordinator) do(a Action) { c.out = append(c.out, a) }

// where returns the numbers of the tasks at which bits is v.
func where(bits []bool, v bool) []int {
	var tasks []int
	for i, b := range bits {
		if b == v {
			tasks = append(tasks, i)
		}
	}
	return tasks
}

// later returns t + d, or never.
func later(t, d int64) int64 {
	if d > never-t {
		return never
	}
	return t + d
}
