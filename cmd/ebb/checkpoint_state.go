package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
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
			f, err := openFolder(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			i, err := f.at(args, 1)
			if err != nil {
				return err
			}
			m, err := f.manifest(i.ID)
			if err != nil {
				return err
			}
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

// stageOf returns the one node of a checkpoint that a word means.
func stageOf(m *checkpoint.Manifest, word string) (string, error) {
	var names, like []string
	for _, t := range m.Tasks {
		for _, n := range t.Nodes {
			if n.ID == word {
				return word, nil
			}
			if slices.Contains(names, n.ID) {
				continue
			}
			names = append(names, n.ID)
			if strings.Contains(n.ID, word) {
				like = append(like, n.ID)
			}
		}
	}
	switch {
	case len(like) == 1:
		return like[0], nil
	case len(like) > 1:
		return "", &status{exitFailed, fmt.Errorf("%q may be %s; give more of the name", word, strings.Join(like, ", "))}
	case len(names) == 0:
		return "", &status{exitFailed, fmt.Errorf("checkpoint %d holds no state", m.ID)}
	}
	return "", &status{exitFailed, fmt.Errorf("checkpoint %d holds no state of %q; it holds that of %s", m.ID, word, strings.Join(names, ", "))}
}

// look is a checkpoint with its script compiled, to read states with the operators that wrote them.
type look struct {
	f *folder
	m *checkpoint.Manifest
	c *planner.Compiled
	g *exec.Graph
}

// stateRows are the rows that a state stands for.
type stateRows struct {
	planner.Stateful
	batches []*vec.Batch
}

func (f *folder) look(m *checkpoint.Manifest) (*look, error) {
	c, env, err := f.compile(m)
	if err != nil {
		return nil, err
	}
	return &look{f, m, c, c.Graph(stdlib.New(), env)}, nil
}

// state reads the state of a stage, of all its tasks.
func (l *look) state(id string) (*stateRows, error) {
	failed := func(err error) (*stateRows, error) {
		return nil, &status{exitFailed, fmt.Errorf("cannot read the state of %s in checkpoint %d: %w", id, l.m.ID, err)}
	}
	st, ok := l.c.Stateful(l.g, id)
	if !ok || st.Kind != "stage" {
		return failed(fmt.Errorf("it is no stage; `ebb checkpoint show` says how much it holds"))
	}
	out := &stateRows{Stateful: st}
	for i, t := range l.m.Tasks {
		for _, n := range t.Nodes {
			if n.ID != id {
				continue
			}
			if err := out.add(l, &l.m.Tasks[i], n); err != nil {
				return failed(err)
			}
		}
	}
	return out, nil
}

// add loads the state of one task and takes down what it stands for.
func (s *stateRows) add(l *look, t *checkpoint.Task, n checkpoint.Node) error {
	op, err := s.New.New(t.Index)
	if err != nil {
		return err
	}
	saver, ok := op.(exec.Saver)
	if !ok {
		return fmt.Errorf("a stage of this version keeps no state there")
	}
	if n.Fit != s.New.Fit {
		return fmt.Errorf("it was %q and would be %q now", n.Fit, s.New.Fit)
	}
	for _, ref := range n.Blocks {
		data, err := l.f.Read(ref)
		if err != nil {
			return err
		}
		r := checkpoint.NewReader(l.m.ID, data)
		if err := saver.Load(r); err != nil {
			return err
		}
		if err := r.Done(); err != nil {
			return err
		}
	}
	return exec.Show(op, exec.NewTap(func(port int, it exec.Item) {
		if port == 0 && it.Kind == exec.Rows && len(it.Batch.Cols) == len(s.Rows.Fields) {
			s.batches = append(s.batches, &vec.Batch{N: it.Batch.Rows(), Cols: it.Batch.Dense().Cols})
		}
	}))
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
