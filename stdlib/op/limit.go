package op

import (
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Stage{
	Doc: spec.Doc{Name: "limit", Group: "rows", Signature: "limit N",
		Text: "Let the first N rows through. Where nothing before it spreads rows by key, they are the first in the order of the input. Its output ends by itself: a stream behind it is bounded, and a run whose outputs want no more rows ends.",
		Examples: []spec.Example{{
			Code: `rows([{n: 1}, {n: 2}, {n: 3}]) |> limit 2`,
			Want: "{\"n\":1}\n{\"n\":2}"}}},
	StageSig: types.StageSig{Items: types.Count,
		Output: func(in []types.Stream, _ *types.StageArgs) (types.Stream, error) {
			out := in[0]
			if out.Updating {
				return out, &types.StageError{Code: "W410", Message: "`limit` cannot cut an updating stream: later rows may take earlier ones back",
					Help: "aggregate with `emit final`, or put `limit` before the aggregate"}
			}
			out.Bounded = true // it ends by itself, whatever its input does
			return out, nil
		}},
	Traits: func(_ []types.Stream, a *types.StageArgs) spec.Traits {
		return spec.Traits{Spread: spec.InOrder, Passes: true, Narrow: true, State: "rows so far", Bound: "one number", Limit: a.Count}
	},
	New: func(c *spec.StageContext) (exec.Operator, error) { return &limit{left: c.Args.Count}, nil },
})

type limit struct {
	exec.Stateless
	left int64
}

func (l *limit) Process(_ int, b *vec.Batch, out *exec.Out) error {
	if l.left <= 0 {
		return nil
	}
	if n := int64(b.Rows()); n > l.left {
		b = b.Slice(0, int(l.left))
	}
	l.left -= int64(b.Rows())
	out.Emit(b)
	return nil
}

// Satisfied reports that the operator wants no more rows.
func (l *limit) Satisfied() bool { return l.left <= 0 }
