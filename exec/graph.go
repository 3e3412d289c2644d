package exec

import "github.com/ebb-lang/ebb/checkpoint"

// Graph is what a Job runs: groups of equal tasks and the edges between them.
type Graph struct {
	Groups []*Group
	Edges  []*Edge
}

// Group is a run of Width equal tasks. It has a Source, or edges that lead to it.
type Group struct {
	ID    string // the same in every run of the script, at any width
	Fit   string // what shapes the state of its source: saved state fits only an equal Fit
	Kind  string // what can read the state of its source: the connector
	Name  string
	Width int
	// Source makes the source of all tasks at once, one a task. restore is what the tasks of an earlier run have saved,
	// in their order and maybe of another number; nil for a fresh start.
	Source func(hosts []*Host, restore []*checkpoint.Reader) ([]Source, error)
	Schema []byte // of what the source emits to port 0; see Edge.Schema
	// Ports are where the source's ports lead; of a group with edges, Ports[0] is the head: one Link to the node that
	// takes the edges' items.
	Ports [][]Link
}

// Link leads to a node of the same task or to an edge. Exactly one field is set.
type Link struct {
	Node *Node
	Edge *Edge
}

// Node is an operator in a group's tasks.
type Node struct {
	ID    string // the same in every run of the script, at any width
	Fit   string // what shapes its state: saved state fits only a node of equal Fit
	Name  string
	New   func(task int) (Operator, error)
	Ports [][]Link
	Sink  bool
}

// Edge leads from ports of tasks to the tasks of group To.
type Edge struct {
	ID      string // the same in every run of the script, at any width
	Name    string
	From    *Group
	To      *Group
	In      int // input of To's head
	Spread  Spread
	Keys    []int // Hash: columns
	InOrder bool  // Gather: chunk by chunk, in the order of the source
	Keep    Hidden
	Limits  Limits // zero: DefaultLimits
	Schema  []byte // of the rows, as vec.AppendSchema writes it: for those who look into checkpoints
}

// limits are those of each of the channels that lead to one task. Together they hold what DefaultLimits say, so that what
// is in flight does not grow with the square of the parallelism; but a channel of an edge in order must hold a chunk.
func (e *Edge) limits(channels int) Limits {
	switch {
	case e.Limits != (Limits{}):
		return e.Limits
	case e.InOrder:
		return DefaultLimits
	}
	return Limits{Rows: max(DefaultLimits.Rows/channels, leastLimits.Rows), Bytes: max(DefaultLimits.Bytes/channels, leastLimits.Bytes)}
}

var leastLimits = Limits{Rows: 1024, Bytes: 32 << 10}
