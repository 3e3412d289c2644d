package inspect

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
	f    *Folder // nil: of a job that runs
	m    *checkpoint.Manifest
	c    *planner.Compiled
	g    *exec.Graph
	read func(checkpoint.Ref) ([]byte, error)
}

// look compiles the script of a checkpoint as its run did.
func (f *Folder) look(m *checkpoint.Manifest) (*look, error) {
	env := exec.OS()
	err := f.enter(m)
	var c *planner.Compiled
	if err == nil {
		c, err = planner.CompileSaved(m, f.Read, stdlib.New(), env)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the script of checkpoint %d in %s: %w", m.ID, f.Dir, err)
	}
	return &look{f, m, c, c.Graph(stdlib.New(), env), f.Read}, nil
}

// enter goes where the paths of a run are right, or refuses to leave.
func (f *Folder) enter(m *checkpoint.Manifest) error {
	if f.Stay && m.Dir != "" {
		here, err := os.Getwd()
		if err == nil && here != m.Dir {
			err = fmt.Errorf("its run was in %s, where its files are; `ebb checkpoint` looks into it from anywhere", m.Dir)
		}
		return err
	}
	return Enter(m)
}

// Enter changes to the directory of a run: the paths in its script are relative to it.
func Enter(m *checkpoint.Manifest) error {
	if m.Dir == "" {
		return nil
	}
	if err := os.Chdir(m.Dir); err != nil {
		return fmt.Errorf("the run's directory %s cannot be entered: %w", m.Dir, reason(err))
	}
	return nil
}
