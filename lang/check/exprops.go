package check

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ebb-lang/ebb/lang/types"
)

func (t *typer) unary(n *ast.UnaryNode) *types.Expr {
	x := t.node(n.Node)
	if x == nil {
		return nil
	}
	switch n.Operator {
	case "+":
		if x.Type.Numeric() || x.Type.Kind == types.Duration {
			return x
		}
		return t.failOp(n, "T201", fmt.Sprintf("`+` takes a number, but `%s` is %s", t.written(n.Node), describe(x.Type)), "")
	case "-":
		if x.Op == types.OpConst && !x.Type.Nullable {
			switch v := x.Value.(type) {
			case int64:
				if x.Type.Kind != types.Time {
					return types.Const(x.Type, -v)
				}
			case float64:
				return types.Const(x.Type, -v)
			}
		}
		if out, _ := overload(types.Operators["neg"], "neg", []*types.Expr{x}); out != nil {
			return out
		}
		return t.failOp(n, "T201", fmt.Sprintf("`-` takes a number or a duration, but `%s` is %s", t.written(n.Node), describe(x.Type)), "")
	}
	if x.Type.Kind == types.Bool {
		return call("not", types.Operators["not"][0], x.Type, x)
	}
	help := boolRemedy(t.operand(n.Node), x.Type)
	if len(t.above) > 1 {
		if b, ok := t.above[len(t.above)-2].(*ast.BinaryNode); ok && b.Left == ast.Node(n) {
			if meant := t.meantNot(n, b); meant != "" {
				return t.fail(b, "X307", fmt.Sprintf("`%s` binds tighter than `%s`, and `%s` is %s, not bool", n.Operator, b.Operator, t.written(n.Node), describe(x.Type)),
					"write `"+meant+"`")
			}
		}
	}
	return t.failOp(n, "T201", fmt.Sprintf("`%s` takes a bool, but `%s` is %s", n.Operator, t.written(n.Node), describe(x.Type)), help)
}

// meantNot is what was probably meant by `not a == b`, "" if nothing is.
func (t *typer) meantNot(n *ast.UnaryNode, b *ast.BinaryNode) string {
	l, r := t.written(n.Node), t.written(b.Right)
	switch b.Operator {
	case "in", "contains", "matches", "startsWith", "endsWith":
		return l + " not " + b.Operator + " " + r
	case "==":
		return l + " != " + r
	case "!=":
		return l + " == " + r
	case "<", "<=", ">", ">=":
		return "not (" + l + " " + b.Operator + " " + r + ")"
	}
	return ""
}

func (t *typer) binary(n *ast.BinaryNode) *types.Expr {
	l, r := t.node(n.Left), t.node(n.Right)
	if l == nil || r == nil {
		return nil
	}
	args := []*types.Expr{l, r}
	switch op := n.Operator; op {
	case "and", "&&", "or", "||":
		form := types.OpAnd
		if op == "or" || op == "||" {
			form = types.OpOr
		}
		if op == "||" && (l.Type.Kind == types.String || r.Type.Kind == types.String) {
			return t.failOp(n, "T201", "`||` is the logical or", fmt.Sprintf("strings are joined by `+`: `%s + %s`", t.written(n.Left), t.written(n.Right)))
		}
		for i, k := range []ast.Node{n.Left, n.Right} {
			if args[i].Type.Kind != types.Bool {
				help := boolRemedy(t.operand(k), args[i].Type)
				if eq := inEquality(n.Left); eq != nil && i == 1 && (op == "or" || op == "||") {
					help = fmt.Sprintf("write `%s in [%s, %s]`", t.written(eq.Left), t.written(eq.Right), t.written(k))
				}
				return t.fail(k, "T201", fmt.Sprintf("`%s` joins conditions, but `%s` is %s", op, t.written(k), describe(args[i].Type)), help)
			}
		}
		return &types.Expr{Op: form, Type: types.T(types.Bool).OrNull(l.Type.Nullable || r.Type.Nullable), Args: args}
	case "??":
		return t.coalesce(n, l, r)
	case "==", "!=":
		return t.equality(n, l, r)
	case "in":
		return t.in(n, l, r)
	case "^":
		return t.operator(n, "**", args)
	case "matches":
		if r.Type.Kind == types.String && r.Op == types.OpConst && !t.regex(n.Right, r) {
			return nil
		}
		return t.operator(n, op, args)
	default:
		return t.operator(n, op, args)
	}
}

// inEquality is the comparison in `a == 1 or 2`, nil if there is none.
func inEquality(n ast.Node) *ast.BinaryNode {
	b, ok := n.(*ast.BinaryNode)
	for ok && (b.Operator == "or" || b.Operator == "||") {
		b, ok = b.Right.(*ast.BinaryNode)
	}
	if ok && b.Operator == "==" {
		return b
	}
	return nil
}

// regex reports a constant regular expression that does not compile.
func (t *typer) regex(n ast.Node, x *types.Expr) bool {
	if _, err := regexp.Compile(x.Value.(string)); err != nil {
		msg := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		t.fail(n, "X304", "the regular expression is malformed: "+msg, "")
		return false
	}
	return true
}

func (t *typer) coalesce(n *ast.BinaryNode, l, r *types.Expr) *types.Expr {
	u, ok := unifyTypes(l.Type, r.Type, emptyList(l), emptyList(r))
	if !ok {
		help := fmt.Sprintf("give both one type, for example by `string(%s)`", t.written(n.Left))
		if r.Type.Kind != types.String && l.Type.Kind != types.String {
			help = ""
		}
		if len(t.above) > 1 {
			if up, ok := t.above[len(t.above)-2].(*ast.BinaryNode); ok && up.Right == ast.Node(n) && up.Operator != "??" {
				help = fmt.Sprintf("`??` binds tighter than `%s`; write `(%s %s %s) ?? %s` for a value in place of the whole", up.Operator, t.written(up.Left),
					up.Operator, t.written(n.Left), t.written(n.Right))
			}
		}
		return t.failOp(n, "T201", fmt.Sprintf("both sides of `??` need one type: `%s` is %s, `%s` is %s", t.written(n.Left), describe(l.Type), t.written(n.Right),
			describe(r.Type)), help)
	}
	if l.Op == types.OpConst && l.Value == nil {
		return cast(r, u.NotNull().OrNull(nullable(r)))
	}
	u = u.NotNull().OrNull(nullable(r))
	return &types.Expr{Op: types.OpCoalesce, Type: u, Args: []*types.Expr{cast(l, u.OrNull(l.Type.Nullable)), cast(r, u)}}
}

// equality types == and !=, which are total.
func (t *typer) equality(n *ast.BinaryNode, l, r *types.Expr) *types.Expr {
	anyL, anyR := l.Type.Kind == types.Any, r.Type.Kind == types.Any
	if (anyL || anyR) && l.Type.Kind != types.Null && r.Type.Kind != types.Null {
		return t.island(n, call(n.Operator, types.Operators[n.Operator][0], types.T(types.Bool), l, r))
	}
	u, ok := unifyTypes(l.Type, r.Type, emptyList(l), emptyList(r))
	if !ok {
		return t.mismatch(n, n.Operator, l, r)
	}
	if u.Kind != types.Null {
		l, r = cast(l, u.NotNull().OrNull(nullable(l))), cast(r, u.NotNull().OrNull(nullable(r)))
	}
	return call(n.Operator, types.Operators[n.Operator][0], types.T(types.Bool), l, r)
}

// in types membership: of a value in a list, of a name among the fields of a record.
func (t *typer) in(n *ast.BinaryNode, l, r *types.Expr) *types.Expr {
	sig := types.Operators["in"][0]
	switch r.Type.Kind {
	case types.List:
		if l.Type.Kind == types.Any || r.Type.Elem.Kind == types.Any {
			return t.island(n, call("in", sig, types.T(types.Bool), l, r))
		}
		if emptyList(r) {
			return call("in", sig, types.T(types.Bool), l, cast(r, types.ListOf(l.Type)))
		}
		u, err := types.Unify(l.Type, *r.Type.Elem)
		if err != nil {
			return t.failOp(n, "T201", fmt.Sprintf("`%s` is %s, but the elements of `%s` are %s", t.written(n.Left), describe(l.Type), t.written(n.Right),
				describe(*r.Type.Elem)), "")
		}
		elem := u.NotNull().OrNull(r.Type.Elem.Nullable)
		return call("in", sig, types.T(types.Bool), cast(l, u.NotNull().OrNull(nullable(l))), cast(r, types.ListOf(elem).OrNull(r.Type.Nullable)))
	case types.Any:
		return t.island(n, call("in", sig, types.T(types.Bool), l, r))
	case types.Record:
		if l.Type.Kind == types.String {
			return call("in", sig, types.T(types.Bool), l, r)
		}
		return t.failOp(n, "T201", fmt.Sprintf("`in` looks for the name of a field, a string, but `%s` is %s", t.written(n.Left), describe(l.Type)), "")
	case types.String:
		if l.Type.Kind == types.String {
			return t.failOp(n, "T201", "`in` looks into a list or a record, not into a string", fmt.Sprintf("write `%s contains %s`", t.written(n.Right), t.written(n.Left)))
		}
	case types.Null:
		return types.Const(types.T(types.Bool), false)
	}
	return t.failOp(n, "T201", fmt.Sprintf("`in` looks into a list or a record, but `%s` is %s", t.written(n.Right), describe(r.Type)), "")
}

// operator types a strict operator by its overloads.
func (t *typer) operator(n ast.Node, op string, args []*types.Expr) *types.Expr {
	if x, _ := overload(types.Operators[op], op, args); x != nil {
		return x
	}
	b, ok := n.(*ast.BinaryNode)
	if !ok {
		return t.fail(n, "T201", "operands of these types have no `"+op+"`", "")
	}
	l, r := args[0], args[1]
	if result, ok := anyOperator[op]; ok && (l.Type.Kind == types.Any || r.Type.Kind == types.Any) && l.Type.Kind != types.Null && r.Type.Kind != types.Null {
		sig := types.Operators[op][0]
		return t.island(n, call(op, sig, types.T(result).OrNull(!sig.Loose && (nullable(l) || nullable(r))), l, r))
	}
	return t.mismatch(b, b.Operator, l, r)
}

// anyOperator lists the operators that a schemaless value takes: those whose result has a known type.
var anyOperator = map[string]types.Kind{"<": types.Bool, "<=": types.Bool, ">": types.Bool, ">=": types.Bool, "contains": types.Bool,
	"startsWith": types.Bool, "endsWith": types.Bool, "matches": types.Bool}

// mismatch reports operands that do not fit their operator.
func (t *typer) mismatch(n *ast.BinaryNode, op string, l, r *types.Expr) *types.Expr {
	lt, rt := t.written(n.Left), t.written(n.Right)
	msg := fmt.Sprintf("`%s` does not take %s and %s", op, describe(l.Type), describe(r.Type))
	ordered := op == "<" || op == "<=" || op == ">" || op == ">="
	help := ""
	is := func(a, b types.Kind) bool {
		return l.Type.Kind == a && r.Type.Kind == b || l.Type.Kind == b && r.Type.Kind == a
	}
	str := lt
	if r.Type.Kind == types.String {
		str = rt
	}
	numeric := l.Type.Numeric() || r.Type.Numeric()
	switch {
	case l.Type.Kind == types.Null || r.Type.Kind == types.Null:
		help = "null is tested by `== nil` and `!= nil`, and replaced by `??`"
	case is(types.Any, l.Type.Kind) || is(types.Any, r.Type.Kind):
		x := lt
		if r.Type.Kind == types.Any {
			x = rt
		}
		help = fmt.Sprintf("say what the schemaless value is: `int(%s)`, `float(%s)` or `string(%s)`", x, x, x)
	case op == "+" && numeric && is(types.String, l.Type.Kind), op == "+" && numeric && is(types.String, r.Type.Kind):
		other := lt
		if l.Type.Kind == types.String {
			other = rt
		}
		help = fmt.Sprintf("to join texts write `string(%s)`", other)
	case op == "+" && l.Type.Kind == types.List && r.Type.Kind == types.List:
		help = fmt.Sprintf("lists are joined by `concat(%s, %s)`", lt, rt)
	case op == "+" && is(types.Time, types.Time):
		help = "the difference of two times is `-`"
	case op == "%" && numeric && (l.Type.Kind == types.Float || r.Type.Kind == types.Float):
		help = "`%` takes ints: `int(x) % int(y)`"
	case op == "*" && is(types.Duration, types.Duration):
		help = "a duration is multiplied by a number; two are divided: `a / b` is a float"
	case is(types.Duration, types.Int) || is(types.Duration, types.Float):
		help = "write the unit, as in `5s`, or divide by it: `d / 1s`"
	case (op == "+" || op == "-") && is(types.Time, types.Int):
		help = "a time and a duration go together: `t + 5s`"
	case is(types.Time, types.Int):
		help = "a time is written `@2026-01-31` or `@2026-01-31T10:00:00Z`, and made of a number by its unit: `time(n, \"s\")`"
	case op == "+" && is(types.Time, types.String):
		help = "a duration is written `5s`, and read from a text by `duration(…)`"
	case op == "-" && is(types.Time, types.String):
		help = "a duration is written `5s`, a time `@2026-01-31`; a text is read by `duration(…)` or `time(…)`"
	case is(types.Time, types.String):
		help = fmt.Sprintf("a time is written `@2026-01-31` or `@2026-01-31T10:00:00Z`, and read from a text by `time(%s)`", str)
	case is(types.Duration, types.String):
		help = "a duration is written `5s`, and read from a text by `duration(…)`"
	case numeric && l.Type.Kind == types.String || numeric && r.Type.Kind == types.String:
		help = fmt.Sprintf("a number is read from a text by `int(%s)` or `float(%s)`", str, str)
	case ordered && is(types.Bool, types.Bool):
		help = "bools have no order"
	}
	if u, ok := n.Left.(*ast.UnaryNode); ok && (u.Operator == "not" || u.Operator == "!") && t.above[len(t.above)-1] == ast.Node(n) {
		if meant := t.meantNot(u, n); meant != "" {
			msg += fmt.Sprintf("; `%s` binds tighter than `%s`", u.Operator, op)
			help = "write `" + meant + "`"
		}
	}
	return t.failOp(n, "T201", msg, help)
}

// nullable reports whether x may be null.
func nullable(x *types.Expr) bool { return x.Type.Nullable || x.Type.Kind == types.Null }

// overload picks the overload that takes the arguments: one of their very kinds, else one where ints stand for floats.
// It gives nil if there is none, and an error if one takes them but cannot say its result.
func overload(sigs []*types.Sig, name string, args []*types.Expr) (*types.Expr, error) {
	for _, promote := range []bool{false, true} {
		for _, sig := range sigs {
			if x, err := apply(sig, name, args, promote); x != nil || err != nil {
				return x, err
			}
		}
	}
	return nil, nil
}

// apply calls an overload if it takes the arguments.
func apply(sig *types.Sig, name string, args []*types.Expr, promote bool) (*types.Expr, error) {
	if !sig.Takes(len(args)) {
		return nil, nil
	}
	out := make([]*types.Expr, len(args))
	null := false
	for i, x := range args {
		c, ok := passed(x, sig.Params[min(i, len(sig.Params)-1)], promote)
		if !ok {
			return nil, nil
		}
		out[i] = c
		null = null || nullable(x)
	}
	result := sig.Result
	if sig.Infer != nil {
		var err error
		if result, err = sig.Infer(out); err != nil {
			return nil, err
		}
	}
	return call(name, sig, result.OrNull(null && !sig.Loose), out...), nil
}

// passed gives the argument as a parameter of type p takes it.
func passed(x *types.Expr, p types.Type, promote bool) (*types.Expr, bool) {
	from := x.Type
	switch {
	case p.Kind == types.Invalid:
		return x, true
	case from.Kind == types.Null:
		return nil, false
	case from.Kind != p.Kind:
		if promote && from.Kind == types.Int && p.Kind == types.Float {
			return cast(x, types.T(types.Float).OrNull(from.Nullable)), true
		}
		return nil, false
	case p.Kind != types.List || p.Elem.Kind == types.Invalid:
		return x, true
	case emptyList(x):
		return cast(x, p.OrNull(from.Nullable)), true
	}
	return listPassed(x, p, promote)
}

func listPassed(x *types.Expr, p types.Type, promote bool) (*types.Expr, bool) {
	want := elemAs(*x.Type.Elem, *p.Elem, promote)
	if want.Kind == types.Invalid {
		return nil, false
	}
	return cast(x, types.ListOf(want).OrNull(x.Type.Nullable)), true
}

// elemAs is the type of list elements passed to a list parameter: nulls stay what they are.
func elemAs(from, p types.Type, promote bool) types.Type {
	switch {
	case p.Kind == types.Invalid:
		return from
	case from.Kind == types.List && p.Kind == types.List:
		e := elemAs(*from.Elem, *p.Elem, promote)
		if e.Kind == types.Invalid {
			return types.Type{}
		}
		return types.ListOf(e).OrNull(from.Nullable)
	case from.Kind == p.Kind:
		return from
	case promote && from.Kind == types.Int && p.Kind == types.Float:
		return types.T(types.Float).OrNull(from.Nullable)
	}
	return types.Type{}
}

// call makes an OpCall.
func call(name string, sig *types.Sig, result types.Type, args ...*types.Expr) *types.Expr {
	return &types.Expr{Op: types.OpCall, Name: name, Sig: sig, Type: result, Args: args}
}
