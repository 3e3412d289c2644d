package exec

import (
	"fmt"
	"math"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/lang/types"
)

// A Repeater gives out changes: of what its state stands for, all but the latest has been given out already.
type Repeater interface {
	// Repeat makes the operator forget what it has given out, so that everything is owed that its state stands for.
	Repeat()
}

// Show emits what the state of an operator stands for: the rows that it would give out if its input ended now, and those
// that it has given out and may still take back. The operator is of no use afterwards.
func Show(op Operator, out *Out) error {
	if r, ok := op.(Repeater); ok {
		r.Repeat()
	}
	drain := func() error {
		if b, ok := op.(Burster); ok {
			b.Due(math.MaxInt64)
		}
		d, ok := op.(Drainer)
		for more := ok; more; {
			var err error
			if more, err = d.Drain(out); err != nil {
				return err
			}
		}
		return nil
	}
	if err := drain(); err != nil { // what was owed already
		return err
	}
	if err := op.Advance(types.MaxInstant, out); err != nil {
		return err
	}
	if err := drain(); err != nil {
		return err
	}
	if err := op.Finish(out); err != nil {
		return err
	}
	return drain()
}

// Node returns the node with a stable name, nil if there is none.
func (g *Graph) Node(id string) (found *Node) {
	g.each(func(n *Node) {
		if n.ID == id {
			found = n
		}
	})
	return found
}

// each calls f for every node.
func (g *Graph) each(f func(*Node)) {
	seen := map[*Node]bool{}
	var visit func(ports [][]Link)
	visit = func(ports [][]Link) {
		for _, links := range ports {
			for _, l := range links {
				if l.Node != nil && !seen[l.Node] {
					seen[l.Node] = true
					f(l.Node)
					visit(l.Node.Ports)
				}
			}
		}
	}
	for _, gr := range g.Groups {
		visit(gr.Ports)
	}
}

// Watermarks returns how far event time had come at each operator of a saved task; those that had not heard of it are not
// in it. The bytes may be damaged.
func Watermarks(t *checkpoint.Task) (map[string]types.Instant, error) {
	d := &taskData{}
	if err := d.load(checkpoint.NewReader(0, t.Data)); err != nil {
		return nil, fmt.Errorf("reading task %s[%d]: %w", t.Group, t.Index, err)
	}
	out := map[string]types.Instant{}
	for _, n := range d.nodes {
		if n.w != types.MinInstant {
			out[n.id] = n.w
		}
	}
	return out, nil
}
