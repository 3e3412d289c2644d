package planner

import (
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib"
)

// foldConstants evaluates what does not depend on the row, and drops filters that are always true.
func foldConstants(p *Plan, lib *stdlib.Catalog) {
	for _, n := range p.Nodes {
		n.eachExpr(func(e *types.Expr) *types.Expr { return eval.Fold(e, lib, eval.MostFolded).Rewrite(neutral) })
		keep := n.Steps[:0]
		for _, st := range n.Steps {
			if isTrue(st.Where) || isTrue(st.Assert) {
				continue
			}
			keep = append(keep, st)
		}
		n.Steps = keep
	}
}

func isTrue(e *types.Expr) bool { return e != nil && e.Op == types.OpConst && e.Value == true }

// neutral drops operands that decide nothing: `x and true`, `x or false`.
func neutral(e *types.Expr) *types.Expr {
	if e.Op != types.OpAnd && e.Op != types.OpOr {
		return e
	}
	for i, a := range e.Args {
		if a.Op == types.OpConst && a.Value == (e.Op == types.OpAnd) {
			return e.Args[1-i]
		}
	}
	return e
}
