package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/planner"
)

func checkpointState() *cobra.Command {
	var output, where string
	cmd := &cobra.Command{
		Use:   "state DIR ID STAGE",
		Short: "Print what the state of a stage stands for: the rows it would give out if its input ended there",
		Long: "Print what the state of a stage stands for: the rows that it would give out if its input had ended there, and those of a changelog " +
			"that it may still take back. STAGE is a name that `ebb checkpoint show` lists, or a part of one.",
		Args:              checkpointArgs(2, 2, "a checkpoint folder, a checkpoint and a stage"),
		ValidArgsFunction: checkpointWords,
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := newPrinter(output, rowFormats...)
			if err != nil {
				return err
			}
			f, _, m, err := openCheckpoint(args)
			if err != nil {
				return err
			}
			defer f.Close()
			id, err := stageOf(m, args[2])
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
		},
	}
	outputFlag(cmd, &output)
	whereFlag(cmd, &where)
	return cmd
}

// stageOf returns the one stage of a checkpoint that a word means.
func stageOf(m *checkpoint.Manifest, word string) (string, error) {
	var names, like []string
	for _, t := range m.Tasks {
		for _, n := range t.Nodes {
			id := strings.TrimSuffix(n.ID, "/partial") // is part of the stage's state
			if slices.Contains(names, id) {
				continue
			}
			names = append(names, id)
			if strings.Contains(id, word) {
				like = append(like, id)
			}
		}
	}
	switch {
	case slices.Contains(names, word):
		return word, nil
	case len(like) == 1:
		return like[0], nil
	case len(like) > 1:
		return "", &status{exitFailed, fmt.Errorf("%q may be %s; give more of the name", word, strings.Join(like, ", "))}
	case len(names) == 0:
		return "", &status{exitFailed, fmt.Errorf("checkpoint %d holds no state", m.ID)}
	}
	return "", &status{exitFailed, fmt.Errorf("checkpoint %d holds no state of %q; it holds that of %s", m.ID, word, strings.Join(names, ", "))}
}

// stateRows are the rows that a state stands for.
type stateRows struct {
	planner.Stateful
	batches []*vec.Batch
}

// state reads the state of a stage, of all its tasks.
func (l *look) state(id string) (*stateRows, error) {
	out, err := l.read(id)
	if err != nil {
		return nil, &status{exitFailed, fmt.Errorf("cannot read the state of %s in checkpoint %d: %w", id, l.m.ID, err)}
	}
	return out, nil
}

func (l *look) read(id string) (*stateRows, error) {
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
			for _, ref := range saved.Blocks {
				data, err := l.f.Read(ref)
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
