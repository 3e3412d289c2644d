package planner

import "github.com/ebb-lang/ebb/stdlib"

// fuseRows merges Rows nodes that follow each other and that nothing else reads.
func fuseRows(p *Plan, _ *stdlib.Catalog) {
	readers := p.consumers()
	for _, n := range p.Nodes { // inputs stand before consumers
		if n.Kind != Rows {
			continue
		}
		for n.In[0].Node.Kind == Rows && n.In[0].Port == 0 && len(readers[n.In[0].Node]) == 1 {
			up := n.In[0].Node
			if errorPorts(up) > 0 { // its readers know the port by its node
				break
			}
			n.Steps = append(append([]Step(nil), up.Steps...), n.Steps...)
			n.In = up.In
		}
	}
}

func errorPorts(n *Node) int {
	ports := 0
	for _, st := range n.Steps {
		if st.Port > 0 {
			ports++
		}
	}
	return ports
}
