package planner

import (
	"errors"
	"fmt"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/stdlib"
)

// Rolling back: the branch record says where the job stands, then the outputs follow. Whoever opens the folder next makes
// up for what a crash has left undone between the two.

// RolledBack says what a rollback has done.
type RolledBack struct {
	From    checkpoint.ID // the head before; 0: there was none
	To      *checkpoint.Manifest
	Outputs []exec.Undone
}

// Rollback makes checkpoint id the head of a job that does not run, and its outputs what they were then. Paths are those
// of the job: the process must be in its directory. An error of *RefusedError has changed nothing.
func Rollback(s *checkpoint.Store, id checkpoint.ID, lib *stdlib.Catalog, env *exec.Env) (*RolledBack, error) {
	m, err := s.Manifest(id)
	if err == nil {
		err = s.Secure()
	}
	if err != nil {
		return nil, err
	}
	out := &RolledBack{From: s.Head(), To: m}
	if out.From != id {
		if err := prepareRollback(s, m, lib, env); err != nil {
			return nil, err
		}
		if err := s.Rollback(id); err != nil {
			return nil, err
		}
	}
	out.Outputs, err = undoOutputs(s, m, lib, env)
	return out, err
}

// prepareRollback completes the outputs of the head and checks that they can be made those of m.
func prepareRollback(s *checkpoint.Store, m *checkpoint.Manifest, lib *stdlib.Catalog, env *exec.Env) error {
	refused := func(format string, args ...any) error {
		return &RefusedError{fmt.Sprintf("cannot go to checkpoint %d: ", m.ID) + fmt.Sprintf(format, args...)}
	}
	if infoOf(s, m.ID).Foreign {
		return refused("%s", notOurs)
	}
	back, known := s.AsidesOf(m.ID)
	if !known {
		return refused("a fresh start lies between, which has replaced the outputs")
	}
	if head := s.Head(); head != 0 {
		h, err := s.Manifest(head)
		if err != nil {
			return err
		}
		if err := completeOutputs(s, h, lib, env); err != nil {
			return refused("%v", err)
		}
	}
	g, err := savedGraph(m, s.Read, lib, env)
	if err == nil {
		_, err = g.UndoSinks(m, s.Read, "", back)
	}
	if err != nil {
		return refused("%v", err)
	}
	return nil
}

// completeOutputs commits the head, checkpoint m: a run that was killed may have left that to the next one.
func completeOutputs(s *checkpoint.Store, m *checkpoint.Manifest, lib *stdlib.Catalog, env *exec.Env) error {
	err := s.Secure()
	var g *exec.Graph
	if err == nil {
		g, err = savedGraph(m, s.Read, lib, env)
	}
	if err == nil {
		err = g.SettleSinks(m, s.Read)
	}
	if err != nil {
		return fmt.Errorf("the outputs of checkpoint %d cannot be completed: %w", m.ID, err)
	}
	return nil
}

// undoOutputs makes the outputs what they were at the head, checkpoint m, if a rollback led to it and no checkpoint was
// published since. It may have been done already.
func undoOutputs(s *checkpoint.Store, m *checkpoint.Manifest, lib *stdlib.Catalog, env *exec.Env) ([]exec.Undone, error) {
	aside := s.Aside()
	if aside == "" {
		return nil, nil
	}
	g, err := savedGraph(m, s.Read, lib, env)
	if err == nil {
		err = s.Secure()
	}
	if err != nil {
		return nil, fmt.Errorf("taking the outputs back to checkpoint %d: %w", m.ID, err)
	}
	back, _ := s.AsidesOf(m.ID)
	done, err := g.UndoSinks(m, s.Read, aside, back)
	if err != nil {
		return done, fmt.Errorf("taking the outputs back to checkpoint %d: %w", m.ID, err)
	}
	return done, nil
}

// savedGraph makes the graph of the script of a checkpoint.
func savedGraph(m *checkpoint.Manifest, read func(checkpoint.Ref) ([]byte, error), lib *stdlib.Catalog, env *exec.Env) (*exec.Graph, error) {
	c, err := CompileSaved(m, read, lib, env)
	if err != nil {
		return nil, err
	}
	return c.Graph(lib, env), nil
}

// CompileSaved compiles the script of a checkpoint as its run did. read returns a block.
func CompileSaved(m *checkpoint.Manifest, read func(checkpoint.Ref) ([]byte, error), lib *stdlib.Catalog, env *exec.Env) (*Compiled, error) {
	return compileSaved(m, true, read, lib, env)
}

// CompileAgain compiles the script of checkpoint to for the tasks that its run had, which went on from checkpoint from.
func CompileAgain(from, to *checkpoint.Manifest, read func(checkpoint.Ref) ([]byte, error), lib *stdlib.Catalog, env *exec.Env) (*Compiled, error) {
	return compileSaved(to, to.Spread || from.Spread || from.Width > 1, read, lib, env)
}

func compileSaved(m *checkpoint.Manifest, spread bool, read func(checkpoint.Ref) ([]byte, error), lib *stdlib.Catalog, env *exec.Env) (*Compiled, error) {
	if m.Script.IsZero() {
		return nil, errors.New("the checkpoint holds no script")
	}
	data, err := read(m.Script)
	if err != nil {
		return nil, err
	}
	s, err := DecodeScript(data)
	if err != nil {
		return nil, err
	}
	o := s.options(m.Width)
	o.Spread = spread
	c, diags, err := Compile(s.Name, s.Text, lib, env.ReadOnly(), o)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, fmt.Errorf("the script of the checkpoint no longer compiles: %s", firstError(diags))
	}
	return c, nil
}

func firstError(diags []check.Diagnostic) string {
	for _, d := range diags {
		if d.Severity == syntax.SevError {
			return d.Message
		}
	}
	return "for an unknown reason"
}
