package planner

import (
	"slices"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib"
)

// pruneColumns finds which columns of each node are read and drops the others, down to what the sources decode.
func pruneColumns(p *Plan, _ *stdlib.Catalog) {
	need := map[*Node]map[int]bool{}
	all := func(n *Node) {
		if need[n] == nil {
			need[n] = map[int]bool{}
		}
		for i := range n.Out.Schema.Fields {
			need[n][i] = true
		}
	}
	add := func(n *Node, cols map[int]bool) {
		if need[n] == nil {
			need[n] = map[int]bool{}
		}
		for c := range cols {
			need[n][c] = true
		}
	}
	for i := len(p.Nodes) - 1; i >= 0; i-- {
		n := p.Nodes[i]
		if need[n] == nil {
			need[n] = map[int]bool{}
		}
		switch n.Kind {
		case Scan:
			pruneScan(n, need[n])
		case Rows:
			if read := pruneRows(n, need[n]); n.In[0].Port == 0 {
				add(n.In[0].Node, read)
			}
		case Apply:
			if n.In[0].failures() {
				continue
			}
			if n.Traits.Narrow && n.In[0].Port == 0 && n.Args.OnError.Mode != "into" {
				add(n.In[0].Node, pruneNarrow(n, need[n]))
				continue
			}
			if n.Traits.Passes || n.Late > 0 || n.In[0].Port > 0 || len(n.Args.Aggs)+len(n.Args.By) == 0 {
				all(n.In[0].Node)
				continue
			}
			read := map[int]bool{}
			for _, it := range n.Args.By {
				it.Expr.Columns(read)
			}
			for _, c := range n.Args.Aggs {
				for _, e := range c.Args {
					e.Columns(read)
				}
			}
			add(n.In[0].Node, read)
		default:
			for _, in := range n.In {
				if !in.failures() {
					all(in.Node)
				}
			}
		}
	}
	for _, n := range p.Nodes { // inputs first: their new columns are known
		if n.Kind == Scan {
			continue
		}
		renumber(n)
	}
	p.verify("prune columns")
}

// moved says where an old column of port 0 is now.
func (n *Node) moved(old int) int {
	if n.kept == nil {
		return old
	}
	return n.kept[old]
}

// pruneScan keeps the columns that are read, and those that the event time needs.
func pruneScan(n *Node, need map[int]bool) {
	if n.Source.Time != nil {
		n.Source.Time.Columns(need)
	}
	n.keepOnly(need)
	cols := make([]int, 0, len(need))
	for i := range n.Columns {
		if need[i] {
			cols = append(cols, n.Columns[i])
		}
	}
	n.Columns = cols
}

// pruneNarrow drops what nobody reads of the input's columns that a stage gives out, and returns which it still takes.
func pruneNarrow(n *Node, need map[int]bool) map[int]bool {
	in := n.In[0].Schema()
	read := map[int]bool{}
	made := false
	for i, f := range n.Out.Schema.Fields {
		if slices.ContainsFunc(n.Args.Items, func(it types.Item) bool { return it.Name == f.Name }) {
			need[i], made = true, true // a stage computes its own columns in any case, and rows must have one to be counted by
		} else if need[i] {
			read[in.Index(f.Name)] = true
		}
	}
	n.eachExpr(func(e *types.Expr) *types.Expr {
		e.Columns(read)
		return e
	})
	if made {
		n.keepOnly(need)
	}
	return read
}

// pruneRows drops items that nobody reads, from the last step to the first, and returns which input columns are read.
func pruneRows(n *Node, need map[int]bool) map[int]bool {
	if n.projects() {
		last := len(n.Steps) - 1
		for i := len(n.Steps) - 1; n.Steps[i].Project == nil; i-- { // filters behind the last projection read its items
			n.Steps[i].Where.Columns(need)
			n.Steps[i].Assert.Columns(need)
			last--
		}
		for k, it := range n.Steps[last].Project {
			if n.Steps[last].catches(it) {
				need[k] = true
			}
		}
		n.keepOnly(need)
	}
	for i := len(n.Steps) - 1; i >= 0; i-- {
		st := &n.Steps[i]
		switch {
		case st.Where != nil:
			st.Where.Columns(need)
		case st.Assert != nil:
			st.Assert.Columns(need)
		default:
			below := map[int]bool{}
			var items []types.Item
			at := make([]int, len(st.Project))
			for k, it := range st.Project {
				at[k] = -1
				if need[k] || st.catches(it) {
					at[k] = len(items)
					items = append(items, it)
					it.Expr.Columns(below)
				}
			}
			if len(items) == 0 { // rows must have a column to be counted by
				items = []types.Item{{Name: "row", Expr: types.Const(types.T(types.Bool), true)}}
			}
			st.Project = items
			for k := i + 1; k < len(n.Steps); k++ {
				later := &n.Steps[k]
				shift := func(c int) int { return at[c] }
				if later.Where != nil {
					later.Where = later.Where.Shift(shift)
				} else if later.Assert != nil {
					later.Assert = later.Assert.Shift(shift)
				} else {
					for j := range later.Project {
						later.Project[j].Expr = later.Project[j].Expr.Shift(shift)
					}
					break // what follows reads this projection
				}
			}
			need = below
		}
		if st.Port > 0 && st.canFail() { // rows that fail are given out as they came, whole
			for c := range n.widthBefore(i) {
				need[c] = true
			}
		}
	}
	return need
}

// widthBefore is how many columns the i-th step sees.
func (n *Node) widthBefore(i int) int {
	for k := i - 1; k >= 0; k-- {
		if n.Steps[k].Project != nil {
			return len(n.Steps[k].Project)
		}
	}
	return len(n.In[0].Schema().Fields)
}

// catches reports whether the stage says what becomes of rows for which the item fails: it must be computed even if
// nothing reads it. Otherwise what nothing reads cannot fail.
func (st *Step) catches(it types.Item) bool {
	return (st.OnError.Mode == "drop" || st.OnError.Mode == "into") && !it.Expr.Infallible()
}

// canFail reports whether there may be rows for which the step fails.
func (st *Step) canFail() bool {
	for _, it := range st.Project {
		if !it.Expr.Infallible() {
			return true
		}
	}
	return st.Assert != nil || st.Where != nil && !st.Where.Infallible()
}

// keepOnly cuts the node's output to the needed columns and remembers where they went.
func (n *Node) keepOnly(need map[int]bool) {
	n.kept = make([]int, len(n.Out.Schema.Fields))
	var fields []types.Field
	for i, f := range n.Out.Schema.Fields {
		n.kept[i] = -1
		if need[i] {
			n.kept[i] = len(fields)
			fields = append(fields, f)
		}
	}
	if len(fields) == 0 && n.Kind == Rows && n.projects() {
		fields = []types.Field{{Name: "row", Type: types.T(types.Bool)}}
	}
	n.Out.Schema = types.Schema{Fields: fields}
}

func (n *Node) projects() bool {
	for _, st := range n.Steps {
		if st.Project != nil {
			return true
		}
	}
	return false
}

// renumber makes a node's expressions point to the columns of its pruned input.
func renumber(n *Node) {
	if n.Kind == Union || n.Kind == Write {
		return
	}
	in := n.In[0]
	if n.Kind == Rows && !n.projects() || n.Traits.Narrow && n.Traits.Passes { // these pass their input on as it is
		n.Out.Schema = in.Schema()
		if in.Port == 0 {
			n.kept = in.Node.kept
		}
	}
	if in.Port != 0 || in.Node.kept == nil {
		return
	}
	shift := func(e *types.Expr) *types.Expr { return e.Shift(in.Node.moved) }
	if n.Kind == Apply {
		n.eachExpr(shift)
		return
	}
	for i := range n.Steps { // up to and with the first projection, steps read the input
		st := &n.Steps[i]
		if st.Where != nil {
			st.Where = shift(st.Where)
		} else if st.Assert != nil {
			st.Assert = shift(st.Assert)
		} else {
			for k := range st.Project {
				st.Project[k].Expr = shift(st.Project[k].Expr)
			}
			return
		}
	}
}
