package eval

import (
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// MostFolded is how large a value may be, as vec.MaxValue counts, that takes the place of what it is computed from in a plan: a
// constant is written down in every operator, and a range of a million is made in a millisecond.
const MostFolded = 1 << 20

// Fold replaces what does not depend on a row by its value: pure subtrees over constants, and `and`, `or`, `?:`, `??`
// that a constant decides. What would fail stays as it is, to fail where a row asks for it; so does what is larger than most,
// as vec.MaxValue counts, but for lists that are written out.
func Fold(e *types.Expr, lib Lib, most int) *types.Expr {
	return e.Rewrite(func(x *types.Expr) *types.Expr { return fold(x, lib, most) })
}

func fold(e *types.Expr, lib Lib, most int) *types.Expr {
	if e.Op == types.OpConst || e.Op == types.OpCol {
		return e
	}
	if len(e.Args) > 0 && e.Args[0].Op == types.OpConst {
		if x := decide(e, e.Args[0].Value); x != nil {
			if x.Type.Equal(e.Type) {
				return x
			}
			return fold(&types.Expr{Op: types.OpCast, Type: e.Type, Args: []*types.Expr{x}, Pos: e.Pos}, lib, most)
		}
	}
	switch e.Op {
	case types.OpNow, types.OpEventTime:
		return e
	case types.OpCall:
		if e.Sig != nil && e.Sig.Volatile {
			return e
		}
	}
	for _, a := range e.Args {
		if a.Op != types.OpConst {
			return e
		}
	}
	p, err := compile([]*types.Expr{e}, lib)
	if err != nil {
		return e
	}
	var x Ctx
	c := p.Eval(&x, &vec.Batch{N: 1}, nil)
	if len(x.Fails) > 0 || e.Op != types.OpList && c.Size(0) > most {
		return e
	}
	v := c.Value(0)
	if v == nil && !e.Type.Nullable && e.Type.Kind != types.Null {
		return e
	}
	return &types.Expr{Op: types.OpConst, Type: e.Type, Value: v, Pos: e.Pos}
}

// decide returns the part that e comes down to if its first operand is v, nil if that leaves it open.
func decide(e *types.Expr, v any) *types.Expr {
	switch e.Op {
	case types.OpAnd:
		if v == true {
			return e.Args[1]
		}
		if v == false {
			return e.Args[0]
		}
	case types.OpOr:
		if v == false {
			return e.Args[1]
		}
		if v == true {
			return e.Args[0]
		}
	case types.OpIf:
		if v == true {
			return e.Args[1]
		}
		return e.Args[2]
	case types.OpCoalesce:
		if v == nil {
			return e.Args[1]
		}
		return e.Args[0]
	}
	return nil
}
