package planner

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/checkpoint"
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

// FactsAgainst is Facts that also compare the script with a checkpoint.
func FactsAgainst(m *checkpoint.Manifest, lib *stdlib.Catalog, env *exec.Env) func(*check.Script) lint.Facts {
	return func(s *check.Script) lint.Facts { return &facts{lib: lib, env: env, script: s, from: m} }
}

type facts struct {
	lib    *stdlib.Catalog
	env    *exec.Env
	script *check.Script
	from   *checkpoint.Manifest // nil: none

	shuffles []lint.Shuffle
	shuffled bool
	reads    map[*check.Source]lint.Reads // to answer takes a look at the disk
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

func (f *facts) Deprecated(kind, name, option string) *types.Deprecated {
	return f.lib.Deprecated(kind, name, option)
}

func (f *facts) Grows(s *check.Stage) string { return f.traits(s).Grows }

func (f *facts) Marks(s *check.Stage) bool { return f.traits(s).Mark }

func (f *facts) Passes(s *check.Stage) bool {
	t := f.traits(s)
	def := f.lib.StageDef(s.Sig.Name)
	return t.RowWise || t.Passes || def != nil && def.New == nil // into, tee and union let rows through
}

func (f *facts) Reads(s *check.Source) lint.Reads {
	if r, known := f.reads[s]; known {
		return r
	}
	def := f.lib.ConnDef(s.Conn.Name)
	r := lint.Reads{Rewinds: len((&World{f.lib, f.env}).Pipes(s.Conn)) == 0, Splits: def.Splits != nil && def.Splits(s.Conn, f.env), Outside: def.Takes != nil}
	r.Takes = func(place string) bool { return place != "" && def.Takes != nil && def.Takes(s.Conn, place, f.env) }
	if f.reads == nil {
		f.reads = map[*check.Source]lint.Reads{}
	}
	f.reads[s] = r
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
	out := lint.Writes{ExactlyOnce: d == spec.ExactlyOnce, Shown: d == spec.Shown, Place: placeOf(&def.ConnSig, w.Conn)}
	if def.File != nil {
		out.File = def.File(w.Conn)
	}
	return out
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

// Shuffles plans what can be planned as for several tasks, whatever this machine has.
func (f *facts) Shuffles() []lint.Shuffle {
	if f.shuffled {
		return f.shuffles
	}
	f.shuffled = true
	p := f.plan()
	if p == nil {
		return nil
	}
	stages := map[string]*check.Stage{}
	for _, st := range f.script.Streams {
		for _, s := range st.Stages {
			stages[s.Args.ID] = s
		}
	}
	rows, numbers := map[string]int{}, map[Input]int{} // as the script has them: rules give each reader the columns that it needs
	for _, n := range p.Nodes {
		if n.Kind == Apply {
			if _, known := numbers[n.In[0]]; !known {
				numbers[n.In[0]] = len(numbers) + 1
			}
			rows[n.Args.ID] = numbers[n.In[0]]
		}
	}
	Optimize(p, f.lib)
	done := map[*Group]bool{}
	for _, e := range Parallelise(p, 2, false, partialOf(f.lib, f.env)).Edges {
		if e.Spread != exec.Hash || done[e.To] {
			continue
		}
		done[e.To] = true
		op := e.To.Ports[0][0].Op
		if s := stages[op.Node.Args.ID]; s != nil {
			f.shuffles = append(f.shuffles, lint.Shuffle{Stage: s, Sums: op.Merges, Rows: rows[s.Args.ID]})
		}
	}
	return f.shuffles
}

// plan makes the logical plan of all outputs that can be planned; nil if none can.
func (f *facts) plan() *Plan {
	s := *f.script
	if p, err := Build(&s, f.lib); err == nil {
		return p
	}
	s.Writes = slices.DeleteFunc(slices.Clone(s.Writes), func(w *check.Write) bool {
		one := s
		one.Writes = []*check.Write{w}
		_, err := Build(&one, f.lib)
		return err != nil
	})
	p, err := Build(&s, f.lib)
	if err != nil {
		return nil
	}
	return p
}

// Fits asks what a run that goes on from the checkpoint would make of it.
func (f *facts) Fits() []lint.Fit {
	if f.from == nil {
		return nil
	}
	p := f.plan()
	if p == nil {
		return nil
	}
	Optimize(p, f.lib)
	width := max(f.from.Width, 1)
	c := &Compiled{Script: f.script, Physical: Parallelise(p, width, false, partialOf(f.lib, f.env)), Options: Options{Parallelism: width}}
	fits, err := c.Fits(f.from, f.lib, f.env, Launch{})
	if err != nil {
		return nil
	}
	var out []lint.Fit
	for _, x := range fits.Kept {
		out = append(out, lint.Fit{Name: x.Stage, Wrong: x.Why})
	}
	for _, name := range fits.New {
		out = append(out, lint.Fit{Name: name, New: true})
	}
	return out
}
