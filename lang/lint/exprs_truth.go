package lint

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// Conditions that say nothing, or say it twice.
var _ = define(
	Rule{
		Code: "X301", Name: "constant-condition", Severity: syntax.SevWarn, Fix: Safe,
		Text: "A condition, or a part of one, is true for every row or for none.",
		Why: "It looks as if it chose something, and does not. Often `and` and `or` are mixed up, as in `x != 1 or x != 2`, or the column is never null. " +
			"Params and constants count as unknown: a condition may be switched by them.",
		Bad:   "rows([{id: 1}, {id: 2}]) |> where id != nil |> select id\n",
		Good:  "csv(\"orders.csv\") |> where id != nil |> select id\n",
		Check: constantConditions,
	},
	Rule{
		Code: "X309", Name: "said-twice", Severity: syntax.SevWarn, Fix: Safe,
		Text: "An operand stands twice, or a condition says nothing beside another one.",
		Why: "`x > 5 and x > 3` is `x > 5`, `x or x` is `x`, and `x == x` is no question. Mostly a copy was not changed to what it should say. (Of a float `x != x` is the " +
			"question for NaN.)",
		Bad:   "csv(\"orders.csv\") |> where amount > 5.0 and amount > 3.0\n",
		Good:  "csv(\"orders.csv\") |> where amount > 5.0 and id > 3\n",
		Check: saidTwice,
	},
)

// formulas calls f with each condition of an expression that is not a part of another. whole says that the expression itself
// is a condition.
func (r *reading) formulas(whole bool, f func(*formula)) {
	if !r.judged {
		r.judged = true
		r.judge(whole)
	}
	for _, g := range r.formulae {
		f(g)
	}
}

func (r *reading) judge(whole bool) {
	var inside, conditions map[ast.Node]bool // few expressions need them
	if whole {
		conditions = map[ast.Node]bool{r.Tree: true}
	}
	r.each(func(n ast.Node) {
		if c, ok := n.(*ast.ConditionalNode); ok {
			if conditions == nil {
				conditions = map[ast.Node]bool{}
			}
			conditions[c.Cond] = true
		}
		if inside[n] {
			return
		}
		switch n := n.(type) {
		case *ast.BoolNode:
			if !conditions[n] {
				return
			}
		case *ast.UnaryNode:
		case *ast.BinaryNode:
			if n.Operator == "??" && !conditions[n] {
				return
			}
		default:
			return
		}
		if r.kind(n) != types.Bool {
			return
		}
		if inside == nil {
			inside = map[ast.Node]bool{}
		}
		l := newLogic(inside)
		if g := l.formula(r, n); g != nil {
			r.formulae = append(r.formulae, g)
		}
	})
}

// conditions are the expressions that choose rows: those of where, assert and split.
func (s *Script) conditions() map[*syntax.Expr]bool {
	all := map[*syntax.Expr]bool{}
	s.runs(func(list []*syntax.Stage) {
		for _, st := range list {
			if w := st.Name.Name; (w == "where" || w == "assert") && len(st.Items) == 1 {
				all[st.Items[0].Expr] = true
			}
			for _, c := range st.Cases {
				if c.When != nil {
					all[c.When] = true
				}
			}
		}
	})
	return all
}

// runs calls f with the stages of each pipeline and pipe.
func (s *Script) runs(f func([]*syntax.Stage)) {
	for _, stmt := range s.Tree.Stmts {
		if list := syntax.Stages(stmt); len(list) > 0 {
			f(list)
		}
	}
}

func constantConditions(p *Pass) {
	whole := p.conditions()
	wheres := map[*syntax.Expr]func() *Fix{}
	p.runs(func(list []*syntax.Stage) {
		for i, st := range list {
			if st.Name.Name == "where" && len(st.Items) == 1 {
				wheres[st.Items[0].Expr] = func() *Fix { return p.withoutStage(list, i) }
			}
		}
	})
	p.everyUse(func(r *reading) (found []hint) {
		r.formulas(whole[r.Expr], func(f *formula) {
			h := r.constant(f)
			if h == nil {
				p.constantParts(r, f, &found)
				return
			}
			if drop := wheres[r.Expr]; drop != nil && f.node == r.Tree && f.always() && unfailing(r.Type(f.node)) {
				h.fix = drop()
			}
			found = append(found, *h)
		})
		return found
	})
	p.chains(func(list []*syntax.Stage, i int, before, f *formula) bool {
		if f.always() || f.never() || before.never() {
			return false
		}
		both := &formula{op: "and", args: []*formula{before, f}}
		return both.never()
	}, func(list []*syntax.Stage, i int) {
		p.Report(list[i].Items[0].Expr.Span, "the condition is never true behind the `where` before it", "the two exclude each other", nil)
	})
}

// constant says that a formula is always the same; nil if it is not.
func (r *reading) constant(f *formula) *hint {
	is := ""
	switch {
	case f.always():
		is = "always true"
	case f.never():
		is = "never true"
	default:
		if f.op == "and" || f.op == "or" {
			if _, _, found := exclusive(f); found {
				is = map[string]string{"and": "never true", "or": "always true"}[f.op]
				break
			}
		}
		return nil
	}
	return &hint{at: r.Span(f.node), message: fmt.Sprintf("`%s` is %s", r.short(f.node), is), help: r.because(f)}
}

// constantParts looks for operands that are always the same in a condition that is not.
func (p *Pass) constantParts(r *reading, f *formula, found *[]hint) {
	for i, a := range f.args {
		h := r.constant(a)
		if h == nil || a.op == "" && a.about == nil && f.op != "and" && f.op != "or" { // a value, no condition
			p.constantParts(r, a, found)
			continue
		}
		if f.op == "and" && a.constant(yes) || f.op == "or" && a.constant(no) {
			if unfailing(r.Type(a.node)) {
				h.fix = p.withoutOperand(r, f, i)
			}
		}
		*found = append(*found, *h)
	}
}

// exclusive finds two operands of `and` that are never true together, or two of `or` of which one is always true.
func exclusive(f *formula) (a, b *formula, found bool) {
	if len(f.args) > maxPairs {
		return nil, nil, false
	}
	for i, a := range f.args {
		for _, b := range f.args[:i] {
			if !a.shares(b) || a.never() || b.never() || a.always() || b.always() {
				continue
			}
			two := &formula{op: f.op, args: []*formula{b, a}}
			if f.op == "and" && two.never() || f.op == "or" && two.always() {
				return b, a, true
			}
		}
	}
	return nil, nil, false
}

// because says why a condition is always the same.
func (r *reading) because(f *formula) string {
	if f.op == "and" || f.op == "or" {
		a, b, found := exclusive(f)
		switch {
		case !found:
			for _, k := range f.args {
				if k.never() || k.always() {
					if why := r.because(k); why != "" {
						return why
					}
				}
			}
			return ""
		case f.op == "and":
			return fmt.Sprintf("`%s` and `%s` exclude each other", r.short(a.node), r.short(b.node))
		}
		return fmt.Sprintf("whatever the value, `%s` or `%s` holds: `and` may be meant", r.short(a.node), r.short(b.node))
	}
	if f.op == "not" {
		return r.because(f.args[0])
	}
	b, ok := f.node.(*ast.BinaryNode)
	if !ok || f.about == nil {
		return ""
	}
	value := b.Left
	if r.literal(value) != nil {
		value = b.Right
	}
	x := r.Type(value)
	if lit := r.literal(b.Right); lit != nil && lit.Value == nil || r.literal(b.Left) != nil && r.literal(b.Left).Value == nil {
		return fmt.Sprintf("`%s` is `%s`, which is never null", r.short(value), x.Type)
	}
	name, _ := r.call(value)
	switch u := f.about; {
	case u.casing != nil:
		return fmt.Sprintf("`%s` gives no other letters than its own", name)
	case name == "" || u.typ.Kind != types.Int:
		return ""
	case u.low == 0 && u.high > 1000:
		return fmt.Sprintf("`%s` is never negative", name)
	case u.high < 1000:
		return fmt.Sprintf("`%s` gives %d to %d", name, u.low, u.high)
	}
	return ""
}

// withoutOperand takes an operand of `and` or `or` away.
func (p *Pass) withoutOperand(r *reading, f *formula, i int) *Fix {
	before, after := false, false // whether the whole may be null
	for k, a := range f.args {
		null := r.Type(a.node).Type.Nullable
		before = before || null
		after = after || null && k != i
	}
	at := f.parts[i]
	if !at.free || before != after || len(f.args) < 2 {
		return nil
	}
	op, whole := r.Operator(at.up), r.Span(at.up)
	span := syntax.Span{Start: r.before(op.Start), End: whole.End}
	if at.left {
		span = syntax.Span{Start: whole.Start, End: r.after(op.End)}
	}
	return p.cut(span, Safe, "take it away")
}

// withoutStage takes a stage out of a run of stages; nil if that cannot be done.
func (p *Pass) withoutStage(list []*syntax.Stage, i int) *Fix {
	s := list[i]
	if len(s.Clauses) > 0 || s.Target != nil || len(s.Cases) > 0 {
		return nil
	}
	tokens, _ := syntax.Lex(p.Tree.Source)
	prev := syntax.Token{}
	var pipe, before *syntax.Token
	for k := range tokens {
		t := &tokens[k]
		if t.Trivia() {
			continue
		}
		if t.Span.Start.Offset >= s.Start.Offset {
			break
		}
		if t.Kind == syntax.KindPipe {
			pipe = t
			old := prev
			before = &old
		} else {
			pipe = nil
		}
		prev = *t
	}
	const text = "take the stage away"
	switch {
	case pipe == nil && i+1 < len(list): // the first of a pipe
		return p.cut(syntax.Span{Start: s.Start, End: list[i+1].Start}, Safe, text)
	case pipe == nil, before.Text == "=" && len(list) == 1:
		return nil
	}
	if fix := p.cut(syntax.Span{Start: before.Span.End, End: s.End}, Safe, text); fix != nil {
		return fix
	}
	from, to, src := pipe.Span.Start.Offset, s.End.Offset, p.Tree.Source
	start := strings.LastIndexByte(src.Text[:from], '\n') + 1
	rest, _, more := strings.Cut(src.Text[to:], "\n")
	if strings.TrimSpace(src.Text[start:from]+rest) == "" && more { // lines of its own
		from, to = start, to+len(rest)+1
	}
	return p.cut(syntax.Span{Start: src.Pos(from), End: src.Pos(to)}, Safe, text)
}

// jointly asks a question of conditions in one scope, at each use. It is true if it is at all of them.
func (p *Pass) jointly(of map[*syntax.Expr][]*reading, exprs []*syntax.Expr, ask func([]*formula) bool) bool {
	uses := len(of[exprs[0]])
	for _, e := range exprs {
		if len(of[e]) != uses {
			return false
		}
	}
	for k := range uses {
		l := newLogic(map[ast.Node]bool{})
		fs := make([]*formula, len(exprs))
		for i, e := range exprs {
			r := of[e][k]
			if fs[i] = l.formula(r, r.Tree); fs[i] == nil {
				return false
			}
		}
		if !ask(fs) {
			return false
		}
	}
	return uses > 0
}

// byExpr gives the uses of each expression.
func (s *Script) byExpr() map[*syntax.Expr][]*reading {
	if s.wherever == nil {
		s.wherever = make(map[*syntax.Expr][]*reading, len(s.uses()))
		for _, uses := range s.uses() {
			s.wherever[uses[0].Expr] = uses
		}
	}
	return s.wherever
}

// lastOf bounds how many conditions are looked at together with one behind them.
func lastOf(before []*syntax.Expr) []*syntax.Expr { return before[max(0, len(before)-maxPairs):] }

// chains asks of each `where` that stands right behind others what it says behind them.
func (p *Pass) chains(ask func(list []*syntax.Stage, i int, before, f *formula) bool, say func(list []*syntax.Stage, i int)) {
	of := p.byExpr()
	p.runs(func(list []*syntax.Stage) {
		var before []*syntax.Expr
		for i, st := range list {
			if st.Name.Name != "where" || len(st.Items) != 1 {
				before = nil
				continue
			}
			e := st.Items[0].Expr
			if len(before) > 0 && p.jointly(of, append(before[:len(before):len(before)], e), func(fs []*formula) bool {
				return ask(list, i, &formula{op: "and", args: fs[:len(fs)-1]}, fs[len(fs)-1])
			}) {
				say(list, i)
			}
			before = append(lastOf(before), e)
		}
	})
}

func saidTwice(p *Pass) {
	whole := p.conditions()
	p.everyUse(func(r *reading) []hint {
		found := p.sameOperands(r)
		r.formulas(whole[r.Expr], func(f *formula) {
			if r.constant(f) == nil {
				p.needlessOperands(r, f, &found)
			}
		})
		return found
	})
	p.chains(func(list []*syntax.Stage, i int, before, f *formula) bool {
		if f.always() || before.never() {
			return false
		}
		all, known := try([]*formula{before, f}, func() bool { return before.value() != yes || f.value() == yes })
		return all && known
	}, func(list []*syntax.Stage, i int) {
		var fix *Fix
		if sure := p.byExpr()[list[i].Items[0].Expr]; len(sure) > 0 && unfailing(sure[0].Type(sure[0].Tree)) {
			fix = p.withoutStage(list, i)
		}
		p.Report(list[i].Items[0].Expr.Span, "the `where` before it keeps only rows for which this is true", "", fix)
	})
}

// needlessOperands finds operands of `and` and `or` that another one covers.
func (p *Pass) needlessOperands(r *reading, f *formula, found *[]hint) {
	gone := map[int]bool{}
	report := func(i, by int) {
		gone[i] = true
		a, b := f.args[i], f.args[by]
		h := hint{at: r.Span(a.node), message: fmt.Sprintf("`%s` says nothing beside `%s`", r.short(a.node), r.short(b.node))}
		copied := r.text(a.node) == r.text(b.node)
		if copied {
			h.message = fmt.Sprintf("`%s` stands twice", r.short(a.node))
		}
		sure := true
		for _, k := range f.args {
			sure = sure && unfailing(r.Type(k.node))
		}
		if sure || copied && i > by {
			h.fix = p.withoutOperand(r, f, i)
		}
		*found = append(*found, h)
	}
	if f.op == "and" || f.op == "or" {
		alike := map[string]int{}
		for i, a := range f.args {
			if r.constant(a) != nil {
				gone[i] = true
			}
			if len(f.args) > maxPairs {
				text := r.text(a.node)
				if k, known := alike[text]; known && r.steady(a.node) && !gone[i] {
					report(i, k)
				} else if !known {
					alike[text] = i
				}
				continue
			}
			for k, b := range f.args[:i] {
				if gone[i] || gone[k] || !a.shares(b) {
					continue
				}
				if b.covers(a, f.op) {
					report(i, k)
				} else if a.covers(b, f.op) {
					report(k, i)
				}
			}
		}
	}
	for i, a := range f.args {
		if !gone[i] {
			p.needlessOperands(r, a, found)
		}
	}
}

// sameOperands finds operators with the same operand on both sides, and values that stand twice in a list.
func (p *Pass) sameOperands(r *reading) (found []hint) {
	r.each(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.BinaryNode:
			if list, ok := n.Right.(*ast.ArrayNode); ok && n.Operator == "in" {
				p.sameElements(r, list, &found)
			}
			switch n.Operator {
			case "==", "!=", "<", "<=", ">", ">=", "-", "/", "%", "??", "contains", "startsWith", "endsWith", "in":
			default:
				return
			}
			nanTest := (n.Operator == "==" || n.Operator == "!=") && r.kind(n.Left) == types.Float
			if r.text(n.Left) == r.text(n.Right) && r.literal(n.Left) == nil && r.steady(n.Left) && !nanTest {
				found = append(found, hint{at: r.Span(n), message: fmt.Sprintf("`%s` has the same operand on both sides", r.short(n))})
			}
		case *ast.ConditionalNode:
			if n.Exp1 != n.Cond && r.text(n.Exp1) == r.text(n.Exp2) && r.steady(n.Exp1) {
				found = append(found, hint{at: r.Span(n), message: fmt.Sprintf("both branches are `%s`", r.short(n.Exp1))})
			}
		}
	})
	return found
}

func (p *Pass) sameElements(r *reading, list *ast.ArrayNode, found *[]hint) {
	seen := map[string]bool{}
	for i, k := range list.Nodes {
		text := r.text(k)
		if i > 0 && seen[text] && r.steady(k) {
			h := hint{at: r.Span(k), message: fmt.Sprintf("`%s` stands twice in the list", r.short(k))}
			comma := r.before(r.Span(k).Start)
			comma.Offset, comma.Column = comma.Offset-1, comma.Column-1
			if r.literal(k) != nil && r.Expr.Source.Text[comma.Offset] == ',' {
				h.fix = p.cut(syntax.Span{Start: r.before(comma), End: r.Span(k).End}, Safe, "take it away")
			}
			*found = append(*found, h)
		}
		seen[text] = true
	}
}
