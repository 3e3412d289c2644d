package planner

import (
	"slices"

	"github.com/ebb-lang/ebb/stdlib"
)

// fuseRows merges Rows nodes that follow each other and that nothing else reads.
func fuseRows(p *Plan, _ *stdlib.Catalog) {
	readers := p.consumers()
	failing := map[*Node]bool{} // have ports of error rows, of those that took others in
	for _, n := range p.Nodes { // inputs stand before consumers
		if n.Kind != Rows {
			continue
		}
		for n.In[0].Node.Kind == Rows && n.In[0].Port == 0 && len(readers[n.In[0].Node]) == 1 {
			up := n.In[0].Node
			fails, known := failing[up]
			if !known {
				fails = errorPorts(up) > 0
			}
			if fails { // its readers know the port by its node
				break
			}
			failing[n] = errorPorts(n) > 0
			steps := up.Steps
			if !known { // not made here: others may hold it
				steps = slices.Clip(steps)
			}
			n.Steps = append(steps, n.Steps...) // a pipeline of thousands of stages would be copied as often
			n.In, up.Steps = up.In, nil
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
