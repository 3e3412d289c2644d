package op

import (
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Stage{
	Doc: spec.Doc{Name: "split", Group: "flow", Signature: "split { when EXPR => TARGET … else => TARGET }",
		Text: "Send each row to the target of the first case that is true. Without `else` the other rows are dropped. It ends the pipeline.",
		Examples: []spec.Example{{
			Code: "rows([{n: 1}, {n: 20}])\n    |> split {\n        when n < 10 => small\n        else => blackhole()\n    }\nsmall |> derive size = \"small\"",
			Want: `{"n":1,"size":"small"}`}}},
	StageSig: types.StageSig{Items: types.Branches, Ends: true, Output: same},
	Traits: func(_ []types.Stream, a *types.StageArgs) spec.Traits {
		t := spec.Traits{RowWise: true, Passes: true}
		for _, b := range a.Branches {
			t.Ports = append(t.Ports, b.Target)
		}
		return t
	},
	New: func(c *spec.StageContext) (exec.Operator, error) {
		s := &split{ctx: &eval.Ctx{}, fail: c.Fail, now: c.Env.Now}
		for _, b := range c.Args.Branches {
			if b.When == nil {
				s.when = append(s.when, nil)
				continue
			}
			p, err := eval.Compile(b.When, c.Lib)
			if err != nil {
				return nil, err
			}
			s.when = append(s.when, p)
		}
		return s, nil
	},
})

// split emits the rows of case i to port i+1.
type split struct {
	exec.Stateless
	when []*eval.Prog // nil: else
	ctx  *eval.Ctx
	fail spec.Fail
	now  func() int64
}

func (s *split) Process(_ int, b *vec.Batch, out *exec.Out) error {
	rest := b
	for i, w := range s.when {
		if rest.Rows() == 0 {
			return nil
		}
		if w == nil {
			out.EmitTo(i+1, rest)
			return nil
		}
		s.ctx.Reset(s.now())
		hit := w.Filter(s.ctx, rest, rest.Sel)
		ok, err := s.fail(s.ctx, rest, out)
		if err != nil {
			return err
		}
		if len(hit) > 0 {
			out.EmitTo(i+1, b.Select(append([]uint32(nil), hit...)))
		}
		rest = ok.Select(without(ok, hit))
	}
	return nil
}

// without returns the selected rows of b that are not in gone, a subset in the same order.
func without(b *vec.Batch, gone []uint32) []uint32 {
	rest := make([]uint32, 0, b.Rows()-len(gone))
	for i := range b.Rows() {
		r := uint32(b.Row(i))
		if len(gone) > 0 && gone[0] == r {
			gone = gone[1:]
			continue
		}
		rest = append(rest, r)
	}
	return rest
}
