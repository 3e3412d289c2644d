package exec

import (
	"errors"
	"fmt"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/fault"
)

// An Undoer is a Sink whose output can be taken back to a checkpoint, or forward again, while no run writes it. One that
// is none cannot: what it wrote is out of reach.
type Undoer interface {
	// Undo makes the output what it was at a checkpoint, but for what its Commit adds, and says what that did to each
	// file. What is cut off is kept before anything is changed, so that Undo may be called again after a crash. The sink
	// is only closed afterwards.
	Undo(u *Undo) ([]Undone, error)
}

// Undo says what an output is to become.
type Undo struct {
	State *checkpoint.Reader // what the sink has saved at the checkpoint
	// Aside is the folder that takes what is cut off; it need not exist. If it is "" nothing is changed: Undo says what it
	// would do, and fails if it could not.
	Aside string
	// Back are folders that earlier rollbacks have filled, the newest first: what was cut then comes back, one rollback
	// after the other, before the output is cut to the checkpoint.
	Back []string
}

// Undone is what became of a file of an output.
type Undone struct {
	Output string
	Cut    int64  // bytes that were cut off and set aside
	Rows   int64  // rows in them, as far as they are known
	Back   int64  // bytes that were put back
	Why    string // why nothing could be done; "" if it was
}

// UndoSinks takes the outputs of a graph that does not run to checkpoint m, see Undo. read returns a block.
func (g *Graph) UndoSinks(m *checkpoint.Manifest, read func(checkpoint.Ref) ([]byte, error), aside string, back []string) (all []Undone, err error) {
	x := &Restore{Manifest: m, Read: read}
	for i, n := range g.sinks() {
		if i > 0 && aside != "" && fault.On("undo-first-output") {
			break
		}
		done, err := x.undo(n, aside, back)
		if err != nil {
			return all, err
		}
		all = append(all, done...)
	}
	return all, nil
}

func (x *Restore) undo(n *Node, aside string, back []string) (done []Undone, err error) {
	state, op, err := x.sink(n)
	if err != nil {
		return nil, err
	}
	if op == nil {
		return []Undone{{Output: n.Name, Why: "what was written cannot be taken back"}}, nil
	}
	defer func() { err = errors.Join(err, op.Close()) }()
	u, ok := op.Sink.(Undoer)
	if !ok {
		return []Undone{{Output: n.Name, Why: "what was written cannot be taken back"}}, nil
	}
	return u.Undo(&Undo{State: state, Aside: aside, Back: back})
}

// SettleSinks commits the outputs of a graph that does not run up to checkpoint m, as a run that goes on from it would.
func (g *Graph) SettleSinks(m *checkpoint.Manifest, read func(checkpoint.Ref) ([]byte, error)) error {
	x := &Restore{Manifest: m, Read: read}
	for _, n := range g.sinks() {
		if err := x.settle(n); err != nil {
			return err
		}
	}
	return nil
}

func (x *Restore) settle(n *Node) (err error) {
	state, op, err := x.sink(n)
	if err != nil || op == nil {
		return err
	}
	defer func() { err = errors.Join(err, op.Close()) }()
	if err := op.Load(state); err != nil {
		return err
	}
	if c, ok := op.Sink.(Committer); ok {
		return c.Commit(x.Manifest.ID, true)
	}
	return nil
}

// sink makes a sink and returns what it has saved; nil if it has saved nothing.
func (x *Restore) sink(n *Node) (*checkpoint.Reader, *SinkOperator, error) {
	parts := x.parts(n.ID)
	if len(parts) == 0 {
		return nil, nil, nil
	}
	if len(parts) != 1 || len(parts[0]) != 1 {
		return nil, nil, fmt.Errorf("%s: the state of an output is not one block", n.ID)
	}
	saved, err := x.open(n.ID, parts[0])
	if err != nil {
		return nil, nil, err
	}
	op, err := n.New(0)
	if err != nil {
		return nil, nil, err
	}
	s, ok := op.(*SinkOperator)
	if !ok {
		return nil, nil, fmt.Errorf("%s: no output", n.ID)
	}
	return saved[0], s, nil
}

func (g *Graph) sinks() (all []*Node) {
	g.each(func(n *Node) {
		if n.Sink {
			all = append(all, n)
		}
	})
	return all
}
