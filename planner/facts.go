package planner

import (
	"path/filepath"
	"strings"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// Facts answers what the linter asks of a script: from the catalog, and from the plan of what is right in it.
func Facts(lib *stdlib.Catalog, env *exec.Env) func(*check.Script) lint.Facts {
	return func(s *check.Script) lint.Facts { return &facts{lib: lib, env: env, script: s} }
}

type facts struct {
	lib    *stdlib.Catalog
	env    *exec.Env
	script *check.Script
}

// traits asks the definition of a stage how this use wants to be run.
func (f *facts) traits(s *check.Stage) spec.Traits {
	def := f.lib.StageDef(s.Sig.Name)
	switch {
	case def == nil:
	case def.Steps != nil:
		return spec.Traits{RowWise: true}
	case def.Traits != nil:
		return def.Traits(s.In, s.Args)
	}
	return spec.Traits{}
}

func (f *facts) Grows(s *check.Stage) string { return f.traits(s).Grows }

func (f *facts) Marks(s *check.Stage) bool { return f.traits(s).Mark }

func (f *facts) Passes(s *check.Stage) bool {
	t := f.traits(s)
	def := f.lib.StageDef(s.Sig.Name)
	return t.RowWise || t.Passes || def != nil && def.New == nil // into, tee and union let rows through
}

func (f *facts) Reads(s *check.Source) lint.Reads {
	def := f.lib.ConnDef(s.Conn.Name)
	r := lint.Reads{Rewinds: def.Rewinds == nil || def.Rewinds(s.Conn, f.env), Splits: def.Splits != nil && def.Splits(s.Conn, f.env)}
	r.Takes = func(place string) bool { return place != "" && def.Takes != nil && def.Takes(s.Conn, place, f.env) }
	return r
}

func (f *facts) Writes(w *check.Write) lint.Writes {
	if w.Conn == nil {
		return lint.Writes{Shown: true}
	}
	def := f.lib.ConnDef(w.Conn.Name)
	d := spec.AtLeastOnce
	if def.Delivery != nil {
		d = def.Delivery(w.Conn, f.env)
	}
	return lint.Writes{ExactlyOnce: d == spec.ExactlyOnce, Shown: d == spec.Shown, Place: placeOf(&def.ConnSig, w.Conn)}
}

// placeOf is where an output lies.
func placeOf(sig *types.ConnSig, a *types.ConnArgs) string {
	for _, p := range sig.Params {
		at, ok := a.Args[p.Name].(string)
		if list, many := a.Args[p.Name].([]any); many && len(list) == 1 {
			at, ok = list[0].(string)
		}
		if p.Place && ok && at != "-" && !strings.HasPrefix(at, "/dev/") {
			return filepath.Clean(at)
		}
	}
	return ""
}

func (f *facts) Shuffles() []lint.Shuffle { return nil }

func (f *facts) Fits() []lint.Fit { return nil }
