package planner

import "fmt"

// Stable names: a checkpoint names what it holds by the stages of the script, so that a later run finds its own again, at
// any parallelism and in a script that was edited elsewhere. Ordinals only tell equals apart.

// ids are the stable names of a parallel plan.
type ids struct {
	groups map[*Group]string
	ops    map[*Op]string
	edges  map[*Edge]string
	used   map[string]int
}

var opKinds = [...]string{RowsOp: "rows", StageOp: "", PartialOp: "partial", EncodeOp: "encode", SinkOp: "sink"}

func nameAll(p *Physical) *ids {
	x := &ids{groups: map[*Group]string{}, ops: map[*Op]string{}, edges: map[*Edge]string{}, used: map[string]int{}}
	for _, g := range p.Groups {
		if g.Scan != nil {
			x.groups[g] = x.unique(g.Scan.Source.Name)
		}
		x.ports(g.Ports)
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

func (x *ids) ports(ports [][]Link) {
	for _, links := range ports {
		for _, l := range links {
			if l.Op == nil || x.ops[l.Op] != "" {
				continue
			}
			name := l.Op.Node.Name
			if k := opKinds[l.Op.Kind]; k != "" {
				name += "/" + k
			}
			x.ops[l.Op] = x.unique(name)
			x.ports(l.Op.Ports)
		}
	}
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
		return argsText(n.Args) + " over " + n.In[0].Schema().String()
	case SinkOp:
		return n.String()
	}
	return ""
}

func (l *lowerer) name(p *Physical) {
	x := nameAll(p)
	for g, to := range l.groups {
		to.ID = x.groups[g]
		if g.Scan != nil {
			to.Kind = g.Scan.Source.Conn.Name
			to.Fit = connText(g.Scan.Source.Conn) + " schema " + g.Scan.Source.Schema.String()
		}
	}
	for e, to := range l.edges {
		to.ID = x.edges[e]
	}
	for o, to := range l.nodes {
		to.ID, to.Fit = x.ops[o], o.fit()
	}
}
