package exec

// Graph is what a Job runs: groups of equal tasks and the edges between them.
type Graph struct {
	Groups []*Group
	Edges  []*Edge
}

// Group is a run of Width equal tasks. It has a Source, or edges that lead to it.
type Group struct {
	Name  string
	Width int
	// Source makes the source of all tasks at once, one a task.
	Source func(hosts []*Host) ([]Source, error)
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
	Name  string
	New   func(task int) (Operator, error)
	Ports [][]Link
	Sink  bool
}

// Edge leads from ports of tasks to the tasks of group To.
type Edge struct {
	Name    string
	From    *Group
	To      *Group
	In      int // input of To's head
	Spread  Spread
	Keys    []int // Hash: columns
	InOrder bool  // Gather: chunk by chunk, in the order of the source
	Keep    Hidden
	Limits  Limits // zero: DefaultLimits
}
