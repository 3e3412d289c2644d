package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/repl/inspect"
)

// compare lets the one script be compared with a checkpoint: an ID, a name or -N of the script's own folder, or FOLDER#ID. What
// fits is told on standard error; what does not is a finding.
func (g *gathered) compare(what string) error {
	if what == "" {
		return nil
	}
	if len(g.files) != 1 || len(g.files[0].scripts) != 1 {
		if len(g.files) == 0 {
			return nil // it could not be read
		}
		return usage("--against compares one script with one of its checkpoints")
	}
	t := &g.files[0].scripts[0]
	dir, id, named := strings.Cut(what, "#")
	if info, err := os.Stat(dir); !named && (err != nil || !info.IsDir()) {
		dir, id = filepath.Join(".ebb", strings.TrimSuffix(filepath.Base(t.Name), filepath.Ext(t.Name))), what
		if script, _ := check.Text(t.Name, t.Text, t.Env, check.Options{}); script != nil {
			if set, _ := script.Set["checkpoint.dir"].(string); set != "" {
				dir = set
			}
		}
	}
	folder, err := inspect.Open(dir)
	if err != nil {
		return &status{exitScript, err}
	}
	defer folder.Close()
	info, m, err := folder.Get(id)
	if err != nil {
		return &status{exitScript, err}
	}
	env := exec.OS().ReadOnly()
	env.Stdin = notRead{}
	facts, told := planner.FactsAgainst(m, g.lib, env), false
	t.Facts = func(s *check.Script) lint.Facts {
		f := facts(s)
		if fits := lint.Kept(f); fits != "" && !told {
			told = true
			fmt.Fprintf(os.Stderr, "checkpoint %d: %s\n", info.ID, fits)
		}
		return f
	}
	return nil
}
