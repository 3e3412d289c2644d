package planner

import (
	"strings"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/stdlib"
)

// Fits says what a run of a script would make of a checkpoint.
type Fits struct {
	Kept []exec.Fit // what the checkpoint keeps, in the order of its plan
	// New are sources, stages with state and outputs of the script that the checkpoint keeps nothing of: they begin empty.
	New []string
}

// Unfit returns what the script has no place for: a run that goes on from the checkpoint is refused because of it.
func (f *Fits) Unfit() (out []exec.Fit) {
	for _, x := range f.Kept {
		if x.Fate == exec.Unfit {
			out = append(out, x)
		}
	}
	return out
}

// Fits says what a run that goes on from a checkpoint would take of it. Nothing is started or changed; an error of
// *RefusedError says that a stage is to be dropped that the checkpoint keeps nothing of.
func (c *Compiled) Fits(m *checkpoint.Manifest, lib *stdlib.Catalog, env *exec.Env, o Launch) (*Fits, error) {
	own := *c
	look := env.ReadOnly()
	own.spreadOut(m, lib, look)
	_, _, other := checkpoint.CutPath(o.From)
	x := &exec.Restore{Manifest: m, Drop: o.drop(), NewOutputs: other}
	if err := unknownDrop(x); err != nil {
		return nil, err
	}
	out := &Fits{Kept: x.Fits(own.Graph(lib, look))}
	kept := map[string]bool{}
	for _, f := range out.Kept {
		kept[f.Stage] = true
	}
	add := func(name string) {
		if name = strings.TrimSuffix(name, "/partial"); !kept[name] {
			kept[name] = true
			out.New = append(out.New, name)
		}
	}
	ids := nameAll(own.Physical)
	for _, g := range own.Physical.Groups {
		if g.Scan != nil {
			add(ids.groups[g])
		}
		eachOp(g.Ports, func(op *Op) {
			if op.Kind == SinkOp || op.Kind == StageOp && op.Node.Traits.State != "" {
				add(ids.ops[op])
			}
		})
	}
	return out, nil
}

func eachOp(ports [][]Link, f func(*Op)) {
	for _, links := range ports {
		for _, l := range links {
			if l.Op != nil {
				f(l.Op)
				eachOp(l.Op.Ports, f)
			}
		}
	}
}
