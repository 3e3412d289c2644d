package disk

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// names is what a folder holds: as it is seen, as it is durable, and the changes between the two, in order.
type names struct {
	cur, kept map[string]*node
	log       []nameOp
}

// nameOp is one change of names; both halves happen or none.
type nameOp struct {
	set  string // this name is to's
	to   *node
	gone string // this name is no more
	// A rename from one folder to another is a change in each, of the same pair: they are durable together or not at all.
	pair  int
	other *node
}

func (o nameOp) apply(m map[string]*node) {
	if o.gone != "" {
		delete(m, o.gone)
	}
	if o.to != nil {
		m[o.set] = o.to
	}
}

func (n *names) change(o nameOp) {
	o.apply(n.cur)
	n.log = append(n.log, o)
}

// settle makes the first k changes durable.
func (n *names) settle(k int) {
	ops := n.log[:k]
	n.log = n.log[k:]
	for _, o := range ops {
		o.apply(n.kept)
		if o.pair != 0 {
			if i := o.other.find(o.pair); i >= 0 {
				o.other.settle(i + 1)
			}
		}
	}
}

// find returns where the half of a pair stands in the log, -1 if it is durable.
func (n *names) find(pair int) int {
	return slices.IndexFunc(n.log, func(o nameOp) bool { return o.pair == pair })
}

// copier copies a tree, with what rng leaves of it; without rng as it is.
type copier struct {
	rng  *rand.Rand
	done map[*node]*node
	dirs []*node
	cuts map[*node]int // how many changes of a folder survive
}

// cut decides for every folder how many changes of names survive.
func (c *copier) cut(root *node) {
	c.walk(root)
	for again := true; again; {
		again = false
		for _, d := range c.dirs {
			for i, o := range d.log[:c.cuts[d]] {
				if o.pair == 0 {
					continue
				}
				if _, known := c.cuts[o.other]; !known {
					continue // it can be reached in no way any more
				}
				if j := o.other.find(o.pair); j >= c.cuts[o.other] {
					c.cuts[d] = i
					again = true
					break
				}
			}
		}
	}
}

func (c *copier) walk(d *node) {
	if _, seen := c.cuts[d]; seen || !d.dir {
		return
	}
	c.dirs = append(c.dirs, d)
	c.cuts[d] = c.rng.IntN(len(d.log) + 1)
	for _, m := range []map[string]*node{d.kept, d.cur} {
		for _, k := range sorted(m) {
			c.walk(m[k])
		}
	}
	for _, o := range d.log {
		if o.to != nil {
			c.walk(o.to)
		}
	}
}

func (c *copier) node(n *node) *node {
	if out := c.done[n]; out != nil {
		return out
	}
	out := &node{number: n.number, dir: n.dir, mod: n.mod}
	c.done[n] = out
	switch {
	case !n.dir && c.rng == nil:
		out.content = n.content.clone()
	case !n.dir:
		out.content = n.content.crash(c.rng)
	case c.rng == nil:
		out.cur, out.kept = c.names(n.cur), c.names(n.kept)
		for _, o := range n.log {
			if o.to != nil {
				o.to = c.node(o.to)
			}
			if o.other != nil {
				o.other = c.node(o.other)
			}
			out.log = append(out.log, o)
		}
	default:
		kept := maps.Clone(n.kept)
		for _, o := range n.log[:c.cuts[n]] {
			o.apply(kept)
		}
		out.cur = c.names(kept)
		out.kept = maps.Clone(out.cur)
	}
	return out
}

func (c *copier) names(m map[string]*node) map[string]*node {
	out := make(map[string]*node, len(m))
	for _, k := range sorted(m) {
		out[k] = c.node(m[k])
	}
	return out
}

func sorted(m map[string]*node) []string { return slices.Sorted(maps.Keys(m)) }
