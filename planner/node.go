// Package planner turns a checked script into a graph of tasks: logical plan, ordered rules, parallel plan, lowering.
// It asks definitions for traits and never for names, and it knows no thread: what it makes is run by exec.
package planner

import (
	"fmt"
	"strings"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// Kind is the form of a plan node. The set is closed: what differs between operators is data in their definitions.
type Kind uint8

// The forms.
const (
	Scan  Kind = iota // a source
	Rows              // row-wise steps: filters and projections
	Apply             // a stage with an operator of its own
	Union             // the rows of all inputs
	Write             // a sink
)

// Node is a node of the logical plan. Fan-out is a node with two consumers.
type Node struct {
	ID   int
	Kind Kind
	Name string // stream and stage it comes from, for people
	In   []Input
	Out  types.Stream // of port 0

	Source  *check.Source // Scan
	Ordinal int           // Scan: number of the source, for positions
	Columns []int         // Scan: columns of the source that are decoded
	Limit   int64         // Scan: rows wanted at most; 0 all

	Steps []Step // Rows

	Stage  *spec.Stage // Apply
	Args   *types.StageArgs
	Traits spec.Traits
	Errors int // Scan, Apply: port of error rows; 0: none
	Late   int // Apply: port of late rows; 0: none

	Write *check.Write // Write

	kept []int // pruneColumns: where the columns of port 0 went
}

// Input is one output of a node.
type Input struct {
	Node *Node
	Port int
}

// Step is a row-wise step with what its stage says of failing rows.
type Step struct {
	spec.Step
	Stage   string // for messages
	OnError types.OnError
	Port    int // of error rows; 0: none
}

// Schema returns the columns of an output.
func (i Input) Schema() types.Schema { return i.Stream().Schema }

// failures reports whether the output is that of error rows, which have columns of their own.
func (i Input) failures() bool {
	return i.Port > 0 && !(i.Node.Kind == Apply && (i.Port == i.Node.Late || i.Port <= len(i.Node.Traits.Ports)))
}

// Stream returns what is known of the rows of an output.
func (i Input) Stream() types.Stream {
	n := i.Node
	switch {
	case i.Port == 0:
		return n.Out
	case n.Kind == Apply && i.Port == n.Late:
		return n.In[0].Stream()
	case n.Kind == Apply && i.Port <= len(n.Traits.Ports):
		return n.In[0].Stream()
	}
	return types.Stream{Schema: types.ErrorSchema, Bounded: n.Out.Bounded}
}

// Plan is a logical plan: its nodes, inputs before consumers.
type Plan struct {
	Nodes []*Node
	Set   map[string]any
	Notes []string
}

// consumers returns who reads each node, by node and in order of the plan.
func (p *Plan) consumers() map[*Node][]*Node {
	m := map[*Node][]*Node{}
	for _, n := range p.Nodes {
		for _, in := range n.In {
			m[in.Node] = append(m[in.Node], n)
		}
	}
	return m
}

// sweep drops nodes that no Write needs, orders the rest and numbers them.
func (p *Plan) sweep() {
	seen := map[*Node]bool{}
	var order []*Node
	var visit func(*Node)
	visit = func(n *Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		for i, in := range n.In {
			for in.Node.Kind == Rows && len(in.Node.Steps) == 0 && in.Port == 0 { // has nothing left to do
				in = in.Node.In[0]
			}
			n.In[i] = in
			visit(in.Node)
		}
		order = append(order, n)
	}
	for _, n := range p.Nodes {
		if n.Kind == Write {
			visit(n)
		}
	}
	for i, n := range order {
		n.ID = i + 1
	}
	p.Nodes = order
}

// String prints a node on one line, without its inputs.
func (n *Node) String() string {
	switch n.Kind {
	case Scan:
		s := fmt.Sprintf("scan %s %s", n.Source.Name, connText(n.Source.Conn))
		if n.Columns != nil {
			names := make([]string, len(n.Columns))
			for i, c := range n.Columns {
				names[i] = types.QuoteName(n.Source.Schema.Fields[c].Name)
			}
			s += fmt.Sprintf(" columns=[%s] of %d", strings.Join(names, ", "), len(n.Source.Schema.Fields))
		}
		if n.Source.Time != nil {
			s += fmt.Sprintf(" time=%s lag=%s", n.Source.Time, types.FormatDuration(n.Source.Lag))
			if n.Source.Idle > 0 {
				s += " idle=" + types.FormatDuration(n.Source.Idle)
			}
		}
		if n.Limit > 0 {
			s += fmt.Sprintf(" limit=%d", n.Limit)
		}
		return s
	case Rows:
		parts := make([]string, len(n.Steps))
		for i, st := range n.Steps {
			parts[i] = st.String()
		}
		return "rows " + strings.Join(parts, " > ")
	case Apply:
		return "apply " + argsText(n)
	case Union:
		return "union"
	case Write:
		if n.Write.Conn == nil {
			return "write print"
		}
		return "write " + connText(n.Write.Conn)
	}
	panic(fmt.Sprintf("planner: kind %d", n.Kind))
}

func (s Step) String() string {
	switch {
	case s.Where != nil:
		return "where " + s.Where.String()
	case s.Assert != nil:
		return "assert " + s.Assert.String()
	}
	return "project " + itemsText(s.Project)
}

func itemsText(items []types.Item) string {
	parts := make([]string, len(items))
	for i, it := range items {
		e := it.Expr.String()
		if n := types.QuoteName(it.Name); it.Name != "" && n != e {
			e = n + " = " + e
		}
		if it.Desc {
			e += " desc"
		}
		parts[i] = e
	}
	return strings.Join(parts, ", ")
}
