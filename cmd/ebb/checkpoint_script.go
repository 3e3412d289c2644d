package main

import (
	"encoding/json"
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

// savedScript is the script of a run as its checkpoints keep it, so that their states can be read and the run gone on
// with, whatever becomes of the file.
type savedScript struct {
	Name string            `json:"name"`
	Text string            `json:"text"`
	Set  map[string]string `json:"set,omitempty"`
	Plan string            `json:"plan,omitempty"` // for people
}

// describe returns what fills into a manifest what the engine does not know. The script is stored once a run.
func (s savedScript) describe(job string, width int) func(*checkpoint.Store, *checkpoint.Manifest) error {
	var ref checkpoint.Ref
	return func(store *checkpoint.Store, m *checkpoint.Manifest) error {
		if ref.IsZero() {
			text, err := json.Marshal(s)
			if err != nil {
				return err
			}
			if ref, err = store.Append(exec.ScriptBlock, text); err != nil {
				return err
			}
		}
		m.Job, m.Script, m.Width, m.Engine = job, ref, width, version
		m.Dir, _ = os.Getwd()
		return nil
	}
}

// script reads the script of a checkpoint.
func (f *folder) script(m *checkpoint.Manifest) (*savedScript, error) {
	if m.Script.IsZero() {
		return nil, errors.New("the checkpoint holds no script")
	}
	data, err := f.Read(m.Script)
	if err != nil {
		return nil, err
	}
	s := &savedScript{}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("the script makes no sense: %w", err)
	}
	return s, nil
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
	o := planner.Options{Set: s.Set, Parallelism: m.Width, Spread: true, Print: &types.ConnArgs{Name: "console", Args: map[string]any{"format": "jsonl"}}}
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
