package op

import (
	"math"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Stage{
	Doc: spec.Doc{Name: "sample", Group: "rows", Signature: "sample P",
		Text: "Keep about the fraction P (0 to 1) of the rows. Which ones hangs on where a row was read, so that every run keeps the same.",
		Examples: []spec.Example{{
			Code: `rows([{n: 1}, {n: 2}]) |> sample 1.0`,
			Want: "{\"n\":1}\n{\"n\":2}"}}},
	StageSig: types.StageSig{Items: types.Fraction,
		Output: func(in []types.Stream, _ *types.StageArgs) (types.Stream, error) {
			out := in[0]
			if out.Updating {
				return out, &types.StageError{Code: "W410", Message: "`sample` cannot take an updating stream: a row and what takes it back must go together",
					Help: "sample before the aggregate"}
			}
			return out, nil
		}},
	Traits: func([]types.Stream, *types.StageArgs) spec.Traits {
		return spec.Traits{RowWise: true, Passes: true, Narrow: true, Pos: true}
	},
	New: func(c *spec.StageContext) (exec.Operator, error) {
		s := &sample{all: c.Args.Fraction >= 1}
		s.below = uint64(c.Args.Fraction * math.MaxUint64)
		return s, nil
	},
})

type sample struct {
	exec.Stateless
	below uint64
	all   bool
	n     uint64 // rows without a position (made by an aggregate) are counted instead
}

func (s *sample) Process(_ int, b *vec.Batch, out *exec.Out) error {
	if s.all {
		out.Emit(b)
		return nil
	}
	sel := make([]uint32, 0, b.Rows())
	for i := range b.Rows() {
		r := b.Row(i)
		at := s.n
		if b.Pos != nil {
			at = b.Pos[r]
		}
		s.n++
		if vec.HashInt(int64(at)) < s.below {
			sel = append(sel, uint32(r))
		}
	}
	out.Emit(b.Select(sel))
	return nil
}
