package planner

import (
	"fmt"
	"maps"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// Stable names: a checkpoint names what it holds by the stages of the script, so that a later run finds its own again, at
// any parallelism and in a script that was edited elsewhere. Ordinals only tell equals apart.

// ids are the stable names of a parallel plan.
type ids struct {
	groups map[*Group]string
	ops    map[*Op]string
	edges  map[*Edge]string
	used   map[string]int
}

var opKinds = [...]string{RowsOp: "rows", StageOp: "", PartialOp: "partial", EncodeOp: "encode", SinkOp: "sink", UnionOp: "union"}

func nameAll(p *Physical) *ids {
	x := &ids{groups: map[*Group]string{}, ops: map[*Op]string{}, edges: map[*Edge]string{}, used: map[string]int{}}
	for _, g := range p.Groups {
		if g.Scan != nil {
			x.groups[g] = x.unique(g.Scan.Source.Name)
		}
	}
	for _, o := range p.Ops { // not in the order of the groups, which is another one at another width
		name := o.Node.Name
		if k := opKinds[o.Kind]; k != "" {
			name += "/" + k
		}
		x.ops[o] = x.unique(name)
	}
	for _, g := range p.Groups {
		if g.Scan == nil {
			x.groups[g] = x.ops[g.Ports[0][0].Op]
		}
	}
	for _, g := range p.Groups {
		x.edgesOf(x.groups[g], g.Ports)
	}
	return x
}

func (x *ids) unique(name string) string {
	x.used[name]++
	if n := x.used[name]; n > 1 {
		return fmt.Sprintf("%s#%d", name, n)
	}
	return name
}

func (x *ids) edgesOf(from string, ports [][]Link) {
	for p, links := range ports {
		for _, l := range links {
			switch {
			case l.Op != nil:
				x.edgesOf(x.ops[l.Op], l.Op.Ports)
			case x.edges[l.Edge] == "":
				at := from
				if p > 0 {
					at = fmt.Sprintf("%s.%d", from, p)
				}
				x.edges[l.Edge] = x.unique(at + " > " + x.groups[l.Edge.To])
			}
		}
	}
}

// fit is the normalised text of what shapes an operator's state: a checkpoint fits where it is the same.
func (o *Op) fit() string {
	n := o.Node
	switch o.Kind {
	case StageOp, PartialOp:
		return argsText(n) + " over " + n.In[0].Schema().String()
	case SinkOp:
		return n.String()
	}
	return ""
}

// connFit is the normalised text of what shapes the rows of a source and their order.
func connFit(c *types.ConnArgs, def *spec.Conn) string {
	args := *c
	args.Args = maps.Clone(c.Args)
	if def.Loose != nil {
		for _, name := range def.Loose(c) {
			delete(args.Args, name)
		}
	}
	text := connText(&args)
	sum := xxh3.New()
	long := false
	for _, name := range slices.Sorted(maps.Keys(args.Args)) { // what the text leaves out of long lists counts, too
		if list, ok := args.Args[name].([]any); ok && len(list) > mostListed {
			long = true
			fmt.Fprintf(sum, "%s %v\n", name, list)
		}
	}
	if long {
		text += fmt.Sprintf(" %016x", sum.Sum64())
	}
	return text
}

func (l *lowerer) name(p *Physical) {
	x := nameAll(p)
	for g, to := range l.groups {
		to.ID = x.groups[g]
		if g.Scan != nil {
			to.Kind = g.Scan.Source.Conn.Name
			to.Fit = connFit(g.Scan.Source.Conn, l.lib.ConnDef(to.Kind)) + " schema " + g.Scan.Source.Schema.String()
		}
	}
	for e, to := range l.edges {
		to.ID = x.edges[e]
	}
	for o, to := range l.nodes {
		to.ID, to.Fit = x.ops[o], o.fit()
	}
}
