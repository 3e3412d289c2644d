package planner

import (
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/stdlib"
)

// Facts answers what the linter asks of a script: from the catalog, and from the plan of what is right in it.
func Facts(lib *stdlib.Catalog, env *exec.Env) func(*check.Script) lint.Facts {
	return func(*check.Script) lint.Facts { return facts{} }
}

type facts struct{}

func (facts) Grows(*check.Stage) string       { return "" }
func (facts) Reads(*check.Source) lint.Reads  { return lint.Reads{} }
func (facts) Writes(*check.Write) lint.Writes { return lint.Writes{} }
func (facts) Shuffles() []lint.Shuffle        { return nil }
func (facts) Fits() []lint.Misfit             { return nil }
