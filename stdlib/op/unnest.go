package op

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Stage{
	Doc: spec.Doc{Name: "unnest", Group: "rows", Signature: "unnest EXPR as NAME",
		Text: "Make one row of each element of a list; the other columns stay. An empty or null list gives no row.",
		Examples: []spec.Example{{
			Code: `rows([{id: 1, tags: ["a", "b"]}, {id: 2, tags: []}]) |> unnest tags as tag |> select id, tag`,
			Want: "{\"id\":1,\"tag\":\"a\"}\n{\"id\":1,\"tag\":\"b\"}"}}},
	StageSig: types.StageSig{Items: types.ListAs,
		Output: func(in []types.Stream, a *types.StageArgs) (types.Stream, error) {
			out := in[0]
			it := a.Items[0]
			if it.Expr.Type.Kind != types.List {
				return out, &types.StageError{Code: "T201", Clause: "item:0", Message: fmt.Sprintf("`unnest` takes a list, not %s", it.Expr.Type),
					Help: "declare the column as a list in the schema, for example `tags: [string]`"}
			}
			out.Schema.Fields = assign(append([]types.Field(nil), out.Schema.Fields...), types.Field{Name: it.Name, Type: *it.Expr.Type.Elem})
			return out, nil
		}},
	Traits: func([]types.Stream, *types.StageArgs) spec.Traits { return spec.Traits{RowWise: true, Narrow: true} },
	New: func(c *spec.StageContext) (exec.Operator, error) {
		list := c.Args.Items[0].Expr
		prog, err := eval.Compile(list, c.Lib)
		if err != nil {
			return nil, err
		}
		u := &unnest{prog: prog, fail: c.Fail, ctx: &eval.Ctx{}, env: c.Env, pace: exec.Pace{First: 1}, cols: append(columnTypes(c.In[0].Schema), list.Type)}
		for _, f := range c.Out.Schema.Fields {
			from := -1
			if f.Name != c.Args.Items[0].Name {
				from = c.In[0].Schema.Index(f.Name)
			}
			u.from = append(u.from, from)
		}
		return u, nil
	},
})

// unnest gives out a batch at a time; what is left of the lists it owes.
type unnest struct {
	exec.Stateless
	prog  *eval.Prog
	ctx   *eval.Ctx
	fail  spec.Fail
	env   *exec.Env
	cols  []types.Type // of what is saved
	from  []int        // the input's column that each of the output is, -1: the element
	owed  []lists      // in order
	later []lists      // of other tasks, by chunk
	pace  exec.Pace
	// reached is the chunk of what comes next.
	reached int64
}

// lists is a batch with a list for each row; what is before an element of a row is given out already.
type lists struct {
	b     *vec.Batch
	list  *vec.Column
	row   int // among the selected ones
	elem  int // of the row's list
	chunk int64
}

func (u *unnest) Process(_ int, b *vec.Batch, out *exec.Out) error {
	u.ctx.Reset(u.env.Now())
	list := u.prog.Eval(u.ctx, b, b.Sel)
	b, err := u.fail(u.ctx, b, out)
	if err != nil {
		return err
	}
	u.owed = append(u.owed, lists{b: b, list: list})
	if len(u.owed) == 1 {
		_, err = u.Drain(out)
	}
	return err
}

// Owes reports whether something is left of the lists whose turn it is.
func (u *unnest) Owes() bool { return len(u.owed) > 0 || u.due() }

func (u *unnest) due() bool {
	return len(u.later) > 0 && (u.later[0].chunk <= u.reached || fault.On("lists-too-early"))
}

// Drain gives out a batch.
func (u *unnest) Drain(out *exec.Out) (bool, error) {
	if len(u.owed) == 0 {
		return false, nil
	}
	l := &u.owed[0]
	rows, elems := l.take(u.most())
	if len(rows) > 0 {
		from := u.env.Now() // of the copies, too: another column may be a long list
		o := l.b.With(nil).Gather(rows)
		for _, from := range u.from {
			if from < 0 {
				o.Cols = append(o.Cols, l.list.Kids[0].Gather(elems))
			} else {
				o.Cols = append(o.Cols, l.b.Cols[from].Gather(rows))
			}
		}
		out.Emit(o)
		u.pace.Took(len(rows), u.env.Now()-from)
	}
	if l.row == l.b.Rows() {
		u.owed[0] = lists{}
		u.owed = u.owed[1:]
	}
	return u.Owes(), nil
}

// most returns how many rows a piece has at most.
func (u *unnest) most() int {
	if u.env.StepRows != nil {
		return u.env.StepRows()
	}
	return u.pace.Rows()
}

// take takes at most so many elements: the physical row that each is of, and its place among all elements.
func (l *lists) take(most int) (rows, elems []uint32) {
	for ; l.row < l.b.Rows(); l.row, l.elem = l.row+1, 0 {
		r := l.b.Row(l.row)
		if l.list.Null(r) {
			continue
		}
		first, end := int(l.list.Offs[r])+l.elem, int(l.list.Offs[r+1])
		n := min(end-first, most-len(rows))
		for e := first; e < first+n; e++ {
			rows, elems = append(rows, uint32(r)), append(elems, uint32(e))
		}
		if l.elem += n; first+n < end {
			return rows, elems
		}
	}
	return rows, elems
}

// Later takes over what another task owed.
func (u *unnest) Later(from exec.Operator, at int64, mine func(chunk int64) bool) {
	o, ok := from.(*unnest)
	if !ok {
		return
	}
	for _, l := range o.owed {
		l.chunk = at
		o.later = append(o.later, l)
	}
	for _, l := range o.later {
		if mine(l.chunk) {
			u.later = append(u.later, l)
		}
	}
	slices.SortStableFunc(u.later, func(a, b lists) int { return cmp.Compare(a.chunk, b.chunk) })
}

// Due makes owed what was taken over of the first chunk.
func (u *unnest) Due(reached int64) (chunk int64, ok bool) {
	u.reached = reached
	if len(u.owed) > 0 || !u.due() {
		return 0, false
	}
	chunk = u.later[0].chunk
	for len(u.later) > 0 && u.later[0].chunk == chunk {
		u.owed, u.later = append(u.owed, u.later[0]), u.later[1:]
	}
	return chunk, true
}

// Save writes what is left of the lists: nothing, mostly.
func (u *unnest) Save(w *checkpoint.Writer) error {
	if len(u.owed)+len(u.later) == 0 || fault.On("forget-lists") {
		return nil
	}
	for _, all := range [][]lists{u.owed, u.later} {
		var batches []*vec.Batch
		w.Uint(uint64(len(all)))
		for _, l := range all {
			w.Uint(uint64(l.elem))
			w.Int(l.chunk)
			b := l.b.Slice(l.row, l.b.Rows())
			batches = append(batches, b.With(append(slices.Clone(b.Cols), l.list)))
		}
		state.SaveBatches(w, batches)
	}
	return nil
}

// Load reads what Save wrote.
func (u *unnest) Load(r *checkpoint.Reader) error {
	u.owed, u.later = nil, nil
	if r.Left() == 0 {
		return nil
	}
	for _, to := range []*[]lists{&u.owed, &u.later} {
		all := make([]lists, r.Count(2))
		for i := range all {
			all[i].elem, all[i].chunk = int(r.Uint()), r.Int()
		}
		batches := state.LoadBatches(r, u.cols)
		if r.Err() == nil && len(batches) != len(all) {
			r.Fail("%d batches of lists, not %d", len(batches), len(all))
		}
		if r.Err() != nil {
			return r.Err()
		}
		for i, b := range batches {
			l, last := &all[i], len(b.Cols)-1
			l.b, l.list = b.With(b.Cols[:last:last]), b.Cols[last]
			if l.elem != 0 && (b.N == 0 || l.list.Null(0) || l.elem < 0 || l.elem > int(l.list.Offs[1]-l.list.Offs[0])) {
				r.Fail("element %d of a list that has it not", l.elem)
				return r.Err()
			}
		}
		*to = all
	}
	return r.Err()
}
