package planner

import (
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
)

// A Stateful is a stage of a plan whose state a checkpoint may hold, for those who look into it.
type Stateful struct {
	ID   string
	Node *exec.Node
	// Partials aggregate before the stage's exchange: what they hold is on its way to the stage.
	Partials []*exec.Node
	Rows     types.Schema // what the state stands for
	Keys     []string     // columns of Rows that tell rows apart; nil: none do
}

// Stateful finds the stage with a stable name in what Graph has made of the plan.
func (c *Compiled) Stateful(g *exec.Graph, id string) (Stateful, bool) {
	x := nameAll(c.Physical)
	for op, name := range x.ops {
		if name == id && op.Kind == StageOp {
			s := Stateful{ID: id, Node: g.Node(id), Rows: op.Node.Out.Schema, Keys: keysOf(op.Node)}
			for other, name := range x.ops {
				if other.Kind == PartialOp && other.Node == op.Node {
					s.Partials = append(s.Partials, g.Node(name))
				}
			}
			return s, s.Node != nil
		}
	}
	return Stateful{}, false
}

// keysOf returns the columns of a stage's output that hold its keys.
func keysOf(n *Node) (keys []string) {
	for _, k := range n.Traits.Keys {
		if n.Out.Schema.Index(k.Name) < 0 {
			return nil
		}
		keys = append(keys, k.Name)
	}
	if n.Args.Window != nil && n.Out.Schema.Index("window") >= 0 {
		keys = append(keys, "window")
	}
	return keys
}
