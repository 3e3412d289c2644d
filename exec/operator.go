// Package exec runs tasks: it moves batches, watermarks and marks between operators and knows neither plans nor
// scripts. A task is a step that never blocks; only the scheduler waits. In-flight rows live in Channels and nowhere else.
package exec

import (
	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// An Operator turns rows into rows. It is owned by one task: calls never overlap and must not block. What it emits is
// never changed again. An operator emits only during a call and only into the Out it is handed.
type Operator interface {
	// Process takes the rows of input `in`.
	Process(in int, b *vec.Batch, out *Out) error
	// Advance tells that event time has reached w on every input: no row before w is expected, late ones aside.
	// The task passes w on by itself, once nothing is owed (Drainer) and lowered to what Holder says.
	Advance(w types.Instant, out *Out) error
	// Finish tells that every input has ended. It comes once, after Advance(types.MaxInstant).
	Finish(out *Out) error
}

// A Drainer still owes rows after Advance or Finish: big firings come in bounded pieces.
type Drainer interface {
	// Drain emits the next piece and reports whether more is owed. What is owed is part of the operator's state.
	Drain(out *Out) (more bool, err error)
}

// A Burster makes many rows of few: it may owe after Process, too. What it owes comes before its task takes anything else,
// so a step stays bounded and a snapshot finds the rest of the rows in its state.
type Burster interface {
	Drainer
	// Owes reports whether Drain has more.
	Owes() bool
	// Later takes over what another one, restored, still owes: of the chunks that are mine, to be given out when their turn comes.
	// at is the chunk of what it was at.
	Later(from Operator, at int64, mine func(chunk int64) bool)
	// Due makes owed what was taken over of the first chunk, if that is not behind reached, and returns the chunk.
	Due(reached int64) (chunk int64, ok bool)
}

// A Ticker wants to be called as processing time passes.
type Ticker interface {
	// Tick is called at least once and then not before the time it asked for; 0 asks for no further call.
	Tick(now types.Instant, out *Out) (next types.Instant, err error)
}

// An Idler keeps rows back only so that there are fewer of them to send. It gives them out before its input falls idle: event
// time moves on behind it then, and whoever it is that waits for these rows would no longer take them.
type Idler interface {
	Drainer
	// Idle makes owed what the operator keeps back.
	Idle()
}

// A Holder may still emit rows before the watermark it was given.
type Holder interface {
	// Hold returns the smallest event time the operator may still emit, given that its input watermark is w.
	Hold(w types.Instant) types.Instant
}

// A Satisfier may want no more rows before its input ends. What follows it is then told that event time and the input
// have ended; a source that nobody wants rows from any more is stopped.
type Satisfier interface{ Satisfied() bool }

// Stateless gives an operator that only processes rows its other methods.
type Stateless struct{}

// Advance does nothing.
func (Stateless) Advance(types.Instant, *Out) error { return nil }

// Finish does nothing.
func (Stateless) Finish(*Out) error { return nil }

// Save has nothing to save.
func (Stateless) Save(*checkpoint.Writer) error { return nil }

// Load has nothing to load.
func (Stateless) Load(*checkpoint.Reader) error { return nil }

// Merge has nothing to merge.
func (Stateless) Merge(Operator, func(uint64) bool) error { return nil }

// Status is what a source says after a Poll.
type Status uint8

// The statuses of a source.
const (
	More Status = iota // poll again at once
	Idle               // nothing at the moment; Wake of its Host calls for the next Poll, or the linger time does
	Done               // ended
)

// A Source brings rows in. Poll does a bounded piece of work and does not wait: blocking I/O (a pipe, a network) runs
// behind a bounded buffer; reads of regular files may be done in Poll.
type Source interface {
	// Poll emits rows, watermarks, idleness and chunk ends.
	Poll(out *Out) (Status, error)
	Close() error
}

// A Sleeper is a Source that knows when it wants to be polled again after it was Idle, if nothing wakes it.
type Sleeper interface {
	// Until returns that time; 0: never.
	Until() types.Instant
}

// A Sink takes rows out. Write owns nothing of the batch.
type Sink interface {
	// Write takes rows in the order in which they are to appear.
	Write(b *vec.Batch) error
	// Finish makes the output whole, and visible unless a Commit does: all rows have been written. After an error Finish is
	// not called.
	Finish() error
	// Close releases files. Without a Finish before it, what was written is known to be incomplete.
	Close() error
}

// Host is what a source may ask of the task that runs it.
type Host struct {
	Env *Env
	// Wake makes the scheduler poll the source again. Any goroutine may call it.
	Wake func()
}
