package planner

import (
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib"
)

// farthest is over how many projections a filter is moved at most: each filter over each, and a pipeline of thousands of
// stages would be planned for minutes.
const farthest = 256

// pushFilters moves filters before the projections that they do not need, so that dropped rows are not computed. It
// never moves one before something that can fail: which rows fail must not depend on the plan.
func pushFilters(p *Plan, _ *stdlib.Catalog) {
	for _, n := range p.Nodes {
		for i := 1; i < len(n.Steps); i++ {
			for k := i; k > max(0, i-farthest) && n.Steps[k].Where != nil && n.Steps[k-1].Project != nil; k-- {
				w, ok := before(n.Steps[k].Where, n.Steps[k-1].Project)
				if !ok {
					break
				}
				st := n.Steps[k]
				st.Where = w
				n.Steps[k], n.Steps[k-1] = n.Steps[k-1], st
			}
		}
	}
	// Filters at the head of a Rows node go on through a union, into each of its inputs.
	for i := len(p.Nodes) - 1; i >= 0; i-- {
		n := p.Nodes[i]
		if n.Kind != Rows || n.In[0].Node.Kind != Union || len(n.Steps) == 0 || n.Steps[0].Where == nil || len(p.consumers()[n.In[0].Node]) > 1 {
			continue
		}
		u := n.In[0].Node
		for len(n.Steps) > 0 && n.Steps[0].Where != nil && n.Steps[0].Port == 0 {
			for k, in := range u.In {
				out := in.Stream()
				r := &Node{Kind: Rows, Name: n.Name, In: []Input{in}, Out: out, Steps: []Step{n.Steps[0]}}
				p.Nodes = append(p.Nodes, r)
				u.In[k] = Input{Node: r}
			}
			n.Steps = n.Steps[1:]
		}
	}
	p.sweep()
	fuseRows(p, nil)
}

// before rewrites a filter over a projection's output to one over its input. It says no where the projection can fail,
// or where the filter would compute something twice.
func before(w *types.Expr, project []types.Item) (*types.Expr, bool) {
	for _, it := range project {
		if !it.Expr.Infallible() {
			return nil, false
		}
	}
	ok := true
	out := w.Rewrite(func(x *types.Expr) *types.Expr {
		if x.Op != types.OpCol {
			return x
		}
		e := project[x.Col].Expr
		if e.Op != types.OpCol && e.Op != types.OpConst && e.Op != types.OpField {
			ok = false
		}
		return e
	})
	return out, ok
}
