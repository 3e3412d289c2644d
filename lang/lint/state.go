package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// S: state that grows. An input that ends bounds all of it, so these rules are silent there.
var _ = define(
	Rule{
		Code: "S501", Name: "unbounded-state", Severity: syntax.SevWarn, Fix: Unsafe,
		Text: "A stage keeps something for each key of an input that never ends.",
		Why: "Each new key takes memory and makes checkpoints larger, and nothing ends it. `window tumbling(1h)` ends all keys of an hour, `retain 24h` a key that has had no row for a day. " +
			"`retain forever` says that you mean it: the keys are few, or must all be known. The fix adds `retain 24h`, or `retain forever` where rows have no event time.",
		Bad:   "nexmark(\"bid\") |> aggregate n = count() by auction |> into jsonl(\"n.jsonl\", changes: true)\n",
		Good:  "nexmark(\"bid\")\n    |> aggregate n = count() by auction retain 24h\n    |> into jsonl(\"n.jsonl\", changes: true)\n",
		Check: unbounded,
	},
	Rule{
		Code: "S504", Name: "unbounded-group", Severity: syntax.SevWarn, Fix: Unsafe,
		Text: "An aggregate keeps every row, or every value, of a group that nothing ends.",
		Why: "A list, an exact quantile and an exact number of distinct values need all that was ever seen of a group. Of an input that never ends that is more every second. " +
			"Give a list a `limit`, take `approx_quantile` or `approx_distinct`, or give the stage a window.",
		Bad:   "nexmark(\"bid\")\n    |> aggregate prices = collect(price) by auction retain 24h\n    |> into jsonl(\"n.jsonl\", changes: true)\n",
		Good:  "nexmark(\"bid\")\n    |> aggregate prices = collect(price, limit: 1000) by auction retain 24h\n    |> into jsonl(\"n.jsonl\", changes: true)\n",
		Check: unboundedGroup,
	},
	Rule{
		Code: "S505", Name: "session-without-max", Severity: syntax.SevInfo, Fix: Unsafe,
		Text: "A session window over an input that never ends has no longest length.",
		Why: "A key that never pauses, a robot or a sensor, stays in one session for ever, and its result never comes. " +
			"`max: 24h` ends a session after a day.",
		Bad:   "nexmark(\"bid\")\n    |> aggregate n = count() by bidder window session(10s) late drop\n    |> into jsonl(\"n.jsonl\")\n",
		Good:  "nexmark(\"bid\")\n    |> aggregate n = count() by bidder window session(10s, max: 24h) late drop\n    |> into jsonl(\"n.jsonl\")\n",
		Check: endlessSession,
	},
)

// endless reports whether rows come to a stage without end.
func endless(s *check.Stage) bool { return len(s.In) > 0 && !s.In[0].Bounded }

// unbounded: S501.
func unbounded(p *Pass) {
	if p.Facts == nil {
		return
	}
	f := p.flow()
	timeless := map[*syntax.Stage]bool{} // of a pipe's stage any of its uses
	for _, s := range p.Stages {
		if len(s.Checked.In) > 0 && (!s.Checked.In[0].Time || s.Checked.In[0].Updating) {
			timeless[s.Tree] = true
		}
	}
	for _, s := range p.Stages {
		what := ""
		if endless(s.Checked) {
			what = p.Facts.Grows(s.Checked)
		}
		if what == "" {
			continue
		}
		retain := "retain 24h"
		if timeless[s.Tree] {
			retain = "retain forever"
		}
		help := "add a window, or `retain 24h`; `retain forever` says that you mean it"
		if slices.ContainsFunc(s.Checked.Args.By, func(k types.Item) bool { return readsWindow(k.Expr, s.Checked.In[0].Schema) }) {
			p.windowed(f, s.Checked, func(inner *check.Stage) {
				help = fmt.Sprintf("write `window %s` in the place of the key `window`, so that each ends; or add `retain 24h`", inner.Args.Window)
			})
		}
		p.Report(s.Tree.Name.Span, fmt.Sprintf("`%s` keeps %s, and nothing ends it", s.Tree.Name.Name, what), help, oneClause(s.Tree, retain, Unsafe))
	}
}

// unboundedGroup: S504.
func unboundedGroup(p *Pass) {
	for _, s := range p.Stages {
		a := s.Checked.Args
		if a.Window != nil || !endless(s.Checked) {
			continue
		}
		for _, call := range a.Aggs {
			if call.Sig.Keeps == types.KeepsResult || call.Sig.Keeps == types.KeepsValues && a.Retain.Set || capped(call) {
				continue
			}
			at, fix := s.Tree.Name.Span, (*Fix)(nil)
			if seen, n := p.aggregateCall(s, call); n != nil {
				at = seen.Span(n)
				last := syntax.Span{Start: p.Tree.Source.Pos(at.End.Offset - len(")")), End: at.End}
				if call.Sig.Cap != "" {
					fix = replace(last, ", "+call.Sig.Cap+": 1000)", Unsafe, "add `"+call.Sig.Cap+": 1000`")
				} else if name, more := instead(call); name != "" {
					fix = &Fix{Applicability: Unsafe, Text: "take `" + name + "`", Edits: []Edit{{seen.Operator(n), name}, {last, more + ")"}}}
				}
			}
			what, help := "each row", "give the stage a window"
			if call.Sig.Keeps == types.KeepsValues {
				what = "each value"
			}
			switch {
			case call.Sig.Cap != "":
				help = fmt.Sprintf("add `%s: 1000`, or give the stage a window", call.Sig.Cap)
			case call.Sig.Instead != "":
				name, _ := instead(call)
				help = fmt.Sprintf("`%s` keeps little and is nearly as good; or give the stage a window", name)
			}
			p.Report(at, fmt.Sprintf("`%s` keeps %s of an input that never ends", call.Sig.Name, what), help, fix)
		}
	}
}

// instead returns the aggregate that keeps less than the one of a call, and the arguments that it takes behind those of the call.
func instead(c types.AggCall) (name, more string) {
	name, args, _ := strings.Cut(strings.TrimSuffix(c.Sig.Instead, ")"), "(")
	for i, arg := range strings.Split(args, ", ") {
		if i >= len(c.Sig.Params) {
			more += ", " + arg
		}
	}
	return name, more
}

// capped reports whether a call has the argument that bounds what it keeps.
func capped(c types.AggCall) bool {
	for i, p := range c.Sig.Params {
		if p.Name == c.Sig.Cap && i < len(c.Args) && c.Args[i] != nil && c.Args[i].Value != nil {
			return true
		}
	}
	return false
}

// aggregateCall finds where an aggregate of a stage is called; nil if that is elsewhere.
func (p *Pass) aggregateCall(s Stage, call types.AggCall) (*check.Seen, ast.Node) {
	var at *check.Seen
	var found ast.Node
	for _, e := range s.exprs {
		visit(e.Tree, func(n ast.Node) {
			switch n.(type) {
			case *ast.CallNode, *ast.BuiltinNode:
				if p.Tree.Source.Slice(e.Operator(n)) != call.Sig.Name {
					return
				}
				if found == nil || plain(e.Written(n)) == plain(call.Name) {
					at, found = e, n
				}
			}
		})
	}
	return at, found
}

func plain(s string) string { return strings.Join(strings.Fields(s), "") }

// within returns the expressions that stand inside of a span.
func (s *Script) within(at syntax.Span) (out []*check.Seen) {
	begin := func(e *check.Seen) int { return e.Expr.Start.Offset }
	if s.ordered == nil {
		s.ordered = slices.Clone(s.Exprs)
		slices.SortStableFunc(s.ordered, func(a, b *check.Seen) int { return cmp.Compare(begin(a), begin(b)) })
	}
	i, _ := slices.BinarySearchFunc(s.ordered, at.Start.Offset, func(e *check.Seen, at int) int { return cmp.Compare(begin(e), at) })
	for ; i < len(s.ordered) && begin(s.ordered[i]) < at.End.Offset; i++ {
		if e := s.ordered[i]; holds(at, e.Expr.Span) {
			out = append(out, e)
		}
	}
	return out
}

type visitor func(ast.Node)

func (v visitor) Visit(n *ast.Node) { v(*n) }

// visit calls f for a node and all below it, the deepest first.
func visit(n ast.Node, f func(ast.Node)) { ast.Walk(&n, visitor(f)) }

// endlessSession: S505.
func endlessSession(p *Pass) {
	for _, s := range p.Stages {
		a := s.Checked.Args
		w := a.Window
		if w == nil || w.Kind != types.Session || w.Max > 0 || w.Processing || a.Emit.Changes || a.Late.Allow > 0 || !endless(s.Checked) {
			continue
		}
		longest := max(int64(24*3600*1e9), 10*w.Size)
		call := clause(s.Tree, "window").Call
		p.Report(call.Span, "a key that never pauses stays in one session for ever", fmt.Sprintf("add `max: %s`", duration(longest)),
			inside(call, "max: "+duration(longest), Unsafe, p.Tree.Source))
	}
}
