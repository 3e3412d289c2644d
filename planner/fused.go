package planner

import (
	"errors"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// fused runs the steps of a Rows node over each batch: filters narrow the selection, projections make new columns.
type fused struct {
	exec.Stateless
	steps []fusedStep
	ctx   eval.Ctx
	env   *exec.Env
	// transient tells that nobody keeps the columns of what was emitted.
	transient bool
}

type fusedStep struct {
	where, assert *eval.Prog
	project       *eval.Prog // all items, so that what they share is computed once
	width         int        // of the projection
	fail          spec.Fail
}

func newFused(steps []Step, in types.Schema, lib eval.Lib, env *exec.Env) (*fused, error) {
	f := &fused{env: env}
	compile := func(e *types.Expr) (*eval.Prog, error) { return eval.Compile(e, lib) }
	for _, st := range steps {
		s := fusedStep{fail: failer(st.Stage, st.OnError, st.Port, in, env)}
		var err error
		switch {
		case st.Where != nil:
			s.where, err = compile(st.Where)
		case st.Assert != nil:
			s.assert, err = compile(st.Assert)
		default:
			in = types.Schema{}
			exprs := make([]*types.Expr, len(st.Project))
			for i, it := range st.Project {
				exprs[i] = it.Expr
				in.Fields = append(in.Fields, types.Field{Name: it.Name, Type: it.Expr.Type})
			}
			s.width = len(exprs)
			s.project, err = eval.CompileAll(exprs, lib)
		}
		if err != nil {
			return nil, err
		}
		f.steps = append(f.steps, s)
	}
	return f, nil
}

var errAssert = errors.New("assertion failed")

// Process runs the steps.
func (f *fused) Process(_ int, b *vec.Batch, out *exec.Out) error {
	now := f.env.Now()
	for i := range f.steps {
		s := &f.steps[i]
		if f.transient && s.project != nil {
			s.project.Reuse()
		}
		f.ctx.Reset(now)
		var err error
		switch {
		case s.where != nil:
			sel := s.where.Filter(&f.ctx, b, b.Sel)
			if _, err = s.fail(&f.ctx, b, out); err != nil {
				return err
			}
			if len(sel) == 0 {
				return nil
			}
			if len(sel) < b.Rows() {
				b = b.Select(sel)
			}
		case s.assert != nil:
			sel := s.assert.Filter(&f.ctx, b, b.Sel)
			failOthers(&f.ctx, b, sel)
			if b, err = s.fail(&f.ctx, b, out); err != nil {
				return err
			}
		default:
			cols := make([]*vec.Column, s.width)
			s.project.EvalAll(&f.ctx, b, b.Sel, cols)
			ok, err := s.fail(&f.ctx, b, out)
			if err != nil {
				return err
			}
			b = ok.With(cols)
		}
		if b.Rows() == 0 {
			return nil
		}
	}
	out.Emit(b)
	return nil
}

// failOthers fails the selected rows of b that are not in passed.
func failOthers(x *eval.Ctx, b *vec.Batch, passed []uint32) {
	for i := range b.Rows() {
		r := uint32(b.Row(i))
		if len(passed) > 0 && passed[0] == r {
			passed = passed[1:]
			continue
		}
		x.Fails = append(x.Fails, eval.Fail{Row: int(r), Err: errAssert})
	}
}

// failer makes what deals with the failing rows of a stage whose input has the schema.
func failer(stage string, on types.OnError, port int, in types.Schema, env *exec.Env) spec.Fail {
	failures := exec.Failures{Mode: on.Mode, Port: port, Stats: env.Stats}
	return func(x *eval.Ctx, b *vec.Batch, out *exec.Out) (*vec.Batch, error) {
		fails := x.Failed()
		if len(fails) == 0 {
			return b, nil
		}
		errs := make([]*exec.RowError, len(fails))
		for i, f := range fails {
			errs[i] = &exec.RowError{Stage: stage, Err: f.Err, Raw: string(vec.AppendRowJSON(nil, in.Fields, b.Cols, f.Row))}
			if b.Pos != nil {
				errs[i].Source, errs[i].Row = env.Splits.Where(b.Pos[f.Row])
			}
		}
		if err := failures.Add(out, errs); err != nil {
			return nil, err
		}
		return b.Select(x.Drop(b.Sel, b.N)), nil
	}
}
