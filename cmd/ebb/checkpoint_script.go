package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// script reads the script of a checkpoint.
func (f *folder) script(m *checkpoint.Manifest) (*planner.SavedScript, error) {
	if m.Script.IsZero() {
		return nil, errors.New("the checkpoint holds no script")
	}
	data, err := f.Read(m.Script)
	if err != nil {
		return nil, err
	}
	return planner.DecodeScript(data)
}

// compile compiles the script of a checkpoint as its run did. Paths in it are relative to the run's directory, which
// becomes that of the process.
func (f *folder) compile(m *checkpoint.Manifest) (*planner.Compiled, *exec.Env, error) {
	failed := func(err error) (*planner.Compiled, *exec.Env, error) {
		return nil, nil, &status{exitFailed, fmt.Errorf("cannot read the script of checkpoint %d in %s: %w", m.ID, f.dir, err)}
	}
	s, err := f.script(m)
	if err != nil {
		return failed(err)
	}
	if m.Dir != "" {
		if err := os.Chdir(m.Dir); err != nil {
			return failed(fmt.Errorf("the run's directory %s cannot be entered: %w", m.Dir, reason(err)))
		}
	}
	env := exec.OS()
	o := planner.Options{Set: s.Set, Parallelism: max(m.Width, 1), Spread: true, Print: &types.ConnArgs{Name: "console", Args: map[string]any{"format": "jsonl"}}}
	c, diags, err := planner.Compile(s.Name, s.Text, stdlib.New(), env, o)
	if err != nil {
		return failed(err)
	}
	if c == nil {
		for _, d := range diags {
			if d.Severity == syntax.SevError {
				return failed(fmt.Errorf("it no longer compiles: %s (an input may have gone; a source with a `schema` needs none)", d.Message))
			}
		}
	}
	return c, env, nil
}
