package planner

import (
	"fmt"
	"slices"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// hoistExpressions computes the keys and arguments of a stage that spreads by key in a Rows node before it: the exchange
// needs the keys as columns, and what the stage does not read need not travel.
func hoistExpressions(p *Plan, _ *stdlib.Catalog) {
	for _, n := range p.Nodes {
		if n.Kind != Apply || n.Traits.Passes || len(n.Args.Aggs)+len(n.Args.By) == 0 {
			continue
		}
		in := n.In[0].Schema()
		var items []types.Item
		byText := map[string]int{}
		if n.Late > 0 { // late rows leave as they came
			items = columnItems(in)
			for i, it := range items {
				byText[it.Expr.String()] = i
			}
		}
		hoist := func(name string, e *types.Expr) *types.Expr {
			if e.Op == types.OpConst || e.Op == types.OpEventTime {
				return e
			}
			key := e.String()
			at, ok := byText[key]
			if !ok {
				at = len(items)
				byText[key] = at
				items = append(items, types.Item{Name: name, Expr: e})
			}
			return &types.Expr{Op: types.OpCol, Type: e.Type, Col: at, Name: items[at].Name, Pos: e.Pos}
		}
		a := *n.Args
		a.By = append([]types.Item(nil), a.By...)
		for i := range a.By {
			a.By[i].Expr = hoist(a.By[i].Name, a.By[i].Expr)
		}
		a.Aggs = append([]types.AggCall(nil), a.Aggs...)
		for i := range a.Aggs {
			args := make([]*types.Expr, len(a.Aggs[i].Args))
			for k, e := range a.Aggs[i].Args {
				name := e.Name
				if e.Op != types.OpCol {
					name = fmt.Sprintf("arg%d_%d", i, k)
				}
				args[k] = hoist(name, e)
			}
			a.Aggs[i].Args = args
		}
		st := Step{Stage: stageText(n.Args), OnError: n.Args.OnError}
		st.Project = items
		if n.Errors > 0 {
			st.Port = 1
		}
		if len(items) == 0 { // count() over everything: one column must carry the rows
			st.Project = []types.Item{{Name: "row", Expr: types.Const(types.T(types.Bool), true)}}
		}
		out := n.In[0].Stream()
		out.Schema = types.Schema{Fields: make([]types.Field, len(st.Project))}
		for i, it := range st.Project {
			out.Schema.Fields[i] = types.Field{Name: it.Name, Type: it.Expr.Type}
		}
		r := &Node{Kind: Rows, Name: n.Name, In: []Input{n.In[0]}, Out: out, Steps: []Step{st}}
		p.Nodes = append(p.Nodes, r)
		if n.Errors > 0 { // rows fail where their expressions are evaluated
			own := Input{n, n.Errors}
			p.redirect(own, p.failures(r, own))
		}
		n.In[0] = Input{Node: r}
		n.setArgs(&a)
		if n.Late > 0 && len(items) > len(in.Fields) { // without what has been computed for the stage
			own := Input{n, n.Late}
			late := &Node{Kind: Rows, Name: n.Name, In: []Input{own}, Out: own.Stream(), Steps: []Step{{Stage: st.Stage, Step: spec.Step{Project: columnItems(in)}}}}
			late.Out.Schema = in
			p.Nodes = append(p.Nodes, late)
			p.redirect(own, Input{Node: late})
		}
	}
}

// columnItems returns items that are the columns of a schema.
func columnItems(s types.Schema) []types.Item {
	items := make([]types.Item, len(s.Fields))
	for i, f := range s.Fields {
		items[i] = types.Item{Name: f.Name, Expr: types.ColRef(s, i)}
	}
	return items
}

// failures returns the error rows of a stage whose keys and arguments are computed by r: those of r, and where its results or
// the expressions over them can fail, its own.
func (p *Plan) failures(r *Node, own Input) Input {
	a := own.Node.Args
	if slices.ContainsFunc(a.Post, func(it types.Item) bool { return !it.Expr.Infallible() }) ||
		slices.ContainsFunc(a.Aggs, func(c types.AggCall) bool { return c.Result.Kind == types.List }) { // it may be too large
		u := &Node{Kind: Union, Name: r.Name, In: []Input{{r, 1}, own}, Out: own.Stream()}
		p.Nodes = append(p.Nodes, u)
		return Input{Node: u}
	}
	own.Node.Errors = 0
	return Input{r, 1}
}

// redirect makes who reads `from` read `to`.
func (p *Plan) redirect(from, to Input) {
	for _, n := range p.Nodes {
		for i := range n.In {
			if n.In[i] == from && n != to.Node {
				n.In[i] = to
			}
		}
	}
}
