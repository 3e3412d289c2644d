package planner

import (
	"fmt"
	"io"
	"os"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib"
)

// World answers what the checker asks: by the catalog, and by looking at files.
type World struct {
	*stdlib.Catalog
	Env *exec.Env
}

// Source describes an input, opening it if its schema must be inferred.
func (w *World) Source(a *types.ConnArgs, declared *types.Schema) (types.SourceInfo, error) {
	return w.ConnDef(a.Name).Info(a, declared, w.Env)
}

// Pipes returns what an input reads that gives each row once.
func (w *World) Pipes(a *types.ConnArgs) []types.Pipe {
	d := w.ConnDef(a.Name)
	if d.Pipes == nil {
		return nil
	}
	return d.Pipes(a, w.Env)
}

// Updating reports whether a sink takes updating streams.
func (w *World) Updating(a *types.ConnArgs) bool {
	d := w.ConnDef(a.Name)
	return d.Updating != nil && d.Updating(a)
}

// ReadScript reads a file of `use`.
func (w *World) ReadScript(path string) (string, error) {
	f, err := w.Env.FS.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	return string(text), err
}

// Getenv is env("NAME") of the language.
func (w *World) Getenv(name string) (string, bool) { return os.LookupEnv(name) }

// Fold evaluates an expression that reads no column, for constants of a script.
func (w *World) Fold(e *types.Expr) (any, error) {
	c := eval.Fold(e, w.Catalog, vec.MaxValue)
	if c.Op != types.OpConst {
		return nil, fmt.Errorf("%s has no value", e)
	}
	return c.Value, nil
}
