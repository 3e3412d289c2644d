package lint

import (
	"fmt"
	"slices"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// What no row reaches, and columns that are computed for nothing.
var _ = define(
	Rule{
		Code: "N102", Name: "unreachable", Severity: syntax.SevWarn, Fix: Unsafe,
		Text: "No row reaches a stage or a branch of `split`.",
		Why: "Behind `limit 0` or a `where` that is never true there are no rows, and a branch gets none if those before it take all that it asks for: the first one " +
			"that is true takes the row.",
		Bad:   "source orders = csv(\"orders.csv\")\norders |> split {\n    when amount > 10.0 => blackhole()\n    when amount > 20.0 => console()\n    else => console()\n}\n",
		Good:  "source orders = csv(\"orders.csv\")\norders |> split {\n    when amount > 20.0 => console()\n    when amount > 10.0 => blackhole()\n    else => console()\n}\n",
		Check: unreachable,
	},
	Rule{
		Code: "N104", Name: "column-for-nothing", Severity: syntax.SevWarn, Fix: Unsafe,
		Text:  "A derived column is overwritten or dropped before anything reads it.",
		Why:   "It is computed for nothing, or something that should read it reads another column.",
		Bad:   "csv(\"orders.csv\") |> derive net = amount / 1.19, tax = amount - amount / 1.19 |> select id, net\n",
		Good:  "csv(\"orders.csv\") |> derive net = amount / 1.19, tax = amount - net |> select id, net, tax\n",
		Check: forNothing,
	},
)

func unreachable(p *Pass) {
	of := p.byExpr()
	never := func(exprs ...*syntax.Expr) bool {
		return p.jointly(of, exprs, func(fs []*formula) bool {
			f := &formula{op: "and", args: fs}
			if f.never() {
				return true
			}
			_, _, found := exclusive(fs[0])
			return found && fs[0].op == "and"
		})
	}
	p.runs(func(list []*syntax.Stage) {
		var chain []*syntax.Expr
		for i, s := range list {
			why := ""
			switch {
			case s.Name.Name == "where" && len(s.Items) == 1:
				chain = append(lastOf(chain), s.Items[0].Expr)
				if never(s.Items[0].Expr) || len(chain) > 1 && never(chain...) {
					why = "the `where` before it is never true"
				}
			case s.Name.Name == "limit" && len(s.Items) == 1 && len(s.Items[0].Expr.Tokens) == 1 && s.Items[0].Expr.Text == "0":
				why, chain = "`limit 0` lets none pass", nil
			default:
				chain = nil
			}
			if why != "" && i+1 < len(list) {
				if next := list[i+1]; next.Name.Name != "union" && next.Name.Name != "full join" {
					p.Report(next.Name.Span, fmt.Sprintf("`%s` gets no rows: %s", next.Name.Name, why), "", nil)
				}
				return
			}
		}
	})
	p.runs(func(list []*syntax.Stage) {
		for _, s := range list {
			p.unreachableBranches(of, s)
		}
	})
}

// unreachableBranches finds branches whose rows those before take.
func (p *Pass) unreachableBranches(of map[*syntax.Expr][]*reading, s *syntax.Stage) {
	var before []*syntax.Expr
	for i, c := range s.Cases {
		exprs := before
		if c.When != nil {
			exprs = append(before[:len(before):len(before)], c.When)
		}
		taken := len(before) > 0 && p.jointly(of, exprs, func(fs []*formula) bool {
			earlier := &formula{op: "or", args: fs[:len(before)]}
			if c.When == nil {
				return earlier.always()
			}
			this := fs[len(fs)-1]
			if this.never() {
				return false // that is said of the condition
			}
			all, known := try(fs, func() bool { return this.value() != yes || earlier.value() == yes })
			return all && known
		})
		if taken {
			at, what := c.Target.Span, "the branches before it take every row"
			if c.When != nil {
				at, what = c.When.Span, "the branches before it take all rows for which this is true"
			}
			h := syntax.Span{Start: s.Cases[i-1].End, End: c.End}
			p.Report(at, "no row reaches this branch: "+what, "put the narrower condition first", p.cut(h, Unsafe, "take the branch away"))
		}
		if c.When != nil {
			before = append(lastOf(before), c.When)
		}
	}
}

func forNothing(p *Pass) {
	trees := map[*check.Stage]*syntax.Stage{}
	uses := map[*syntax.Stage]int{}
	for _, s := range p.Stages {
		trees[s.Checked] = s.Tree
		uses[s.Tree]++
	}
	type column struct {
		stage *syntax.Stage
		item  int
	}
	why := map[column][]string{}
	wanted := map[column]bool{} // a `drop` needs it
	for _, stream := range p.Checked.Streams {
		for i, s := range stream.Stages {
			tree := trees[s]
			if tree == nil || s.Sig.Items != types.Assign || len(tree.Items) != len(s.Args.Items) {
				continue
			}
			for k, it := range s.Args.Items {
				if s.Args.OnError.Mode != "" && !unfailing(it.Expr) {
					continue // it sorts out the rows for which it fails
				}
				if fate, by := p.fate(stream.Stages[i:], trees, it.Name, k); fate != "" {
					c := column{tree, k}
					why[c] = append(why[c], fate)
					wanted[c] = wanted[c] || by.Sig.Items == types.ColumnList && s.In[0].Schema.Index(it.Name) < 0
				}
			}
		}
	}
	p.runs(func(list []*syntax.Stage) {
		for i, s := range list {
			for k, it := range s.Items {
				fates := why[column{s, k}]
				if len(fates) == 0 || len(fates) != uses[s] {
					continue // a caller of the pipe reads it
				}
				name := it.Expr.Text
				at := it.Span
				if it.Name != nil {
					name, at = it.Name.Name, it.Name.Span
				}
				var fix *Fix
				if !wanted[column{s, k}] {
					fix = p.withoutItem(list, i, k)
				}
				p.Report(at, fmt.Sprintf("`%s` is computed for nothing: %s", name, fates[0]), "", fix)
			}
		}
	})
}

// fate says how a column that item k of the first stage makes goes away before anything reads it, and by which stage; "" if it
// does not.
func (p *Pass) fate(stages []*check.Stage, trees map[*check.Stage]*syntax.Stage, name string, k int) (string, *check.Stage) {
	first := stages[0]
	if leaves(trees[first]) {
		return "", nil
	}
	own := len(first.In[0].Schema.Fields) + k
	for _, it := range first.Args.Items[k+1:] {
		if readsColumn(it.Expr, own) {
			return "", nil
		}
	}
	for _, s := range stages[1:min(len(stages), farthest)] {
		tree := trees[s]
		if tree == nil || leaves(tree) || len(s.In) == 0 {
			return "", nil // of another file
		}
		i := s.In[0].Schema.Index(name)
		if i < 0 || stageReads(s, i) {
			return "", nil
		}
		if s.Sig.Items == types.Assign && hasName(s.Args.Items, name) {
			return fmt.Sprintf("the `%s` of line %d overwrites it", tree.Name.Name, tree.Name.Start.Line), s
		}
		if s.Out.Schema.Index(name) < 0 {
			return fmt.Sprintf("the `%s` of line %d drops it", tree.Name.Name, tree.Name.Start.Line), s
		}
	}
	return "", nil
}

// leaves reports whether whole rows go elsewhere from a stage.
func leaves(s *syntax.Stage) bool {
	if s == nil || s.Target != nil || len(s.Cases) > 0 {
		return true
	}
	for _, c := range s.Clauses {
		if c.Target != nil && c.Label != "on_error" {
			return true
		}
	}
	return false
}

// stageReads reports whether a stage does more with a column than to let it pass or to drop it.
func stageReads(s *check.Stage, col int) bool {
	a := s.Args
	if len(s.More) > 0 {
		return true
	}
	var exprs []*types.Expr
	for _, list := range [][]types.Item{a.By, a.Per} {
		for _, it := range list {
			exprs = append(exprs, it.Expr)
		}
	}
	if s.Sig.Items != types.ColumnList && s.Sig.Items != types.Aggregates {
		for _, it := range a.Items {
			exprs = append(exprs, it.Expr)
		}
	}
	for _, c := range a.Aggs {
		exprs = append(exprs, c.Args...)
	}
	for _, b := range a.Branches {
		exprs = append(exprs, b.When)
	}
	return slices.ContainsFunc(exprs, func(e *types.Expr) bool { return readsColumn(e, col) })
}

func readsColumn(e *types.Expr, col int) bool {
	return e.Any(func(x *types.Expr) bool { return x.Op == types.OpCol && x.Col == col })
}

func hasName(items []types.Item, name string) bool {
	for _, it := range items {
		if it.Name == name {
			return true
		}
	}
	return false
}

// withoutItem takes an item out of a stage, or the stage if it has no other.
func (p *Pass) withoutItem(list []*syntax.Stage, i, k int) *Fix {
	items := list[i].Items
	fix := (*Fix)(nil)
	switch {
	case len(items) == 1:
		fix = p.withoutStage(list, i)
	case k == 0:
		fix = p.cut(syntax.Span{Start: items[0].Start, End: items[1].Start}, Unsafe, "take it away")
	default:
		fix = p.cut(syntax.Span{Start: items[k-1].End, End: items[k].End}, Unsafe, "take it away")
	}
	if fix != nil {
		fix.Applicability = Unsafe
	}
	return fix
}
