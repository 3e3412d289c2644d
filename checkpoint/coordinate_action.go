package checkpoint

import (
	"fmt"
	"strings"
)

// Action is what the Coordinator wants done. The runner carries actions out in their order; it may queue them, but
// those of one kind must stay in order.
type Action interface{ fmt.Stringer }

// Trigger starts a checkpoint: every task is to take its snapshot step, or, if Sources, only those that have a source
// and the others when the marks reach them, or at Until if they have not by then. A task that is told of an id first
// steps every smaller open one.
type Trigger struct {
	ID ID
	// Parent is the newest checkpoint that this run had published then, which a delta may build on; 0: there is none.
	Parent  ID
	Mode    Mode
	Sources bool
	Until   int64 // 0: whenever they do
	Reason  string
	Name    string
	Final   bool // the run ends with it: a task does nothing more after its step, unless it is aborted
}

// Write asks for a checkpoint to be published: every task has handed in its part. Published or PublishFailed answers.
// Ids come in order, and the one before may still be being published. It holds what the coordinator knows of the
// checkpoint; times are those that its events brought.
type Write struct {
	ID                         ID
	Parent                     ID
	Mode                       Mode // Auto has become Aligned or Unaligned
	Reason                     string
	Name                       string
	Final                      bool
	Triggered, Stepped, Handed int64 // when it was triggered, when the last task stepped, when the last part came
	Slowest                    int   // the task whose part came last
}

// Commit asks for the outputs of a published checkpoint to be committed and for its commit record. Committed or
// CommitFailed answers.
type Commit struct{ ID ID }

// Abort gives a checkpoint up: every task is told, and drops what it holds for it. Tasks had not handed in their parts.
type Abort struct {
	ID     ID
	Reason string
	Tasks  []int
}

// Done says that a checkpoint is published and committed. Token is that of its request, 0 if the interval was due.
type Done struct {
	ID    ID
	Token uint64
	Final bool
}

// Reject answers a request that leads to no checkpoint.
type Reject struct {
	Token  uint64
	Reason string
}

// Wake asks for a Tick at a time; it takes the place of the Wake before. A Tick at another time does no harm.
type Wake struct{ At int64 }

// Fail ends the run, which can go on later from the newest published checkpoint. It is the last action of all.
type Fail struct{ Err error }

func (a Trigger) String() string {
	s := fmt.Sprintf("trigger %d %s %s", a.ID, a.Mode, a.Reason)
	if a.Name != "" {
		s += fmt.Sprintf(" name=%s", a.Name)
	}
	if a.Final {
		s += " final"
	}
	if a.Parent != 0 {
		s += fmt.Sprintf(" parent=%d", a.Parent)
	}
	switch {
	case a.Until != 0:
		return fmt.Sprintf("%s: sources, the others by %d", s, a.Until)
	case a.Sources:
		return s + ": sources"
	}
	return s + ": all tasks"
}

func (a Write) String() string {
	return fmt.Sprintf("write %d %s: triggered %d, stepped %d, handed in %d, task %d last", a.ID, a.Mode, a.Triggered, a.Stepped, a.Handed, a.Slowest)
}

func (a Commit) String() string { return fmt.Sprintf("commit %d", a.ID) }

func (a Abort) String() string {
	s := fmt.Sprintf("abort %d: %s", a.ID, a.Reason)
	if len(a.Tasks) > 0 {
		s += fmt.Sprintf(" (missing: tasks %s)", numbers(a.Tasks))
	}
	return s
}

func (a Done) String() string {
	s := fmt.Sprintf("done %d", a.ID)
	if a.Final {
		s += " final"
	}
	if a.Token != 0 {
		s += fmt.Sprintf(" token=%d", a.Token)
	}
	return s
}

func (a Reject) String() string { return fmt.Sprintf("reject token=%d: %s", a.Token, a.Reason) }
func (a Wake) String() string   { return fmt.Sprintf("wake %d", a.At) }
func (a Fail) String() string   { return fmt.Sprintf("fail: %v", a.Err) }

func numbers(ns []int) string { return strings.Trim(fmt.Sprint(ns), "[]") }
