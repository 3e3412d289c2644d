package op

import (
	"fmt"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/eval"
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
		prog, err := eval.Compile(c.Args.Items[0].Expr, c.Lib)
		if err != nil {
			return nil, err
		}
		u := &unnest{prog: prog, fail: c.Fail, ctx: &eval.Ctx{}, now: c.Env.Now}
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

// unnest holds the rows that a batch of long lists still owes, so that one step stays bounded.
type unnest struct {
	exec.Stateless
	prog *eval.Prog
	ctx  *eval.Ctx
	fail spec.Fail
	now  func() int64
	from []int // the input's column that each of the output is, -1: the element
}

func (u *unnest) Process(_ int, b *vec.Batch, out *exec.Out) error {
	u.ctx.Reset(u.now())
	list := u.prog.Eval(u.ctx, b, b.Sel)
	b, err := u.fail(u.ctx, b, out)
	if err != nil {
		return err
	}
	var rows, elems []uint32
	flush := func() {
		if len(rows) == 0 {
			return
		}
		o := b.With(nil).Gather(rows)
		for _, from := range u.from {
			if from < 0 {
				o.Cols = append(o.Cols, list.Kids[0].Gather(elems))
			} else {
				o.Cols = append(o.Cols, b.Cols[from].Gather(rows))
			}
		}
		out.Emit(o)
		rows, elems = rows[:0], elems[:0]
	}
	for i := range b.Rows() {
		r := b.Row(i)
		if list.Null(r) {
			continue
		}
		for j := list.Offs[r]; j < list.Offs[r+1]; j++ {
			rows, elems = append(rows, uint32(r)), append(elems, uint32(j))
			if len(rows) == vec.MaxRows {
				flush()
			}
		}
	}
	flush()
	return nil
}
