package planner

import "github.com/ebb-lang/ebb/stdlib"

// pushLimits tells a source how many rows are wanted of it, where nothing between it and the limit can drop rows.
func pushLimits(p *Plan, _ *stdlib.Catalog) {
	readers := p.consumers()
	for _, n := range p.Nodes {
		if n.Kind != Apply || n.Traits.Limit == 0 {
			continue
		}
		in := n.In[0]
		for in.Port == 0 && in.Node.Kind == Rows && len(readers[in.Node]) == 1 && in.Node.onlyProjects() {
			in = in.Node.In[0]
		}
		if in.Port == 0 && in.Node.Kind == Scan && len(readers[in.Node]) == 1 {
			in.Node.Limit = n.Traits.Limit
		}
	}
}

func (n *Node) onlyProjects() bool {
	for _, st := range n.Steps {
		if st.Project == nil || st.OnError.Mode != "" && st.OnError.Mode != "fail" {
			return false
		}
	}
	return true
}
