package planner

import (
	"slices"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib"
)

// A Passage is a stage or source of a plan as rows pass it.
type Passage struct {
	ID     string // stable name
	Source bool
	State  bool // it keeps something
	Parts  []PassagePart
}

// A PassagePart is an operator of a stage. One with an exchange before it may consist of two: what aggregates before the
// exchange, and the stage.
type PassagePart struct {
	ID    string
	In    []types.Schema // by input
	Out   types.Schema   // of the main output
	Ports []string       // names of the further outputs
}

// Nodes are the names of the parts.
func (p *Passage) Nodes() (out []string) {
	for _, x := range p.Parts {
		out = append(out, x.ID)
	}
	return out
}

// Part returns the part with a name, nil if there is none.
func (p *Passage) Part(id string) *PassagePart {
	k := slices.IndexFunc(p.Parts, func(x PassagePart) bool { return x.ID == id })
	if k < 0 {
		return nil
	}
	return &p.Parts[k]
}

// Passages lists the sources and stages of the plan that rows can be watched at, in its order. Stages that are fused into
// one operator are one passage.
func (c *Compiled) Passages(lib *stdlib.Catalog, env *exec.Env) []*Passage {
	ids := nameAll(c.Physical)
	partial := partialOf(lib, env)
	var out []*Passage
	at := map[*Node]*Passage{}
	for _, g := range c.Physical.Groups {
		if g.Scan != nil {
			id := ids.groups[g]
			out = append(out, &Passage{ID: id, Source: true, Parts: []PassagePart{{ID: id, Out: g.Scan.Out.Schema}}})
		}
		eachOp(g.Ports, func(op *Op) {
			n := op.Node
			switch op.Kind {
			case RowsOp:
				out = append(out, &Passage{ID: ids.ops[op], Parts: []PassagePart{{ID: ids.ops[op], In: inputs(n), Out: n.Out.Schema}}})
			case PartialOp, StageOp:
				p := at[n]
				if p == nil {
					p = &Passage{State: n.Traits.State != ""}
					at[n], out = p, append(out, p)
				}
				part := PassagePart{ID: ids.ops[op], In: inputs(n), Out: n.Out.Schema, Ports: n.Traits.Ports}
				if op.Kind == PartialOp {
					part.Out, _ = partial(n)
				} else {
					p.ID = part.ID
					if s, ok := partial(n); ok && op.Merges {
						part.In = []types.Schema{s}
					}
				}
				p.Parts = append(p.Parts, part)
			}
		})
	}
	return out
}

func inputs(n *Node) (out []types.Schema) {
	for _, in := range n.In {
		out = append(out, in.Schema())
	}
	return out
}
