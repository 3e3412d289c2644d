// Package check gives a parsed script its meaning: names, types, nullability. It takes what exists (functions, stages,
// connectors) from an Env and knows no library, no plan and no file itself.
package check

import "github.com/ebb-lang/ebb/lang/types"

// Env is what the checker asks about the world.
type Env interface {
	// Func returns the overloads of a scalar function, nil if there is none.
	Func(name string) []*types.Sig
	// Agg returns an aggregate function, nil if there is none.
	Agg(name string) *types.AggSig
	// Stage returns a stage by its name, nil if there is none.
	Stage(name string) *types.StageSig
	// Conn returns a connector, nil if there is none.
	Conn(name string) *types.ConnSig
	// Names returns the sorted names of "func", "agg", "stage" or "conn" that are not deprecated, for suggestions.
	Names(kind string) []string
	// Source describes an input; it may open it to infer a schema. declared is nil without a schema clause.
	// An error that is a *types.StageError is one of the script; its Clause names the option to point at, or "schema".
	// Any other means that the input cannot be opened (I601).
	Source(a *types.ConnArgs, declared *types.Schema) (types.SourceInfo, error)
	// Pipes returns what an input reads that gives each row once.
	Pipes(a *types.ConnArgs) []types.Pipe
	// Updating reports whether a sink takes updating streams.
	Updating(a *types.ConnArgs) bool
	// ReadScript returns the text of a file for `use`. path is as it should be opened.
	ReadScript(path string) (string, error)
	// Getenv is env("X") of the language.
	Getenv(name string) (string, bool)
}

// Script is a checked script: what the planner plans.
type Script struct {
	Sources []*Source
	Streams []*Stream // in an order in which each comes after those it reads
	Writes  []*Write  // what runs: each `into`, `tee`, `late into` … that ends in a connector, and printed pipelines
	Set     map[string]any
	Notes   []string // facts worth telling (inferred schemas, …)
	Tests   []*Test
}

// Source is an input that something reads.
type Source struct {
	Name    string // of the script, or a made-up one for an inline call
	Conn    *types.ConnArgs
	Info    types.SourceInfo
	Schema  types.Schema
	Time    *types.Expr // over Schema; nil if there is none
	Lag     int64
	Idle    int64
	Key     []int
	OnError types.OnError
	Out     types.Stream
	Pos     types.Place

	sides sides // what takes its bad rows
	read  bool  // it is in Script.Sources
}

// Node is one input of a stream or write: the rows of a stream or source by its name.
type Node struct {
	Source *Source
	Stream *Stream
}

// Stream is a named run of stages, or a made-up one. Port says which output of the last stage feeds it: 0 is the main
// one, others are targets of tee, split, late and on_error (see Feeds).
type Stream struct {
	Name   string
	From   Node     // where its rows come from; unset if Feeds are set
	Feeds  []Feed   // a stream that stages write by name: all their rows together
	Stages []*Stage // may be empty
	Out    types.Stream
	Pos    types.Place // of its name, or of the pipeline or target that made it
}

// Feed is a side output of a stage: `into NAME`, `tee NAME`, a branch of split, `late into NAME`, `on_error into NAME`.
type Feed struct {
	Stage  *Stage  // nil: the source's on_error, or the end of a pipeline (`into NAME`)
	Source *Source // for its on_error
	Stream *Stream // `into NAME`: all rows of this stream
	Kind   string  // "into", "tee", "branch", "late", "error"
	Branch int     // of split
}

// Stage is one checked use of a stage.
type Stage struct {
	Sig  *types.StageSig
	Args *types.StageArgs
	In   []types.Stream
	Out  types.Stream
	More []Node // further inputs (union, join)
}

// Write is an output: rows of a stream or source go to a connector.
type Write struct {
	Name   string // of the sink statement or of the connector
	Sink   string // name of the sink statement that several writes share, "" if none
	From   Node
	Conn   *types.ConnArgs // nil: printed
	Items  []types.Item    // what is written, over the columns of From; nil: they are written as they are
	Schema types.Schema    // of what is written, with the formats of the sink's schema. Conn.Rows is over it
	In     types.Stream    // what comes from From
	Pos    types.Place     // of the target
}
