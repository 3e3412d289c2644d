package planner

import "github.com/ebb-lang/ebb/lang/types"

// Carries returns the rows that a stage or source, by its stable name, emits in the plan: what nobody reads is not among
// their columns.
func (c *Compiled) Carries(id string) (types.Stream, bool) {
	x := nameAll(c.Physical)
	for g, name := range x.groups {
		if name == id && g.Scan != nil {
			return g.Scan.Out, true
		}
	}
	for op, name := range x.ops {
		if name == id && op.Kind == StageOp {
			return op.Node.Out, true
		}
	}
	return types.Stream{}, false
}
