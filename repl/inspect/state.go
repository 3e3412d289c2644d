package inspect

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/planner"
)

// PrintState prints what the state of a stage stands for.
func (f *Folder) PrintState(p *Printer, m *checkpoint.Manifest, stage, where string) error {
	id, err := stageOf(m, stage)
	if err != nil {
		return err
	}
	l, err := f.look(m)
	if err != nil {
		return err
	}
	s, err := l.state(id)
	if err != nil {
		return err
	}
	return p.where(where, s.Rows, s.batches...)
}

// Stages returns the names of the stages that hold state, in the order of the plan.
func Stages(m *checkpoint.Manifest) []string {
	var names []string
	for _, t := range m.Tasks {
		for _, n := range t.Nodes {
			if id := strings.TrimSuffix(n.ID, "/partial"); !slices.Contains(names, id) { // is part of the stage's state
				names = append(names, id)
			}
		}
	}
	return names
}

// stageOf returns the one stage of a checkpoint that a word means.
func stageOf(m *checkpoint.Manifest, word string) (string, error) {
	var like []string
	names := Stages(m)
	for _, id := range names {
		if strings.Contains(id, word) {
			like = append(like, id)
		}
	}
	switch {
	case slices.Contains(names, word):
		return word, nil
	case len(like) == 1:
		return like[0], nil
	case len(like) > 1:
		return "", fmt.Errorf("%q may be %s; give more of the name", word, strings.Join(like, ", "))
	case len(names) == 0:
		return "", fmt.Errorf("checkpoint %d holds no state", m.ID)
	}
	return "", fmt.Errorf("checkpoint %d holds no state of %q; it holds that of %s", m.ID, word, strings.Join(names, ", "))
}

// stateRows are the rows that a state stands for.
type stateRows struct {
	planner.Stateful
	batches []*vec.Batch
}

// state reads the state of a stage, of all its tasks.
func (l *look) state(id string) (*stateRows, error) {
	out, err := l.rowsOf(id)
	if err != nil {
		return nil, fmt.Errorf("cannot read the state of %s in checkpoint %d: %w", id, l.m.ID, err)
	}
	return out, nil
}

func (l *look) rowsOf(id string) (*stateRows, error) {
	st, ok := l.c.Stateful(l.g, id)
	if !ok {
		return nil, errors.New("it is no stage; `ebb checkpoint show` says how much it holds")
	}
	out := &stateRows{Stateful: st}
	stages, err := l.load(st.Node)
	if err != nil {
		return nil, err
	}
	if len(st.Partials) > 0 { // what they hold may belong to any key: all is brought into one operator
		if len(stages) == 0 {
			op, err := st.Node.New(0)
			if err != nil {
				return nil, err
			}
			stages = []exec.Operator{op}
		}
		whole, ok := stages[0].(exec.Merger)
		if !ok {
			return nil, errors.New("its parts cannot be put together")
		}
		for _, op := range stages[1:] {
			if err := whole.Merge(op, func(uint64) bool { return true }); err != nil {
				return nil, err
			}
		}
		for _, p := range st.Partials {
			if err := l.flush(p, stages[0], out); err != nil {
				return nil, err
			}
		}
		stages = stages[:1]
	}
	for _, op := range stages {
		if err := exec.Show(op, out.tap()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// load makes a node's operators as they were, one for each task that saved one.
func (l *look) load(n *exec.Node) (ops []exec.Operator, err error) {
	for _, t := range l.m.Tasks {
		for _, saved := range t.Nodes {
			if saved.ID != n.ID {
				continue
			}
			if saved.Fit != n.Fit {
				return nil, fmt.Errorf("it was %q and would be %q now", saved.Fit, n.Fit)
			}
			op, err := n.New(t.Index)
			if err != nil {
				return nil, err
			}
			saver, ok := op.(exec.Saver)
			if !ok {
				return nil, errors.New("this version of ebb keeps no state there")
			}
			for _, blocks := range saved.Chain() {
				data, err := checkpoint.Join(l.read, blocks)
				if err != nil {
					return nil, err
				}
				r := checkpoint.NewReader(l.m.ID, data)
				if err := errors.Join(saver.Load(r), r.Done()); err != nil {
					return nil, err
				}
			}
			ops = append(ops, op)
		}
	}
	return ops, nil
}

// flush lets the operators before an exchange send what they hold to the stage behind it.
func (l *look) flush(partial *exec.Node, to exec.Operator, out *stateRows) error {
	ops, err := l.load(partial)
	if err != nil {
		return err
	}
	for _, op := range ops {
		var failed error
		err := exec.Show(op, exec.NewTap(func(port int, it exec.Item) {
			if port == 0 && it.Kind == exec.Rows && failed == nil {
				failed = to.Process(0, it.Batch, out.tap())
			}
		}))
		if err := errors.Join(err, failed); err != nil {
			return err
		}
	}
	return nil
}

// tap returns an Out that takes down the rows.
func (s *stateRows) tap() *exec.Out {
	return exec.NewTap(func(port int, it exec.Item) {
		if port == 0 && it.Kind == exec.Rows && len(it.Batch.Cols) == len(s.Rows.Fields) {
			s.batches = append(s.batches, &vec.Batch{N: it.Batch.Rows(), Cols: it.Batch.Dense().Cols})
		}
	})
}

// key returns the columns of the schema that tell rows apart: all if none is known to.
func (s *stateRows) key() []int {
	var at []int
	for _, k := range s.Keys {
		at = append(at, s.Rows.Index(k))
	}
	if at == nil {
		for i := range s.Rows.Fields {
			at = append(at, i)
		}
	}
	return at
}
