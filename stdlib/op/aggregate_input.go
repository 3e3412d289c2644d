package op

import (
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// inputs evaluates the keys and arguments of an aggregate over its input.
type inputs struct {
	prog   *eval.Prog // keys, then arguments; nil behind a partial aggregation
	keys   int
	types  []types.Type // of keys and arguments
	cols   []*vec.Column
	ctx    eval.Ctx
	fail   spec.Fail
	env    *exec.Env
	all    []uint32
	hashes []uint64
	rows   rowsIn
	shape  partialShape
	reuse  bool // nobody keeps the columns beyond the next take
}

// rowsIn is a batch as the stage sees it: the rows that count, with keys and arguments as columns.
type rowsIn struct {
	b      *vec.Batch
	n      int      // physical rows
	rows   []uint32 // those that count
	keys   []*vec.Column
	args   []*vec.Column
	hashes []uint64 // of the keys of rows[i]
	time   []int64
	mark   []int64
	pos    []uint64
	change []vec.Change

	// Behind a partial aggregation: the slice of each physical row, and the end of the first window that it counts in.
	slice, open []int64
}

func newInputs(c *spec.StageContext, args []*types.Expr) (*inputs, error) {
	in := &inputs{keys: len(c.Args.By), fail: c.Fail, env: c.Env}
	if c.Partial {
		in.shape = shapeOf(c)
		return in, nil
	}
	exprs := make([]*types.Expr, 0, len(c.Args.By)+len(args))
	for _, k := range c.Args.By {
		exprs = append(exprs, k.Expr)
	}
	exprs = append(exprs, args...)
	for _, e := range exprs {
		in.types = append(in.types, e.Type)
	}
	var err error
	in.prog, err = eval.CompileAll(exprs, c.Lib)
	in.cols = make([]*vec.Column, len(exprs))
	return in, err
}

// take evaluates over b. What it returns is good until the next call; its columns live on.
func (in *inputs) take(b *vec.Batch, out *exec.Out) (*rowsIn, error) {
	r := &in.rows
	if in.prog == nil {
		cols := b.Cols
		r.keys, cols = cols[:in.keys], cols[in.keys:]
		if in.shape.sliced {
			r.slice, r.open, cols = cols[0].Ints, cols[1].Ints, cols[2:]
		}
		r.args = cols
	} else {
		in.ctx.Reset(in.env.Now())
		if in.reuse {
			in.prog.Reuse()
		} else {
			in.cols = make([]*vec.Column, len(in.cols))
		}
		in.prog.EvalAll(&in.ctx, b, nil, in.cols)
		var err error
		if b, err = in.fail(&in.ctx, b, out); err != nil {
			return nil, err
		}
		r.keys, r.args = in.cols[:in.keys], in.cols[in.keys:]
	}
	r.b, r.n = b, b.N
	r.time, r.mark, r.pos, r.change = b.Time, b.Mark, b.Pos, b.Change
	r.rows = b.Sel
	if r.rows == nil {
		r.rows = in.identity(b.N)
	}
	in.hash(r)
	return r, nil
}

// kept returns rows that a state.Buffer gives back: their keys, then their arguments. They are good until the next call.
func (in *inputs) kept(b *vec.Batch) *rowsIn {
	r := &in.rows
	*r = rowsIn{b: b, n: b.N, rows: in.identity(b.N), keys: b.Cols[:in.keys], args: b.Cols[in.keys:], time: b.Time, pos: b.Pos}
	in.hash(r)
	return r
}

func (in *inputs) hash(r *rowsIn) {
	if cap(in.hashes) < len(r.rows) {
		in.hashes = make([]uint64, max(len(r.rows), vec.MaxRows))
	}
	r.hashes = in.hashes[:len(r.rows)]
	vec.Hash(&vec.Batch{N: r.n, Sel: r.b.Sel}, r.keys, r.hashes)
}

// identity returns the numbers from 0 to n-1, to be read only.
func (in *inputs) identity(n int) []uint32 {
	for i := len(in.all); i < n; i++ {
		in.all = append(in.all, uint32(i))
	}
	return in.all[:n]
}

// keyTypes returns the types of the keys.
func keyTypes(a *types.StageArgs) []types.Type {
	ts := make([]types.Type, len(a.By))
	for i, k := range a.By {
		ts[i] = k.Expr.Type
	}
	return ts
}

// lateness takes late rows aside: it counts them and sends them, as they came, to the port of late rows.
type lateness struct {
	port   int
	env    *exec.Env
	stage  string
	fields []types.Field // of the rows; nil: they have been aggregated before
	rows   []uint32
}

func newLateness(c *spec.StageContext) lateness {
	l := lateness{port: c.LatePort, env: c.Env, stage: c.Args.Name}
	if p := c.Args.Pos.String(); p != "" {
		l.stage = p + ": " + l.stage
	}
	if !c.Partial {
		l.fields = c.In[0].Schema.Fields
	}
	return l
}

func (l *lateness) add(r uint32) { l.rows = append(l.rows, r) }

// send gives out the late rows of b; those are in the order of the batch.
func (l *lateness) send(b *vec.Batch, out *exec.Out) {
	if len(l.rows) == 0 {
		return
	}
	if s := l.env.Stats; s != nil {
		s.Late.Add(int64(len(l.rows)))
		if l.port == 0 {
			s.LateDropped.Add(int64(len(l.rows)))
		}
		sampleLate(l.env, l.stage, l.fields, b, l.rows)
	}
	if l.port > 0 {
		out.EmitTo(l.port, b.Select(append([]uint32(nil), l.rows...)))
	}
	l.rows = l.rows[:0]
}

// satAdd and satSub stay within event time.
func satAdd(a, b int64) int64 {
	c := a + b
	if b >= 0 && c < a {
		return types.MaxInstant
	}
	if b < 0 && c > a {
		return types.MinInstant
	}
	return c
}

func satSub(a, b int64) int64 {
	c := a - b
	if b >= 0 && c > a {
		return types.MinInstant
	}
	if b < 0 && c < a {
		return types.MaxInstant
	}
	return c
}
