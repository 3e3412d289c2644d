package inspect

import (
	"fmt"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// A State is what the state of a stage stands for at a moment, as rows.
type State struct{ rows *stateRows }

// StateOf reads the state of a stage of a plan, by its stable name, from what its operators have saved.
func StateOf(c *planner.Compiled, lib *stdlib.Catalog, env *exec.Env, stage string, kept []exec.Kept) (*State, error) {
	return newLive(c, lib, env).state(stage, kept)
}

// live reads states of a plan.
type live struct{ look }

func newLive(c *planner.Compiled, lib *stdlib.Catalog, env *exec.Env) *live {
	return &live{look{c: c, g: c.Graph(lib, env.ReadOnly())}}
}

// state is StateOf.
func (l *live) state(stage string, kept []exec.Kept) (*State, error) {
	l.m, l.read = &checkpoint.Manifest{}, func(r checkpoint.Ref) ([]byte, error) { return kept[r.Offset].Data, nil }
	for i, k := range kept {
		l.m.Tasks = append(l.m.Tasks, checkpoint.Task{Index: k.Task, Nodes: []checkpoint.Node{{ID: k.Node, Fit: k.Fit, Blocks: []checkpoint.Ref{{Offset: uint64(i)}}}}})
	}
	rows, err := l.rowsOf(stage)
	if err != nil {
		return nil, fmt.Errorf("cannot read the state of %s: %w", stage, err)
	}
	return &State{rows}, nil
}

// Rows are the rows and their schema.
func (s *State) Rows() (types.Schema, []*vec.Batch) { return s.rows.Rows, s.rows.batches }

// Len is the number of rows.
func (s *State) Len() (n int64) {
	for _, b := range s.rows.batches {
		n += int64(b.Rows())
	}
	return n
}

// Since returns the rows that differ from those of an earlier state: the first column of each says how.
func (s *State) Since(before *State) (types.Schema, *vec.Batch) {
	return differ(before.rows, s.rows).batch(s.rows.Rows)
}
