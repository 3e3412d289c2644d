package planner

import (
	"slices"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib"
)

// mergeProjections makes one projection of two where the second only picks and names columns of the first.
func mergeProjections(p *Plan, _ *stdlib.Catalog) {
	for _, n := range p.Nodes {
		steps := n.Steps[:0:0]
		for _, st := range n.Steps {
			if k := len(steps) - 1; k >= 0 && steps[k].Project != nil && picks(st.Project) && !steps[k].losesFailures(st.Project) {
				items := make([]types.Item, len(st.Project))
				for i, it := range st.Project {
					items[i] = types.Item{Name: it.Name, Expr: steps[k].Project[it.Expr.Col].Expr}
				}
				steps[k].Project = items
				continue
			}
			steps = append(steps, st)
		}
		n.Steps = steps
	}
}

// losesFailures reports whether the step has items whose failures are caught and that a projection of it does not pick.
func (st *Step) losesFailures(picked []types.Item) bool {
	for i, it := range st.Project {
		if st.catches(it) && !slices.ContainsFunc(picked, func(p types.Item) bool { return p.Expr.Col == i }) {
			return true
		}
	}
	return false
}

// picks reports whether a projection only names columns, each at most once: a column that stands twice would be
// computed twice.
func picks(project []types.Item) bool {
	seen := map[int]bool{}
	for _, it := range project {
		if it.Expr.Op != types.OpCol || seen[it.Expr.Col] {
			return false
		}
		seen[it.Expr.Col] = true
	}
	return project != nil
}
