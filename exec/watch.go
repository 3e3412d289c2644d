package exec

import (
	"fmt"
	"strings"

	"github.com/ebb-lang/ebb/checkpoint"
)

// A Watch sees what the channels of a run carry and where its snapshots cut, for the simulator, which keeps books of its
// own and compares them with what checkpoints hold. Its methods must be quick and change nothing. Only a scheduler that
// steps all actors on one goroutine may have one.
type Watch interface {
	Pushed(l *Line, it Item)
	Took(l *Line, it Item)
	Closed(l *Line) // the consumer wants nothing more
	// Stepped tells that a task takes its snapshot now: what it has taken of the lines in and pushed to the lines out is on
	// the near side of the cut.
	Stepped(id checkpoint.ID, in, out []*Line)
	// Stood tells how far event time has come in a task as it takes its snapshot, or when it has been restored from it.
	Stood(id checkpoint.ID, restored bool, task string, at string)
	// Commits tells that the outputs of a checkpoint are about to be committed.
	Commits(id checkpoint.ID)
}

// A Line is the name of a channel, or of what a source has emitted and its task has not processed: as a checkpoint names
// it.
type Line struct {
	Edge                string
	From, To, FromWidth int
	Nth                 int // of what was in flight when the run was restored at another width; from 1
	Source              bool
}

func (c *Channel) pushed(it Item) {
	if c.watch != nil {
		c.watch.Pushed(c.line, it)
	}
}

func (f *feed) pushed(it Item) {
	if f.watch != nil {
		f.watch.Pushed(f.line, it)
	}
}

// watched gives a channel its name.
func (t *Task) watched(c *Channel, edge string, from, fromWidth, nth int) {
	if t.env.Watch != nil {
		c.watch, c.line = t.env.Watch, &Line{Edge: edge, From: from, To: t.index, FromWidth: fromWidth, Nth: nth}
	}
}

// cutHere tells the watch where a snapshot of the task cuts.
func (t *Task) cutHere(id checkpoint.ID) {
	if t.env.Watch == nil {
		return
	}
	var in, out []*Line
	for _, i := range t.inputs {
		in = append(in, i.ch.line)
		if i.old {
			out = append(out, i.ch.line)
		}
	}
	for _, w := range t.writers {
		for _, c := range w.chans {
			out = append(out, c.line)
		}
	}
	if t.source != nil && t.feed.watch != nil {
		in, out = append(in, t.feed.line), append(out, t.feed.line)
	}
	t.env.Watch.Stepped(id, in, out)
	t.stands(id, false)
}

// stands tells the watch how far event time has come.
func (t *Task) stands(id checkpoint.ID, restored bool) {
	if t.env.Watch == nil {
		return
	}
	var at strings.Builder
	if t.gate != nil {
		fmt.Fprintf(&at, "gate %d idle %v", t.gate.w, t.gate.idle)
		for i, in := range t.inputs {
			if p := t.gate.inputs[i]; !in.old {
				fmt.Fprintf(&at, "; from %s %d/%d: %d idle %v ended %v", in.edge.ID, in.from, in.fromWidth, p.w, p.idle, p.ended)
			}
		}
	}
	for _, n := range t.nodes {
		fmt.Fprintf(&at, "; %s %d", n.id, n.w)
	}
	t.env.Watch.Stood(id, restored, fmt.Sprintf("%s %d/%d", t.group, t.index, t.width), at.String())
}

// Held names what is still held for snapshots that are over: nothing, once every order has been obeyed. It may be called
// between steps of a scheduler that steps all actors on one goroutine.
func (r *Run) Held() []string {
	if r.keeper == nil || len(r.keeper.inbox)+len(r.keeper.outbox) > 0 {
		return nil
	}
	for _, t := range r.tasks {
		if len(t.orders) > 0 {
			return nil
		}
	}
	var out []string
	note := func(t *Task, what string, id checkpoint.ID) {
		if r.keeper.find(id) == nil {
			out = append(out, fmt.Sprintf("%s: %s of checkpoint %d", t.name, what, id))
		}
	}
	for _, t := range r.tasks {
		for _, in := range t.inputs {
			for _, k := range in.ch.cuts {
				note(t, "a cut", k.id)
			}
		}
		for _, o := range t.snaps.announced {
			if note(t, "an announcement", o.id); t.over {
				out = append(out, fmt.Sprintf("%s has ended and waits for the marks of checkpoint %d", t.name, o.id))
			}
		}
		for _, x := range t.snaps.writing {
			note(t, "state that is being written", x.ID)
		}
	}
	return out
}
