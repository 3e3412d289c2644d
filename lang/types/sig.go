package types

// Sig is one overload of a scalar function or operator.
type Sig struct {
	Params   []Type // parameter types; a List parameter with an Invalid element takes any list, an Invalid parameter any value
	Optional int    // how many trailing parameters may be left out
	Variadic bool   // the last parameter may repeat
	Result   Type   // nullable here: always nullable. Otherwise nullable if an argument is and the function is strict
	Loose    bool   // sees nulls as values (nil); a strict function gives null where an argument is null
	Volatile bool   // may give another value at the next call
	// Fails reports whether what the data hold may make a row fail, given the arguments: a text that is no number. nil: it
	// does not. Bounds that data hardly ever reach do not count.
	Fails func(args []*Expr) bool
	Rare  bool // may fail nevertheless: for what a script should not say (a unit that comes from the row), or for what data hardly ever hold
	VM    bool // has no kernel: runs on expr's builtin of the same name (an OpIsland)
	// Infer computes the result where Result cannot say it: from the arguments' types, or from a constant argument
	// (the groups of a regular expression). Its error is shown under the call.
	Infer func(args []*Expr) (Type, error)
	ID    int // position among the overloads of its name
}

// AggSig is the signature of an aggregate function.
type AggSig struct {
	Name     string
	Params   []AggParam
	Result   func(args []*Expr) (Type, error) // of the aggregate over at least one row; arguments are checked
	Ordered  bool                             // depends on event time or arrival order (first, last)
	Retracts bool                             // takes rows back exactly
	Counts   bool                             // over no rows the result is 0, not null
	Keeps    Keeps                            // what is kept of a group
	Cap      string                           // parameter that bounds what is kept, "" if there is none
	Instead  string                           // call that keeps less and gives nearly the same: "approx_quantile(x, 0.5)". It has the call's parameters by name, then others; "" if there is none
	ID       int
}

// Keeps says how much an aggregate keeps of a group.
type Keeps uint8

// The amounts.
const (
	KeepsResult Keeps = iota // as much, however many rows there are
	KeepsValues              // each value once
	KeepsRows                // something of each row
)

// AggParam is a parameter of an aggregate.
type AggParam struct {
	Name     string
	Kinds    []Kind // what it takes; nil is any
	Constant bool   // must be a constant of the script
	Optional bool
}

// Stream is what is known of the rows between two stages.
type Stream struct {
	Schema   Schema
	Time     bool // rows have an event time
	Updating bool // rows may take others back
	Bounded  bool // all its sources end by themselves
	Windowed bool // rows are final per window and carry the column `window`
}

// ItemForm says what the arguments of a stage are.
type ItemForm uint8

// The forms of a stage's arguments.
const (
	NoItems    ItemForm = iota
	Condition           // one bool expression
	Assign              // NAME = EXPR, …; each sees the ones before
	Project             // [NAME =] EXPR, …; all see the input
	ColumnList          // columns of the input
	Renames             // NEW = OLD, …
	Aggregates          // [NAME =] an expression over aggregate calls, …
	Count               // one constant int ≥ 0
	Fraction            // one constant number from 0 to 1
	StreamList          // names of streams
	ListAs              // EXPR as NAME
	Sink                // a target
	Branches            // the block of split
)

// StageSig is what the checker knows of a stage.
type StageSig struct {
	Name     string
	Items    ItemForm
	Clauses  []string // labels it takes; on_error is taken by every stage that evaluates
	Required []string // labels it must have
	Ends     bool     // nothing may follow
	Sorts    string   // "asc" or "desc": `by` puts rows in order, in this direction unless an item says otherwise; "": `by` are keys
	// Output gives what flows out, from what flows in (several for union) and the checked arguments.
	// Its error may be a *StageError, which names the clause to point at.
	Output func(in []Stream, a *StageArgs) (Stream, error)
}

// StageError is an error of a definition about the way it is used.
type StageError struct {
	Code    string // of the diagnostic; "" is C330
	Clause  string // label to point at; "" is the stage's name; "item:N" the N-th argument
	Message string
	Help    string
}

func (e *StageError) Error() string { return e.Message }

// StageArgs are the checked arguments of one use of a stage. Expressions are over the stage's input columns, except
// those of Assign, where item i sees the input columns and then the items before it as further columns, replaced
// names included (the checker resolves them: column In+k is item k), and Post.
type StageArgs struct {
	Name     string // of the stage
	ID       string // stable name: of the stream, the stage and its ordinal there
	Pos      Place
	Items    []Item
	Aggs     []AggCall // aggregate: the calls, in order
	Post     []Item    // aggregate: the outputs, over columns: keys, `window` if windowed, then the calls' results
	By       []Item
	Per      []Item
	Window   *Window
	Emit     Emit
	Late     Late
	Retain   Retain
	Within   *Interval
	Keep     string
	Rows     int64
	Count    int64   // limit
	Fraction float64 // sample
	Inputs   []string
	Branches []Branch // split; the last may have a nil condition
	OnError  OnError
}

// Item is a named expression.
type Item struct {
	Name string
	Expr *Expr
	Desc bool
}

// AggCall is one call of an aggregate. Args are over the stage's input.
type AggCall struct {
	Sig    *AggSig
	Args   []*Expr // constant parameters included, as constants
	Result Type
	Name   string // text of the call, for plans
}

// WindowKind is the form of a window.
type WindowKind uint8

// The windows of the language.
const (
	Tumbling WindowKind = iota
	Hopping
	Cumulate
	Session
	CountWindow
)

// Window is a checked window clause. Durations are nanoseconds and greater than zero.
type Window struct {
	Kind       WindowKind
	Size       int64 // tumbling, hopping, cumulate: size; session: gap; count: rows
	Step       int64 // hopping: every; cumulate: step
	Max        int64 // session: longest; 0 is none
	Offset     int64
	Processing bool // clock: "processing"
}

// WindowType is the type of the column `window`.
var WindowType = RecordOf(Field{"start", T(Time)}, Field{"end", T(Time)})

// Emit says when an aggregate gives out rows.
type Emit struct {
	Set     bool // the clause was written
	Changes bool
	Every   int64 // nanoseconds; 0 is at every batch
}

// Late says what becomes of late rows.
type Late struct {
	Set    bool
	Allow  int64  // > 0: `late allow`
	Target string // `late into`: the stream or the sink's stream that takes them
}

// Retain says how long a key is kept.
type Retain struct {
	Set     bool
	Forever bool
	For     int64
}

// Interval is a checked `within [LO, HI]`, nanoseconds.
type Interval struct{ Lo, Hi int64 }

// Branch is one case of a split.
type Branch struct {
	When   *Expr // nil: else
	Target string
}

// OnError says what becomes of rows that fail.
type OnError struct {
	Mode   string // "" and "fail", "drop", "into"
	Target string
}

// ErrorSchema is the schema of error rows.
var ErrorSchema = NewSchema(Field{"error", T(String)}, Field{"stage", T(String)}, Field{"raw", T(String)}, Field{"source", T(String)}, Field{"position", T(Int)})

// ConnParam is an option of a connector.
type ConnParam struct {
	Name     string
	Type     Type // of the constant; List of String also takes one string
	Required bool
	Default  any  // as Expr.Value
	Row      bool // speaks of the row: a list of columns or a record of expressions (partition_by)
	Literal  bool // any constant value, rows included
	Place    bool // a path that says where an output lies: two outputs of a script may not lie in one place
	Text     string

	Deprecated *Deprecated // nil: it is not
}

// StandardOutput reports whether a Place leads to standard output.
func StandardOutput(path string) bool {
	switch path {
	case "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		return true
	}
	return false
}

// Deprecated says of something in the catalog that it is there for old scripts only.
type Deprecated struct {
	Since string // the version that says so first
	// Name is what takes its place: another one of its kind, called in the same way and meaning the same. "": none does,
	// and Instead says what to write.
	Name    string
	Instead string
}

func (d *Deprecated) String() string {
	instead := d.Instead
	if d.Name != "" {
		instead = "`" + d.Name + "`"
	}
	return "deprecated since " + d.Since + ": write " + instead
}

// ConnSig is what the checker knows of a connector. The first parameter may be given without its name.
type ConnSig struct {
	Name   string
	Source bool
	Sink   bool
	Params []ConnParam
}

// ConnArgs is one checked call of a connector.
type ConnArgs struct {
	Name string
	Args map[string]any // every parameter that was given or has a default
	// Types are the types of the constants of the parameters that were given: they tell a time from an int. A parameter
	// without one was not given, or (Literal only) its value has no single type; it is then taken by its Go type.
	Types map[string]Type
	Rows  []Item // the row parameter's columns or expressions
	Pos   Place
}

// Pipe is an input that gives each row once: standard input, a named pipe, a device.
type Pipe struct {
	ID   any    // tells it from others, whatever name it goes by
	Name string // for messages
}

// SourceInfo is what a connector says of an input before it runs.
type SourceInfo struct {
	Schema   Schema
	Time     string // column of the event time that it brings with it, "" for none
	Lag      int64
	Bounded  bool
	Updating bool   // its rows may take others back
	Inferred bool   // the schema was guessed from the data
	Note     string // how, for explain
	Sample   any    // with Inferred: what the connector wants to know of it when it reads; nobody else's
}
