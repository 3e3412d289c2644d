// Package spec says what a definition of the standard library consists of: a function, an aggregate, an operator or a
// connector is one value of a type of this package, in one file, with its documentation and tested examples. It knows
// no definition and no plan.
package spec

import (
	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Doc is the documentation of a definition. The reference, `ebb doc` and completion are made from it.
type Doc struct {
	Name      string
	Group     string // heading of the reference: text, time, math, list, conversion, …
	Signature string // as shown to people: `upper(s: string) -> string`
	Text      string // first sentence stands alone
	Examples  []Example

	Deprecated *types.Deprecated // nil: it is not
}

// Body is the text, and what to write instead.
func (d Doc) Body() string {
	if d.Deprecated == nil {
		return d.Text
	}
	return d.Text + "\n\nIt is " + d.Deprecated.String() + "."
}

// Example is a tested example. For a function Code is an expression and Want its value as FormatConst prints it; for an
// aggregate, stage or connector Code is a script and Want what `ebb run` prints for it as JSON lines.
type Example struct{ Code, Want string }

// Func is a scalar function.
type Func struct {
	Doc
	Overloads []Overload
}

// Overload is one signature of a function and its kernel; a Sig with VM set has none.
type Overload struct {
	types.Sig
	Kernel eval.Kernel
}

// Agg is an aggregate function.
type Agg struct {
	Doc
	types.AggSig
	// New makes the aggregate for one call; one instance serves all groups of one task.
	New func(call *types.AggCall) (Aggregate, error)
}

// Traits are what the planner asks of a stage instead of its name.
type Traits struct {
	RowWise bool         // each output row comes from one input row of the same batch: fuses, keeps order, watermark, updating
	Spread  Spread       // how input rows must lie
	Keys    []types.Item // Spread ByKey: expressions over the input
	Passes  bool         // the output starts with the input's columns, unchanged
	Narrow  bool         // holds no rows and gives out only the columns of StageContext.Out: columns that nobody reads behind it need not come to it
	Mark    bool         // needs the watermark of the row (takes `late`)
	Arrival bool         // depends on the order of arrival: sources are read as one split
	Pos     bool         // needs positions
	Copies  bool         // keeps and passes on copies only: neither columns of the input nor views of its strings
	State   string       // for explain: "keyed count by auction, 10s window", "" if stateless
	Bound   string       // for explain: what bounds the state: "keys in open windows", "keys", …
	Grows   string       // what is kept for ever if the input never ends, "a row for each `user`"; "": something bounds it, or it is said to be meant
	Limit   int64        // > 0: wants no more rows than this
	Ports   []string     // names of the further outputs, ports 1…: targets of late, on_error, split, tee
}

// Spread says how the rows of a stage's input must be spread over its tasks.
type Spread uint8

// The spreads.
const (
	Anywhere Spread = iota
	ByKey           // rows of equal key in one task
	Once            // all rows in one task
	InOrder         // all rows in one task, in the order of the source where nothing before it spreads by key
)

// Stage is an operator of the language.
type Stage struct {
	Doc
	types.StageSig
	// Traits says how this use of the stage wants to be run.
	Traits func(in []types.Stream, a *types.StageArgs) Traits
	// New makes the operator of one task.
	New func(c *StageContext) (exec.Operator, error)
	// Steps gives the expressions of a stage that the planner may fuse, push down and prune: the stage is then not an
	// operator of its own. Set instead of New.
	Steps func(in types.Schema, a *types.StageArgs) []Step
	// Partial, if not nil, makes the operator that aggregates before the exchange, and Traits speaks of the rest.
	Partial func(c *StageContext) (exec.Operator, types.Schema, bool)
}

// Step is a fused piece of row-wise work: a filter, or a projection. Exactly one field is set.
type Step struct {
	Where   *types.Expr // keep rows for which it is true
	Assert  *types.Expr // fail rows for which it is not true
	Project []types.Item
}

// StageContext is what a stage gets when it is made for a task.
type StageContext struct {
	Args  *types.StageArgs
	In    []types.Stream
	Out   types.Stream
	Task  int // of Width
	Width int
	Env   *exec.Env
	Lib   eval.Lib
	Aggs  func(name string) *Agg
	// Fail deals with the rows of b on which expressions failed, as the stage's on_error says, and returns the batch
	// without them (b itself if none failed). An error stops the run.
	Fail Fail
	// FailOf makes what Fail is for rows of another schema than the input's.
	FailOf func(types.Schema) Fail
	// LatePort is the port of late rows, 0 if they are dropped.
	LatePort int
	// Partial is set for the operator behind a Partial: its input is what that emits.
	Partial bool
}

// Fail takes the failures that x has collected while evaluating over b. See StageContext.
type Fail func(x *eval.Ctx, b *vec.Batch, out *exec.Out) (*vec.Batch, error)

// Conn is a connector.
type Conn struct {
	Doc
	types.ConnSig
	// Info describes an input before it runs. declared is the script's schema, nil if it must be inferred or comes with
	// the connector. Sources only.
	Info func(a *types.ConnArgs, declared *types.Schema, env *exec.Env) (types.SourceInfo, error)
	// Pipes returns what a source called so reads that cannot be read again from where a checkpoint stood; nil: none. A job
	// with such a source takes no checkpoints unless told to: after a restart it misses what was read since.
	Pipes func(a *types.ConnArgs, env *exec.Env) []types.Pipe
	// Splits reports whether a source called so may have several splits, each with an event time of its own; nil: it has one.
	Splits func(a *types.ConnArgs, env *exec.Env) bool
	// Takes reports whether a source called so reads what lies at a path; nil: it reads nothing that has one.
	Takes func(a *types.ConnArgs, path string, env *exec.Env) bool
	// File names a file that a sink called so may write, "" where its path says it; nil: always.
	File func(a *types.ConnArgs) string
	// Delivery says how safely a sink called so gives out its rows; nil: each at least once.
	Delivery func(a *types.ConnArgs, env *exec.Env) Delivery
	// Open opens a source for at most s.Width tasks; it returns one exec.Source a task, at least one.
	Open func(s *Scan) ([]exec.Source, error)
	// Loose names the parameters of a source's call that do not change which rows come in which order: they may change from
	// run to run, and what the source has saved still fits. nil: none.
	Loose func(a *types.ConnArgs) []string
	// Reached tells how far a source had come from what its tasks have saved, as in Scan.Restore, for those who look into a
	// checkpoint. It opens no input. The bytes may be damaged.
	Reached func(saved []*checkpoint.Reader) (Reached, error)
	// Updating reports whether a sink called so takes updating streams; nil: never. Console and blackhole always do.
	Updating func(a *types.ConnArgs) bool
	// Encoder makes what encodes rows in the tasks before the sink's; nil: the sink takes rows as they are.
	Encoder func(w *Write) (Encoder, error)
	// Sink opens the output. It is called once a run, before any row flows.
	Sink func(w *Write) (exec.Sink, error)
}

// Delivery says how often a row comes out if the run is killed and goes on from a checkpoint.
type Delivery uint8

// The deliveries.
const (
	AtLeastOnce Delivery = iota
	ExactlyOnce          // it becomes visible with its checkpoint, or is taken back
	Shown                // at least once, into something that cannot be taken back by its nature: a terminal, a pipe
)

// Reached is how far a source had come when its tasks saved.
type Reached struct {
	Rows int64  // that it had read, failed ones included
	Text string // the place in its input, for people
}

// Scan is what the planner asks of a source.
type Scan struct {
	Name     string // of the source in the script, for messages
	Ordinal  int    // of the source in the plan, for positions
	Args     *types.ConnArgs
	Info     types.SourceInfo // what Conn.Info said of it
	Schema   types.Schema     // all columns of the source
	Columns  []int            // those to decode, in the order in which they are emitted
	Width    int              // most tasks
	OneSplit bool             // rows must come in arrival order from one task
	// Time fills b.Time (over the emitted columns) and reports rows that have none; nil if the source has no event time.
	Time func(b *vec.Batch, fail func(row int, err error))
	Lag  int64 // nanoseconds
	Idle int64 // nanoseconds; 0 never
	// Transient tells that nobody keeps the columns of a batch or views of its strings once Emit has returned: the
	// source may use their memory again.
	Transient bool
	// Limit tells that only the first rows are needed; the source may ignore it. 0: all.
	Limit    int64
	Hosts    []*exec.Host // one a task
	Env      *exec.Env
	Failures func() *exec.Failures // one a task
	// Restore is what the sources have saved, in the order of their tasks, when the run goes on from a checkpoint; nil: it
	// begins anew. Of those that Open returned then, each must have been asked to save, ended or not; there may be another
	// number of them now. Chunk c goes to source c mod their number. The rows of a chunk that were emitted before come
	// from the checkpoint; the source goes on with those that follow.
	Restore []*checkpoint.Reader
}

// Write is what the planner asks of a sink.
type Write struct {
	Name    string // of the sink or target, for messages
	Args    *types.ConnArgs
	Schema  types.Schema // of the rows; a Time column's Format says how it is written
	Changes bool         // the stream is updating: write the column _change first… last as the connector documents
	// Parts evaluates the row parameter (partition_by): one column a part. nil if there is none.
	Parts     func(b *vec.Batch) ([]*vec.Column, []string, error)
	PartNames []string
	Env       *exec.Env
}

// A Copier is an encoder that keeps neither columns of a batch nor views of its strings once Encode has returned.
type Copier interface{ CopiesRows() }

// Encoder turns rows into encoded rows. It belongs to one task.
type Encoder interface {
	// Encode returns a batch of one String column `line`, a row for each row of b, with Block set. With Write.Parts a
	// second String column `part` holds the path of the row's partition.
	Encode(b *vec.Batch) (*vec.Batch, error)
}
