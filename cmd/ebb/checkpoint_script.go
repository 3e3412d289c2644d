package main

import (
	"fmt"
	"os"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// look is a checkpoint with its script compiled, to read states with the operators that wrote them.
type look struct {
	f *folder
	m *checkpoint.Manifest
	c *planner.Compiled
	g *exec.Graph
}

// look compiles the script of a checkpoint as its run did. Paths in it are relative to the run's directory, which becomes
// that of the process.
func (f *folder) look(m *checkpoint.Manifest) (*look, error) {
	env := exec.OS()
	err := enter(m)
	var c *planner.Compiled
	if err == nil {
		c, err = planner.CompileSaved(m, f.Read, stdlib.New(), env)
	}
	if err != nil {
		return nil, &status{exitFailed, fmt.Errorf("cannot read the script of checkpoint %d in %s: %w", m.ID, f.dir, err)}
	}
	return &look{f, m, c, c.Graph(stdlib.New(), env)}, nil
}

// enter changes to the directory of a run.
func enter(m *checkpoint.Manifest) error {
	if m.Dir == "" {
		return nil
	}
	if err := os.Chdir(m.Dir); err != nil {
		return fmt.Errorf("the run's directory %s cannot be entered: %w", m.Dir, reason(err))
	}
	return nil
}
