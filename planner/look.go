package planner

import (
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
)

// A Stateful is an operator of a plan whose state a checkpoint may hold, for those who look into it.
type Stateful struct {
	ID   string
	Kind string       // stage, partial, sink
	Keys []string     // columns of Rows that tell its rows apart; nil: none do
	Rows types.Schema // what the state of a stage stands for
	New  *exec.Node   // makes it
}

// Stateful finds the operator with a stable name in what Graph has made of the plan.
func (c *Compiled) Stateful(g *exec.Graph, id string) (Stateful, bool) {
	x := nameAll(c.Physical)
	for op, name := range x.ops {
		if name != id {
			continue
		}
		s := Stateful{ID: id, New: g.Node(id)}
		switch op.Kind {
		case StageOp:
			s.Kind, s.Rows = "stage", op.Node.Out.Schema
			for _, k := range op.Node.Traits.Keys {
				if s.Rows.Index(k.Name) >= 0 {
					s.Keys = append(s.Keys, k.Name)
				}
			}
			if len(s.Keys) != len(op.Node.Traits.Keys) {
				s.Keys = nil
			} else if op.Node.Args.Window != nil && s.Rows.Index("window") >= 0 {
				s.Keys = append(s.Keys, "window")
			}
		case PartialOp:
			s.Kind = "partial"
		case SinkOp:
			s.Kind = "sink"
		default:
			s.Kind = "rows"
		}
		return s, s.New != nil
	}
	return Stateful{}, false
}
