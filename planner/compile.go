package planner

import (
	"runtime"
	"slices"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib"
)

// Options are what the command line says about a run.
type Options struct {
	Set         map[string]string // params
	Parallelism int               // 0: what the script sets, else the number of cores
	Spread      bool              // make the tasks of a wider run also at parallelism 1, for a checkpoint of one
	Print       *types.ConnArgs   // how printed pipelines are written
	// Only, if not nil, says which outputs of the script run: the others, and what leads to them only, are left out.
	Only func(*check.Write) bool
	// Edit, if not nil, may add outputs to the plan before any rule is applied.
	Edit func(*Plan)
}

// Compiled is a script on its way to running.
type Compiled struct {
	Script   *check.Script
	Physical *Physical
	Options  Options
}

// Compile takes a script all the way to a parallel plan: parse, check, build, rules, parallelise. Any error among the
// diagnostics means that there is no plan.
func Compile(name, text string, lib *stdlib.Catalog, env *exec.Env, o Options) (*Compiled, []check.Diagnostic, error) {
	checked, diags := check.Text(name, text, &World{lib, env}, check.Options{Set: o.Set})
	for _, d := range diags {
		if d.Severity == syntax.SevError {
			return nil, diags, nil
		}
	}
	if o.Only != nil {
		checked.Writes = slices.DeleteFunc(checked.Writes, func(w *check.Write) bool { return !o.Only(w) })
	}
	p, err := Build(checked, lib)
	if err != nil {
		return nil, diags, err
	}
	if o.Edit != nil {
		o.Edit(p)
		p.sweep()
	}
	Optimize(p, lib)
	if o.Parallelism == 0 {
		if n, ok := checked.Set["parallelism"].(int64); ok {
			o.Parallelism = int(n)
		} else {
			o.Parallelism = runtime.GOMAXPROCS(0)
		}
	}
	return &Compiled{Script: checked, Physical: Parallelise(p, o.Parallelism, o.Spread, partialOf(lib, env)), Options: o}, diags, nil
}

// Graph makes what exec runs.
func (c *Compiled) Graph(lib *stdlib.Catalog, env *exec.Env) *exec.Graph {
	return Lower(c.Physical, lib, env, c.Options.Print)
}

// Explain prints the plan: "logical", "physical", "dot", "mermaid", "json", or "", which is the first two.
func (c *Compiled) Explain(form string) (string, error) {
	switch form {
	case "logical":
		return c.Physical.Logical.Text(), nil
	case "physical":
		return c.Physical.Text(), nil
	case "dot":
		return c.Physical.Dot(nil), nil
	case "mermaid":
		return c.Physical.Mermaid(), nil
	case "json":
		return c.Physical.JSON()
	}
	return "logical plan\n" + c.Physical.Logical.Text() + "\nparallel plan\n" + c.Physical.Text(), nil
}
