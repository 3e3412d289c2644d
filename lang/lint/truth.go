package lint

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ebb-lang/ebb/lang/types"
)

// This file makes formulas of expressions. What they say is found by trying, in truth_try.go.

// truth is a value of three-valued logic; they are in order.
type truth uint8

const (
	no truth = iota
	unsure
	yes
)

// formula is a condition over unknowns.
type formula struct {
	op    string // "" for a constant or a test; not, and, or, if, ??
	args  []*formula
	is    truth             // a constant, if about is nil
	about *unknown          // of a test
	test  func(place) truth // of a test
	parts []part            // of and, or: where the args stand
	node  ast.Node

	tested []*unknown // once they are asked for
	tests  int
}

// part is where an operand of `and` or `or` stands.
type part struct {
	up   *ast.BinaryNode
	left bool
	free bool // it can be taken out of the text: it is no part of a chain such as `1 < x < 5`
}

// logic makes formulas of the expressions of one scope.
type logic struct {
	unknowns map[string]*unknown
	inside   map[ast.Node]bool // nodes that are parts of formulas
	failed   bool
	serial   int
}

func newLogic(inside map[ast.Node]bool) *logic {
	return &logic{unknowns: map[string]*unknown{}, inside: inside}
}

// formula makes a formula of a condition; nil if its types are not known.
func (l *logic) formula(r *reading, n ast.Node) *formula {
	l.failed = false
	f := l.form(r, n)
	if l.failed || f == nil {
		return nil
	}
	for _, u := range f.unknowns() {
		if u.settle(); len(u.places) == 0 {
			return nil
		}
	}
	return f
}

func (l *logic) form(r *reading, n ast.Node) *formula {
	x := r.Type(n)
	if x == nil {
		l.failed = true
		return nil
	}
	l.inside[n] = true
	f := &formula{node: n}
	switch n := n.(type) {
	case *ast.BoolNode:
		if f.is = no; n.Value {
			f.is = yes
		}
		return f
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			f.op, f.args = "not", []*formula{l.form(r, n.Node)}
			return f
		}
	case *ast.ConditionalNode:
		if x.Type.Kind == types.Bool {
			f.op, f.args = "if", []*formula{l.form(r, n.Cond), l.form(r, n.Exp1), l.form(r, n.Exp2)}
			return f
		}
	case *ast.BinaryNode:
		switch op := n.Operator; op {
		case "and", "&&":
			f.op = "and"
			l.operands(f, r, n)
			return f
		case "or", "||":
			f.op = "or"
			l.operands(f, r, n)
			return f
		case "??":
			if x.Type.Kind == types.Bool && r.kind(n.Left) == types.Bool {
				f.op, f.args = op, []*formula{l.form(r, n.Left), l.form(r, n.Right)}
				return f
			}
		case "==", "!=", "<", "<=", ">", ">=":
			if l.comparison(f, r, n) {
				return f
			}
		case "in":
			if list, ok := n.Right.(*ast.ArrayNode); ok && l.membership(f, r, n.Left, list) {
				return f
			}
		}
	}
	if x.Type.Kind != types.Bool {
		l.failed = true
		return nil
	}
	u := l.unknown(r, n)
	is := order(u, "==", true)
	f.about, f.test = u, func(p place) truth {
		if p == null {
			return unsure
		}
		return is(p)
	}
	return f
}

// operands flattens a chain of `and` or `or`.
func (l *logic) operands(f *formula, r *reading, n *ast.BinaryNode) {
	word := r.Expr.Source.Slice(r.Operator(n))
	free := word == "and" || word == "or" || word == "&&" || word == "||"
	for i, k := range []ast.Node{n.Left, n.Right} {
		if b, ok := k.(*ast.BinaryNode); ok && plainOp(b.Operator) == f.op {
			l.inside[k] = true
			l.operands(f, r, b)
			continue
		}
		f.args = append(f.args, l.form(r, k))
		f.parts = append(f.parts, part{n, i == 0, free})
	}
}

func plainOp(op string) string {
	switch op {
	case "&&":
		return "and"
	case "||":
		return "or"
	}
	return op
}

// comparison makes a test of a comparison with a literal, or of two values; false if nothing is known of it.
func (l *logic) comparison(f *formula, r *reading, n *ast.BinaryNode) bool {
	op, left, right := n.Operator, n.Left, n.Right
	a, b := r.literal(left), r.literal(right)
	if a != nil && b == nil {
		left, right, a, b, op = right, left, b, a, mirrored[op]
	}
	lt, rt := r.Type(left), r.Type(right)
	if lt == nil || rt == nil || !comparable(lt.Type.Kind) && !(b != nil && b.Value == nil) {
		return false
	}
	switch {
	case a != nil && b != nil:
		if a.Value == nil || b.Value == nil {
			f.is = truthOf((a.Value == nil && b.Value == nil) == (op == "=="))
			return op == "==" || op == "!="
		}
		c, ok := compareValues(a.Value, b.Value)
		f.is = truthOf(ordered(op, c))
		return ok
	case b != nil && b.Value == nil:
		u := l.unknown(r, left)
		f.about, f.test = u, func(p place) truth { return truthOf((p == null) == (op == "==")) }
		return op == "==" || op == "!="
	case b != nil:
		u := l.unknown(r, left)
		u.values = append(u.values, b.Value)
		f.about, f.test = u, order(u, op, b.Value)
		return true
	}
	ta, tb := r.text(left), r.text(right)
	if ta == tb || !comparable(rt.Type.Kind) {
		return false
	}
	if ta > tb {
		ta, tb, lt, rt, op = tb, ta, rt, lt, mirrored[op]
	}
	u := l.named("\x00"+ta+"\x00"+tb, r.steady(left) && r.steady(right))
	if u.places == nil {
		u.places = []place{less, equal, greater}
		for p, is := range map[place]bool{nan: lt.Type.Kind == types.Float || rt.Type.Kind == types.Float, nullL: lt.Type.Nullable, nullR: rt.Type.Nullable,
			null: lt.Type.Nullable && rt.Type.Nullable} {
			if is {
				u.places = append(u.places, p)
			}
		}
		slices.Sort(u.places)
	}
	f.about, f.test = u, func(p place) truth {
		switch p {
		case null, nullL, nullR:
			if op == "==" || op == "!=" {
				return truthOf((p == null) == (op == "=="))
			}
			return unsure
		case nan:
			return truthOf(op == "!=")
		}
		return truthOf(ordered(op, int(p)-1))
	}
	return true
}

// membership makes a test of `x in [literals]`.
func (l *logic) membership(f *formula, r *reading, left ast.Node, list *ast.ArrayNode) bool {
	x := r.Type(left)
	if x == nil || !comparable(x.Type.Kind) || r.literal(left) != nil {
		return false
	}
	values := make([]any, len(list.Nodes))
	for i, k := range list.Nodes {
		v := r.literal(k)
		if v == nil {
			return false
		}
		values[i] = v.Value
	}
	u := l.unknown(r, left)
	var tests []func(place) truth
	for _, v := range values {
		if v == nil {
			tests = append(tests, func(p place) truth { return truthOf(p == null) })
			continue
		}
		u.values = append(u.values, v)
		tests = append(tests, order(u, "==", v))
	}
	f.about, f.test = u, func(p place) truth {
		for _, t := range tests {
			if t(p) == yes {
				return yes
			}
		}
		return no
	}
	return true
}

var mirrored = map[string]string{"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

func comparable(k types.Kind) bool {
	switch k {
	case types.Bool, types.Int, types.Float, types.String, types.Time, types.Duration:
		return true
	}
	return false
}

func truthOf(is bool) truth {
	if is {
		return yes
	}
	return no
}

func ordered(op string, c int) bool {
	switch op {
	case "==":
		return c == 0
	case "!=":
		return c != 0
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

// order tests where a value lies relative to a literal.
func order(u *unknown, op string, v any) func(place) truth {
	return func(p place) truth {
		switch {
		case p == null && (op == "==" || op == "!="):
			return truthOf(op == "!=")
		case p == null:
			return unsure
		case p == nan:
			return truthOf(op == "!=")
		}
		i, _ := slices.BinarySearchFunc(u.values, v, func(a, b any) int { c, _ := compareValues(a, b); return c })
		return truthOf(ordered(op, cmp.Compare(int(p), 2*i+1)))
	}
}

// unknown gives the value of a node, the same one for the same text.
func (l *logic) unknown(r *reading, n ast.Node) *unknown {
	x := r.Type(n)
	u := l.named(r.text(n), x.Pure())
	if u.typ.Kind == types.Invalid {
		u.typ = x.Type
		u.low, u.high = math.MinInt64, math.MaxInt64
		switch name, args := r.call(n); {
		case len(args) == 0 || r.kind(args[0]) == types.Any:
		case name == "len", name == "abs" && u.typ.Kind == types.Int:
			u.low = 0
		case name == "weekday":
			u.low, u.high = 1, 7
		case name == "hour":
			u.low, u.high = 0, 23
		case name == "minute", name == "second":
			u.low, u.high = 0, 59
		case name == "month":
			u.low, u.high = 1, 12
		case name == "quarter":
			u.low, u.high = 1, 4
		case name == "day":
			u.low, u.high = 1, 31
		case name == "lower":
			u.casing = strings.ToLower
		case name == "upper":
			u.casing = strings.ToUpper
		}
	}
	return u
}

// named gives the unknown of a name, a new one each time for what may change from one call to the next.
func (l *logic) named(name string, steady bool) *unknown {
	if !steady {
		l.serial++
		name = strings.Repeat("\x01", l.serial)
	}
	u := l.unknowns[name]
	if u == nil {
		u = &unknown{}
		l.unknowns[name] = u
	}
	return u
}
