package check

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"

	"github.com/ebb-lang/ebb/lang/types"
)

// lowering turns typed trees into trees for expr's VM: islands, and constant expressions. The VM's own behaviour on null is
// not ours, so operands that may be null are tested before it sees them.
type lowering struct {
	t     *typer
	n     ast.Node // for errors
	elem  int      // the closure that the island is about, -1 for none
	names []string
	args  []*types.Expr
	bad   *types.Expr // a call that the VM does not know
}

func (t *typer) lowering(n ast.Node, elem int) *lowering { return &lowering{t: t, n: n, elem: elem} }

// island makes the node of what was lowered, or reports why there is none.
func (l *lowering) island(node ast.Node, out types.Type) *types.Expr {
	if x := l.bad; x != nil {
		msg, help := fmt.Sprintf("`%s` cannot be used on the elements of a list", x.Name),
			"make the elements rows by `unnest`, or keep to the functions of expr: "+strings.Join(elementFunctions, " ")
		if at, ok := l.t.tokenAt(x.Pos); ok {
			return l.t.failAt(at, "N163", msg, help)
		}
		return l.t.fail(l.n, "N163", msg, help)
	}
	return &types.Expr{Op: types.OpIsland, Type: out, Names: l.names, Args: l.args, Node: node, Loose: true}
}

var elementFunctions = []string{"len", "lower", "upper", "trim", "split", "replace", "indexOf", "int", "float", "string", "abs", "floor", "round", "…"}

// island makes an island of one call, or index, whose arguments are typed already. It is strict unless the call is loose.
func (t *typer) island(n ast.Node, x *types.Expr) *types.Expr {
	l := t.lowering(n, -1)
	nodes := make([]ast.Node, len(x.Args))
	for i, a := range x.Args {
		nodes[i] = l.free(a)
	}
	out := l.island(l.apply(x, nodes), x.Type)
	if out != nil {
		out.Loose = x.Op == types.OpCall && x.Sig.Loose
	}
	return out
}

// anyIndex is x[i] of a schemaless value.
func (t *typer) anyIndex(x, index *types.Expr) *types.Expr {
	return &types.Expr{Op: types.OpIndex, Type: types.T(types.Any).Null(), Args: []*types.Expr{x, index}}
}

// fresh gives a name that nothing else in the expression has.
func (l *lowering) fresh(prefix string) string {
	l.t.c.vars++
	return fmt.Sprintf("%s%d", prefix, l.t.c.vars-1)
}

// free passes what does not depend on the element as an argument; constants stay in the tree.
func (l *lowering) free(x *types.Expr) ast.Node {
	if v, ok := literal(x); ok {
		return constNode(x.Type, v)
	}
	for i, a := range l.args {
		if same(a, x) {
			return &ast.IdentifierNode{Value: l.names[i]}
		}
	}
	name := l.fresh("a")
	l.names, l.args = append(l.names, name), append(l.args, x)
	return &ast.IdentifierNode{Value: name}
}

// literal is the value of a constant, of a list or of a record of them.
func literal(x *types.Expr) (any, bool) {
	switch x.Op {
	case types.OpConst:
		return x.Value, true
	case types.OpList:
		list := make([]any, len(x.Args))
		for i, a := range x.Args {
			v, ok := literal(a)
			if !ok {
				return nil, false
			}
			list[i] = v
		}
		return list, true
	case types.OpRecord:
		m := make(map[string]any, len(x.Args))
		for i, a := range x.Args {
			v, ok := literal(a)
			if !ok {
				return nil, false
			}
			m[x.Names[i]] = v
		}
		return m, true
	}
	return nil, false
}

// depends reports whether x speaks of the element of l's closure.
func (l *lowering) depends(x *types.Expr) bool {
	return x.Any(func(y *types.Expr) bool {
		id, _, ok := elementOf(y.Col)
		return y.Op == types.OpCol && ok && id == l.elem
	})
}

// safe reports whether x can be computed on every row without failing, whether it is needed there or not.
func safe(x *types.Expr) bool {
	return !x.Any(func(y *types.Expr) bool {
		switch y.Op {
		case types.OpIndex, types.OpIsland:
			return true
		case types.OpCall:
			return types.Operators[y.Name] == nil || y.Name == "%" || y.Name == ".." || y.Name == "matches" && y.Args[1].Op != types.OpConst
		}
		return false
	})
}

// expr lowers a tree.
func (l *lowering) expr(x *types.Expr) ast.Node {
	switch x.Op {
	case types.OpConst:
		return constNode(x.Type, x.Value)
	case types.OpNow, types.OpEventTime:
		return l.free(x)
	case types.OpCol:
		id, which, ok := elementOf(x.Col)
		if !ok || id != l.elem {
			return l.free(x)
		}
		return &ast.PointerNode{Name: [...]string{"", "index", "acc"}[which]}
	}
	if l.elem >= 0 && !l.depends(x) && (safe(x) || x.Op == types.OpCall && !l.known(x)) {
		return l.free(x)
	}
	switch x.Op {
	case types.OpAnd, types.OpOr:
		return l.logic(x)
	case types.OpCoalesce:
		return binary("??", l.expr(x.Args[0]), l.expr(x.Args[1]))
	case types.OpIf:
		return choice(l.expr(truth(x.Args[0])), l.expr(x.Args[1]), l.expr(x.Args[2]))
	case types.OpList:
		nodes := make([]ast.Node, len(x.Args))
		for i, a := range x.Args {
			nodes[i] = l.expr(a)
		}
		return &ast.ArrayNode{Nodes: nodes}
	case types.OpRecord:
		m := &ast.MapNode{}
		for i, a := range x.Args {
			m.Pairs = append(m.Pairs, &ast.PairNode{Key: &ast.StringNode{Value: x.Names[i]}, Value: l.expr(a)})
		}
		return m
	case types.OpCast:
		return l.cast(l.expr(x.Args[0]), x.Args[0].Type, x.Type)
	case types.OpIsland:
		return l.nested(x)
	}
	strict := x.Op != types.OpCall || !x.Sig.Loose
	nodes := make([]ast.Node, len(x.Args))
	var lets []vmLet
	for i, a := range x.Args {
		nodes[i] = l.expr(a)
		if strict && nullable(a) && !simple(nodes[i]) {
			name := l.fresh("v")
			lets = append(lets, vmLet{name, nodes[i]})
			nodes[i] = &ast.IdentifierNode{Value: name}
		}
	}
	node := l.apply(x, nodes)
	if strict {
		node = guard(x.Args, nodes, node)
	}
	return bind(lets, node)
}

// vmLet is a name and the tree for the VM that it stands for.
type vmLet struct {
	name  string
	value ast.Node
}

func bind(lets []vmLet, node ast.Node) ast.Node {
	for i := len(lets) - 1; i >= 0; i-- {
		node = &ast.VariableDeclaratorNode{Name: lets[i].name, Value: lets[i].value, Expr: node}
	}
	return node
}

// simple reports whether a tree may stand twice.
func simple(n ast.Node) bool {
	switch n.(type) {
	case *ast.IdentifierNode, *ast.PointerNode, *ast.NilNode:
		return true
	}
	return false
}

// guard gives nil where one of the operands that may be null is.
func guard(args []*types.Expr, nodes []ast.Node, node ast.Node) ast.Node {
	var test ast.Node
	for i, a := range args {
		if nullable(a) {
			is := binary("==", nodes[i], &ast.NilNode{})
			if test == nil {
				test = is
			} else {
				test = binary("||", test, is)
			}
		}
	}
	if test == nil {
		return node
	}
	return choice(test, &ast.NilNode{}, node)
}

func binary(op string, a, b ast.Node) ast.Node {
	return &ast.BinaryNode{Operator: op, Left: a, Right: b}
}

func choice(cond, a, b ast.Node) ast.Node {
	return &ast.ConditionalNode{Ternary: true, Cond: cond, Exp1: a, Exp2: b}
}

func builtinCall(name string, args ...ast.Node) ast.Node {
	return &ast.BuiltinNode{Name: name, Arguments: args}
}

// known reports whether the VM has the function or operator of a call.
func (l *lowering) known(x *types.Expr) bool {
	if types.Operators[x.Name] != nil {
		return true
	}
	_, ok := builtin.Index[x.Name]
	return ok && (!isPredicate(x.Name) || x.Name == "sum")
}

// apply makes the node of a strict form over operands that are not null.
func (l *lowering) apply(x *types.Expr, nodes []ast.Node) ast.Node {
	switch x.Op {
	case types.OpField:
		return &ast.MemberNode{Node: nodes[0], Property: &ast.StringNode{Value: x.Name}}
	case types.OpIndex:
		return &ast.MemberNode{Node: nodes[0], Property: nodes[1]}
	}
	kind := func(i int) types.Kind { return x.Args[i].Type.Kind }
	switch x.Name {
	case "neg":
		if kind(0) == types.Duration {
			return binary("*", nodes[0], &ast.IntegerNode{Value: -1})
		}
		return &ast.UnaryNode{Operator: "-", Node: nodes[0]}
	case "not":
		return &ast.UnaryNode{Operator: "not", Node: nodes[0]}
	case "slice":
		s := &ast.SliceNode{Node: nodes[0], From: nodes[1]}
		if len(nodes) > 2 {
			s.To = nodes[2]
		}
		return s
	case "*", "/":
		// The VM has no fractions of durations: they are computed in nanoseconds.
		ns := func(i int) ast.Node {
			if kind(i) == types.Duration {
				return builtinCall("int", nodes[i])
			}
			return nodes[i]
		}
		switch a, b := kind(0), kind(1); {
		case a == types.Duration && b == types.Duration:
			return binary("/", ns(0), ns(1))
		case a == types.Duration && (x.Name == "/" || b == types.Float), b == types.Duration && a == types.Float:
			return builtinCall("duration", binary("+", builtinCall("string", builtinCall("int", binary(x.Name, ns(0), ns(1)))), &ast.StringNode{Value: "ns"}))
		}
	}
	if types.Operators[x.Name] != nil {
		return binary(x.Name, nodes[0], nodes[1])
	}
	if !l.known(x) && l.bad == nil {
		l.bad = x
	}
	return builtinCall(x.Name, nodes...)
}

// logic lowers and/or, which are three-valued where a side may be null.
func (l *lowering) logic(x *types.Expr) ast.Node {
	op, stop := "&&", false
	if x.Op == types.OpOr {
		op, stop = "||", true
	}
	a, b := x.Args[0], x.Args[1]
	if !nullable(a) && !nullable(b) {
		return binary(op, l.expr(a), l.expr(b))
	}
	v, w := l.fresh("v"), l.fresh("v")
	va, vb := &ast.IdentifierNode{Value: v}, &ast.IdentifierNode{Value: w}
	isStop := func(n ast.Node) ast.Node { return binary("==", n, &ast.BoolNode{Value: stop}) }
	isNil := func(n ast.Node) ast.Node { return binary("==", n, &ast.NilNode{}) }
	rest := choice(isStop(vb), &ast.BoolNode{Value: stop},
		choice(binary("||", isNil(va), isNil(vb)), &ast.NilNode{}, &ast.BoolNode{Value: !stop}))
	return bind([]vmLet{{v, l.expr(a)}}, choice(isStop(va), &ast.BoolNode{Value: stop}, bind([]vmLet{{w, l.expr(b)}}, rest)))
}

// cast lowers a cast, which changes a value only where an int becomes a float.
func (l *lowering) cast(n ast.Node, from, to types.Type) ast.Node {
	if !widens(from, to) {
		return n
	}
	if !simple(n) {
		name := l.fresh("v")
		return bind([]vmLet{{name, n}}, l.cast(&ast.IdentifierNode{Value: name}, from, to))
	}
	var out ast.Node
	switch from.Kind {
	case types.Int:
		out = builtinCall("float", n)
	case types.List:
		out = builtinCall("map", n, &ast.PredicateNode{Node: l.cast(&ast.PointerNode{}, *from.Elem, *to.Elem)})
	case types.Record:
		m := &ast.MapNode{}
		for i, f := range from.Fields {
			m.Pairs = append(m.Pairs, &ast.PairNode{Key: &ast.StringNode{Value: f.Name},
				Value: l.cast(&ast.MemberNode{Node: n, Property: &ast.StringNode{Value: f.Name}}, f.Type, to.Fields[i].Type)})
		}
		out = m
	}
	if from.Nullable {
		return choice(binary("==", n, &ast.NilNode{}), &ast.NilNode{}, out)
	}
	return out
}

// widens reports whether a cast turns an int into a float somewhere.
func widens(from, to types.Type) bool {
	switch {
	case from.Kind == types.Int:
		return to.Kind == types.Float
	case from.Kind == types.List && to.Kind == types.List:
		return widens(*from.Elem, *to.Elem)
	case from.Kind == types.Record && to.Kind == types.Record:
		for i, f := range from.Fields {
			if widens(f.Type, to.Fields[i].Type) {
				return true
			}
		}
	}
	return false
}

// nested puts an island into another one: its arguments become variables.
func (l *lowering) nested(x *types.Expr) ast.Node {
	lets := make([]vmLet, len(x.Args))
	nodes := make([]ast.Node, len(x.Args))
	for i, a := range x.Args {
		lets[i] = vmLet{x.Names[i], l.expr(a)}
		nodes[i] = &ast.IdentifierNode{Value: x.Names[i]}
	}
	node := x.Node
	if !x.Loose {
		node = guard(x.Args, nodes, node)
	}
	return bind(lets, node)
}
