package exec

import (
	"fmt"

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
func (g *Graph) Node(id string) *Node {
	var find func(ports [][]Link) *Node
	find = func(ports [][]Link) *Node {
		for _, links := range ports {
			for _, l := range links {
				if l.Node == nil {
					continue
				}
				if l.Node.ID == id {
					return l.Node
				}
				if n := find(l.Node.Ports); n != nil {
					return n
				}
			}
		}
		return nil
	}
	for _, gr := range g.Groups {
		if n := find(gr.Ports); n != nil {
			return n
		}
	}
	return nil
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
