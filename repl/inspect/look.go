package inspect

import (
	"fmt"
	"os"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/disk"
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

// enter goes where the paths of a run are right, or refuses to leave. What is looked at in a copy is looked at where the run
// was: its inputs may not have been copied.
func (f *Folder) enter(m *checkpoint.Manifest) error {
	dir, err := m.Home(disk.OS{}, f.abs)
	if err != nil {
		dir = m.Dir
	}
	here, err := os.Getwd()
	if err != nil || dir == "" || checkpoint.SamePath(disk.OS{}, here, dir) {
		return err
	}
	if f.Stay {
		return fmt.Errorf("its run was in %s, where its files are; `ebb checkpoint` looks into it from anywhere", dir)
	}
	return Enter(dir)
}

// Enter changes to the directory of a run: the paths in its script are relative to it.
func Enter(dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.Chdir(dir); err != nil {
		return fmt.Errorf("the run's directory %s cannot be entered: %w", dir, reason(err))
	}
	return nil
}
