package planner

import (
	"slices"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// Physical is a parallel plan: groups of equal tasks and the edges between them.
type Physical struct {
	Logical *Plan
	Groups  []*Group
	Edges   []*Edge
	// Ops are all operators in the order of the script, which is the same at any width.
	Ops []*Op
}

// Group is a run of Width equal tasks: a scan, or what edges lead to, and the operators behind it.
type Group struct {
	ID    int
	Width int
	Scan  *Node
	Ports [][]Link // of the scan; of other groups Ports[0] holds the head
}

// Link leads to an operator of the same task or to an edge.
type Link struct {
	Op   *Op
	Edge *Edge
}

// OpKind is what an operator of a parallel plan is made from.
type OpKind uint8

// The kinds.
const (
	RowsOp    OpKind = iota // the steps of a Rows node
	StageOp                 // a stage's operator
	PartialOp               // what a stage aggregates before its exchange
	EncodeOp                // a sink's encoder
	SinkOp                  // a sink
	UnionOp                 // passes on the rows of a Union that is brought together; see mostPlaces
)

// Op is an operator of a group's tasks.
type Op struct {
	Kind   OpKind
	Node   *Node
	Merges bool // StageOp behind a PartialOp
	Ports  [][]Link
}

// Edge leads from a group to another one.
type Edge struct {
	ID       int
	From, To *Group
	Spread   exec.Spread
	Keys     []int
	KeyNames []string
	InOrder  bool
	Keep     exec.Hidden
	Schema   types.Schema // of the rows; none if they are encoded
}

// place is where an output of a logical node is available: behind an operator (nil: the scan) of a group.
type place struct {
	group *Group
	op    *Op
	port  int
	// keys are the columns by which the rows are spread over the group's tasks, nil if they are not spread by key.
	keys []int
	// inOrder tells that a gather can restore the order of the source.
	inOrder bool
}

// Parallelise spreads a logical plan over at most width tasks a group. Spread tells that groups are made as if width were
// more than 1: what was in flight between the tasks of a wider run then has its place.
func Parallelise(p *Plan, width int, spread bool, partial func(*Node) (types.Schema, bool)) *Physical {
	if width == 1 && spread {
		out := Parallelise(p, 2, false, partial)
		for _, g := range out.Groups {
			g.Width = 1
		}
		return out
	}
	b := &spreader{width: width, partial: partial, out: &Physical{Logical: p}, places: map[Input][]place{}, sinks: map[string]*Op{}, sinkUses: map[string]int{}}
	b.hidden(p)
	for _, n := range p.Nodes {
		if n.Kind == Write && n.Write.Sink != "" {
			b.sinkUses[n.Write.Sink]++
		}
	}
	for _, n := range p.Nodes {
		b.node(n)
	}
	return b.out
}

// mostPlaces is at how many places the rows of a Union may be available. All that follows is made once behind each, and in
// unions of unions each stream is met along every path: without a bound the plan would double with each stage of
// `a |> union a`. Only scripts of that kind come near it; the rows of theirs go through one task.
const mostPlaces = 256

type spreader struct {
	width    int
	partial  func(*Node) (types.Schema, bool)
	out      *Physical
	places   map[Input][]place
	mark     map[*Node]bool // needs row watermarks, itself or further down
	pos      map[*Node]bool // needs positions
	arrival  map[*Node]bool // reads its sources as one split
	sinks    map[string]*Op // shared sinks
	sinkUses map[string]int
}

// hidden finds which nodes need hidden columns of their input.
func (b *spreader) hidden(p *Plan) {
	b.mark, b.pos, b.arrival = map[*Node]bool{}, map[*Node]bool{}, map[*Node]bool{}
	readers := p.consumers()
	for i := len(p.Nodes) - 1; i >= 0; i-- {
		n := p.Nodes[i]
		if n.Kind == Apply {
			b.mark[n], b.pos[n], b.arrival[n] = n.Traits.Mark, n.Traits.Pos || canFail(n), n.Traits.Arrival
		}
		if n.Kind != Apply || n.Traits.RowWise || n.Traits.Passes || n.Late > 0 {
			for _, r := range readers[n] {
				b.mark[n] = b.mark[n] || b.mark[r]
				b.pos[n] = b.pos[n] || b.pos[r]
				b.arrival[n] = b.arrival[n] || b.arrival[r]
			}
		}
	}
}

// canFail reports whether a stage has expressions that fail for some rows: messages name those by their positions.
func canFail(n *Node) bool {
	fails := false
	n.eachExpr(func(e *types.Expr) *types.Expr {
		fails = fails || !e.Infallible()
		return e
	})
	return fails
}

func (b *spreader) group(width int, scan *Node) *Group {
	g := &Group{ID: len(b.out.Groups) + 1, Width: width, Scan: scan, Ports: make([][]Link, 1)}
	b.out.Groups = append(b.out.Groups, g)
	return g
}

func (b *spreader) op(kind OpKind, n *Node) *Op {
	o := &Op{Kind: kind, Node: n}
	b.out.Ops = append(b.out.Ops, o)
	return o
}

// attach adds a link behind a place.
func attach(p place, l Link) {
	ports := &p.group.Ports
	if p.op != nil {
		ports = &p.op.Ports
	}
	for len(*ports) <= p.port {
		*ports = append(*ports, nil)
	}
	(*ports)[p.port] = append((*ports)[p.port], l)
}

func (b *spreader) node(n *Node) {
	switch n.Kind {
	case Scan:
		w := b.width
		if b.arrival[n] || n.Out.Updating { // what takes a row back comes behind it
			w = 1
		}
		p := place{group: b.group(w, n), inOrder: true}
		b.publish(n, p, n.Errors)
	case Union:
		var all []place
		for _, in := range n.In {
			for _, p := range b.places[in] {
				p.keys = nil
				all = append(all, p)
			}
		}
		if len(all) > mostPlaces {
			all = []place{b.bringTogether(n, all)}
		}
		b.places[Input{Node: n}] = all
	case Rows:
		for _, p := range b.places[n.In[0]] {
			if len(n.Steps) == 0 {
				b.places[Input{Node: n}] = append(b.places[Input{Node: n}], p)
				continue
			}
			op := b.op(RowsOp, n)
			attach(p, Link{Op: op})
			b.publish(n, place{group: p.group, op: op, keys: keysThrough(n, p.keys), inOrder: p.inOrder}, errorPort(n))
		}
	case Apply:
		b.apply(n)
	case Write:
		b.write(n)
	}
}

// publish records the outputs of a node at a place.
func (b *spreader) publish(n *Node, p place, ports int) {
	for port := 0; port <= ports; port++ {
		q := p
		q.port = port
		if port > 0 {
			q.keys = nil
		}
		in := Input{Node: n, Port: port}
		b.places[in] = append(b.places[in], q)
	}
}

func errorPort(n *Node) int {
	port := 0
	for _, st := range n.Steps {
		port = max(port, st.Port)
	}
	return port
}

// keysThrough follows key columns through projections; nil if one is lost.
func keysThrough(n *Node, keys []int) []int {
	for _, st := range n.Steps {
		if st.Project == nil || keys == nil {
			continue
		}
		var next []int
		for _, k := range keys {
			at := slices.IndexFunc(st.Project, func(it types.Item) bool { return it.Expr.Op == types.OpCol && it.Expr.Col == k })
			if at < 0 {
				return nil
			}
			next = append(next, at)
		}
		keys = next
	}
	return keys
}

func (b *spreader) apply(n *Node) {
	ports := max(len(n.Traits.Ports), n.Late, n.Errors)
	from := b.places[n.In[0]]
	if n.Traits.RowWise {
		for _, p := range from {
			op := b.op(StageOp, n)
			attach(p, Link{Op: op})
			b.publish(n, place{group: p.group, op: op, inOrder: p.inOrder}, ports)
		}
		return
	}
	op := b.op(StageOp, n)
	keys, names, byKey := keyColumns(n)
	keep := b.keep(n, n.In[0].Stream().Time)
	if len(from) == 1 && (from[0].group.Width == 1 || byKey && from[0].keys != nil && subset(from[0].keys, keys)) {
		attach(from[0], Link{Op: op}) // the rows lie right already
		b.publish(n, place{group: from[0].group, op: op, keys: outputKeys(n, from[0].keys, keys), inOrder: from[0].inOrder && n.Traits.Spread == spec.InOrder}, ports)
		return
	}
	width, spread := 1, exec.Gather
	if byKey {
		width, spread = min(b.width, exec.KeyGroups), exec.Hash // further tasks would own no keys
	}
	g := b.group(width, nil)
	g.Ports[0] = []Link{{Op: op}}
	rows := n.In[0].Schema()
	if s, ok := b.partial(n); ok {
		rows = s
		op.Merges = true
		keep = exec.Hidden{}
		for i := range keys {
			keys[i] = i
		}
		for i, p := range from {
			pre := b.op(PartialOp, n)
			attach(p, Link{Op: pre})
			from[i] = place{group: p.group, op: pre}
		}
	}
	for _, p := range from {
		e := b.edge(p, g, spread, keep)
		e.Keys, e.KeyNames, e.Schema = keys, names, rows
		e.InOrder = n.Traits.Spread == spec.InOrder && p.inOrder
	}
	var out []int
	if byKey {
		out = outputKeys(n, keys, keys)
	}
	b.publish(n, place{group: g, op: op, keys: out}, ports)
}

// bringTogether makes one place of many: a task that passes on what comes from them.
func (b *spreader) bringTogether(n *Node, from []place) place {
	op := b.op(UnionOp, n)
	g := b.group(1, nil)
	g.Ports[0] = []Link{{Op: op}}
	for _, p := range from {
		e := b.edge(p, g, exec.Gather, b.keep(n, n.Out.Time))
		e.InOrder, e.Schema = p.inOrder, n.Out.Schema
	}
	return place{group: g, op: op}
}

// keep says which hidden columns an edge to a node has to bring.
func (b *spreader) keep(n *Node, time bool) exec.Hidden {
	return exec.Hidden{Time: time, Mark: b.mark[n], Pos: b.pos[n], Change: true}
}

func (b *spreader) edge(from place, to *Group, spread exec.Spread, keep exec.Hidden) *Edge {
	e := &Edge{ID: len(b.out.Edges) + 1, From: from.group, To: to, Spread: spread, Keep: keep}
	b.out.Edges = append(b.out.Edges, e)
	attach(from, Link{Edge: e})
	return e
}

// keyColumns returns the columns by which a stage wants its rows spread; byKey is false where it wants them in one task.
func keyColumns(n *Node) (keys []int, names []string, byKey bool) {
	if n.Traits.Spread != spec.ByKey {
		return nil, nil, false
	}
	for _, it := range n.Traits.Keys {
		if it.Expr.Op != types.OpCol {
			return nil, nil, false // a constant: all rows are of one key
		}
		keys = append(keys, it.Expr.Col)
		names = append(names, types.QuoteName(it.Name))
	}
	return keys, names, len(keys) > 0
}

// outputKeys says by which of its output columns a stage's rows are spread, given that its input is by `by`: a stage
// that spreads by key gives out its keys first.
func outputKeys(n *Node, by, keys []int) []int {
	if n.Traits.Spread != spec.ByKey {
		return nil
	}
	var out []int
	for _, k := range by {
		at := slices.Index(keys, k)
		if at < 0 {
			return nil
		}
		if n.Traits.Passes {
			at = k
		} else if at >= len(n.Out.Schema.Fields) || n.Out.Schema.Fields[at].Name != n.Traits.Keys[at].Name {
			return nil
		}
		out = append(out, at)
	}
	return out
}

func subset(a, b []int) bool {
	for _, x := range a {
		if !slices.Contains(b, x) {
			return false
		}
	}
	return true
}

// write encodes in the tasks that make the rows and gathers what is encoded in one sink.
func (b *spreader) write(n *Node) {
	from := slices.Clone(b.places[n.In[0]])
	for i, p := range from {
		op := b.op(EncodeOp, n)
		attach(p, Link{Op: op})
		from[i] = place{group: p.group, op: op, inOrder: p.inOrder}
	}
	name := n.Write.Sink
	sink := b.sinks[name]
	if sink == nil {
		sink = b.op(SinkOp, n)
		if len(from) == 1 && from[0].group.Width == 1 && (name == "" || b.sinkUses[name] == 1) {
			attach(from[0], Link{Op: sink})
			return
		}
		g := b.group(1, nil)
		g.Ports[0] = []Link{{Op: sink}}
		if name != "" {
			b.sinks[name] = sink
		}
	}
	to := b.groupOf(sink)
	for _, p := range from {
		b.edge(p, to, exec.Gather, exec.Hidden{Change: true}).InOrder = p.inOrder
	}
}

func (b *spreader) groupOf(op *Op) *Group {
	for _, g := range b.out.Groups {
		if g.Scan == nil && g.Ports[0][0].Op == op {
			return g
		}
	}
	panic("planner: operator without a group")
}
