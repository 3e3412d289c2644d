package planner

import (
	"fmt"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib"
)

// rule is one rewrite of a logical plan. Rules run once each, in order: the order is a decision.
type rule struct {
	name  string
	apply func(p *Plan, lib *stdlib.Catalog)
}

var rules = []rule{
	{"fold constants", foldConstants},       // first, so that filters that are always true are gone
	{"hoist expressions", hoistExpressions}, // before fusion: the rows it adds fuse with those before them
	{"fuse rows", fuseRows},                 // before push-down, which moves filters inside one node
	{"push filters down", pushFilters},      // before pruning: a filter may be all that reads a column
	{"prune columns", pruneColumns},         // projection push-down, into the sources
	{"merge projections", mergeProjections}, // after pruning, which may leave only names
	{"push limits down", pushLimits},        // last: it only looks
}

// Optimize applies the rules.
func Optimize(p *Plan, lib *stdlib.Catalog) {
	for _, r := range rules {
		r.apply(p, lib)
		p.sweep()
	}
}

// eachExpr replaces every expression of a node by f of it.
func (n *Node) eachExpr(f func(*types.Expr) *types.Expr) {
	items := func(in []types.Item) []types.Item {
		out := make([]types.Item, len(in))
		for i, it := range in {
			out[i] = it
			out[i].Expr = f(it.Expr)
		}
		return out
	}
	for i := range n.Steps {
		st := &n.Steps[i]
		switch {
		case st.Where != nil:
			st.Where = f(st.Where)
		case st.Assert != nil:
			st.Assert = f(st.Assert)
		default:
			st.Project = items(st.Project)
		}
	}
	if n.Kind != Apply {
		return
	}
	a := *n.Args
	a.Items = items(a.Items)
	a.By = items(a.By)
	a.Per = items(a.Per)
	a.Aggs = append([]types.AggCall(nil), a.Aggs...)
	for i := range a.Aggs {
		args := make([]*types.Expr, len(a.Aggs[i].Args))
		for k, e := range a.Aggs[i].Args {
			args[k] = f(e)
		}
		a.Aggs[i].Args = args
	}
	a.Branches = append([]types.Branch(nil), a.Branches...)
	for i := range a.Branches {
		if a.Branches[i].When != nil {
			a.Branches[i].When = f(a.Branches[i].When)
		}
	}
	n.setArgs(&a)
}

// setArgs gives an Apply other arguments, which may change what it asks of its input.
func (n *Node) setArgs(a *types.StageArgs) {
	n.Args = a
	ins := make([]types.Stream, len(n.In))
	for i, in := range n.In {
		ins[i] = in.Stream()
	}
	n.Traits = n.Stage.Traits(ins, a)
}

// verify panics if a column reference of the plan points past its input: a rule that breaks a plan must not run it.
func (p *Plan) verify(after string) {
	for _, n := range p.Nodes {
		if n.Kind == Scan {
			continue
		}
		width := len(n.In[0].Schema().Fields)
		check := func(e *types.Expr) {
			e.Walk(func(x *types.Expr) bool {
				if x.Op == types.OpCol && (x.Col < 0 || x.Col >= width) {
					panic(fmt.Sprintf("planner: after rule %q: column %d of %d in %s", after, x.Col, width, n))
				}
				return true
			})
		}
		for _, st := range n.Steps {
			check(st.Where)
			check(st.Assert)
			for _, it := range st.Project {
				check(it.Expr)
			}
			if st.Project != nil {
				width = len(st.Project)
			}
		}
		if n.Kind == Apply {
			for _, it := range n.Args.By {
				check(it.Expr)
			}
			for _, c := range n.Args.Aggs {
				for _, e := range c.Args {
					check(e)
				}
			}
		}
	}
}
