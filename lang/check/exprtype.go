package check

import (
	"fmt"
	"iter"
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// typer types one expression: one of the script, or the body of a fn at one of its uses. A method that gives nil has
// reported why.
type typer struct {
	c     *checker
	sc    *scope
	text  *exprText
	tree  ast.Node
	memo  memo       // expr's trees share nodes (a < b < c, a ?: b): each is typed once
	lets  []binding  // let variables and parameters, innermost last
	elems []element  // lists whose closures surround the node, innermost last
	above []ast.Node // the node being typed and those around it, innermost last
	fn    *fn        // whose body it is, or nil
	inAgg string     // the aggregate whose argument is being typed
}

// memo holds what nodes are, once they are typed; nil for those that are wrong.
type memo struct {
	few  []typed // nearly all expressions are small: looking through a list is quicker than a map, and to make it is, too
	many map[ast.Node]*types.Expr
}

type typed struct {
	node ast.Node
	expr *types.Expr
}

func (m *memo) get(n ast.Node) (x *types.Expr, known bool) {
	if m.many != nil {
		x, known = m.many[n]
		return x, known
	}
	for _, t := range m.few {
		if t.node == n {
			return t.expr, true
		}
	}
	return nil, false
}

// all gives what is known, the root of few nodes first.
func (m *memo) all() iter.Seq[*types.Expr] {
	return func(yield func(*types.Expr) bool) {
		for _, t := range slices.Backward(m.few) {
			if !yield(t.expr) {
				return
			}
		}
		for _, x := range m.many {
			if !yield(x) {
				return
			}
		}
	}
}

// put enters a node that is not known.
func (m *memo) put(n ast.Node, x *types.Expr) {
	if m.many == nil && len(m.few) < 32 {
		m.few = append(m.few, typed{n, x})
		return
	}
	if m.many == nil {
		m.many = make(map[ast.Node]*types.Expr, 2*len(m.few))
		for _, t := range m.few {
			m.many[t.node] = t.expr
		}
		m.few = nil
	}
	m.many[n] = x
}

// binding is a name and the expression that it stands for.
type binding struct {
	name  string
	value *types.Expr
}

// Bounds of a typed expression. Work counts nodes made, those of inlined functions included; size counts nodes of the
// tree, what is shared counted at each place, since rules walk trees.
const (
	maxWork     = 200_000
	maxSize     = 100_000
	maxTypeSize = 5_000
)

// fail reports an error at a node. Inside of the body of a fn the message also shows the call.
func (t *typer) fail(n ast.Node, code, message, help string) *types.Expr {
	return t.failAt(t.text.span(t.closed(n)), code, message, help)
}

// failOp is fail at the operator, the name of the function or the field alone.
func (t *typer) failOp(n ast.Node, code, message, help string) *types.Expr {
	if n.Location().To == 0 {
		return t.fail(n, code, message, help)
	}
	return t.failAt(t.text.span(n.Location()), code, message, help)
}

func (t *typer) failAt(at syntax.Span, code, message, help string) *types.Expr {
	before := len(t.c.diags.list)
	t.c.report(t.text.expr.Source, at, code, message, help)
	if len(t.c.diags.list) > before {
		d := &t.c.diags.list[before]
		var notes []Note
		for i := len(t.c.calls) - 1; i >= 0; i-- {
			call := t.c.calls[i]
			notes = append(notes, Note{Source: call.src, Span: call.span, Text: "in the function `" + call.fn.name + "`, called here"})
		}
		d.Notes = append(notes, d.Notes...)
	}
	return nil
}

// written is the text of a node as it stands in the script, shortened.
func (t *typer) written(n ast.Node) string { return short(t.text.slice(t.closed(n))) }

// node types a node.
func (t *typer) node(n ast.Node) *types.Expr {
	if x, ok := t.memo.get(n); ok {
		return x
	}
	if t.c.work++; t.c.work > maxWork || len(t.above) > maxDepth {
		t.memo.put(n, nil)
		return t.fail(n, "T229", "the expression is too large or nested too deeply", "compute a part of it by a `derive` before, or by `let x = …; …`")
	}
	t.above = append(t.above, n)
	x := t.form(n)
	t.above = t.above[:len(t.above)-1]
	if x != nil && x.Op != types.OpConst && x.Pos.Line == 0 {
		x.Pos = t.place(n)
	}
	t.memo.put(n, x)
	return x
}

func (t *typer) form(n ast.Node) *types.Expr {
	switch n := n.(type) {
	case *ast.NilNode:
		return types.Const(types.T(types.Null), nil)
	case *ast.BoolNode:
		return types.Const(types.T(types.Bool), n.Value)
	case *ast.IntegerNode:
		return types.Const(types.T(types.Int), int64(n.Value))
	case *ast.FloatNode:
		return types.Const(types.T(types.Float), n.Value)
	case *ast.StringNode:
		return types.Const(types.T(types.String), n.Value)
	case *ast.BytesNode:
		return types.Const(types.T(types.Bytes), string(n.Value))
	case *ast.IdentifierNode:
		return t.identifier(n)
	case *ast.UnaryNode:
		return t.unary(n)
	case *ast.BinaryNode:
		return t.binary(n)
	case *ast.ChainNode:
		return t.node(n.Node) // our members are null where the record is, with `.` and `?.` alike
	case *ast.MemberNode:
		return t.member(n)
	case *ast.SliceNode:
		return t.slice(n)
	case *ast.ConditionalNode:
		return t.conditional(n)
	case *ast.ArrayNode:
		return t.list(n)
	case *ast.MapNode:
		return t.record(n)
	case *ast.VariableDeclaratorNode:
		return t.let(n)
	case *ast.SequenceNode:
		var last *types.Expr
		for _, k := range n.Nodes {
			if last = t.node(k); last == nil {
				return nil
			}
		}
		return last
	case *ast.BuiltinNode:
		return t.builtin(n)
	case *ast.CallNode:
		return t.call(n)
	case *ast.PointerNode:
		return t.pointer(n)
	}
	return t.fail(n, "P100", "this is no expression", "")
}

// name is the name that a node stands for, as the script writes it.
func (t *typer) name(n ast.Node, written string) string {
	if w, ok := t.text.words[n.Location().From]; ok && w.value == nil {
		return w.name
	}
	return written
}

// literal is the duration or time that stands at a node, nil if it is none.
func (t *typer) literal(n ast.Node) *types.Expr {
	if n.Location().To == 0 {
		return nil
	}
	return t.text.words[n.Location().From].value
}

func (t *typer) identifier(n *ast.IdentifierNode) *types.Expr {
	if v := t.literal(n); v != nil {
		return v
	}
	name := t.name(n, n.Value)
	for i := len(t.lets) - 1; i >= 0; i-- {
		if t.lets[i].name == name {
			return t.lets[i].value
		}
	}
	sc := t.sc
	if sc.aggs != nil && t.inAgg == "" && !sc.perRow {
		if i := sc.keys.Index(name); i >= 0 {
			return types.ColRef(sc.keys, i)
		}
	} else if x := sc.column(name); x != nil && !sc.constant {
		return x
	}
	if v := sc.consts[name]; v != nil {
		if sc.aggs != nil && t.inAgg == "" && !sc.perRow && !v.Fixed() { // an argument of the pipe around
			return t.fail(n, "N156", fmt.Sprintf("`%s` stands for a value of the row, which is neither aggregated nor a key", name), "")
		}
		return v
	}
	return t.unknownName(n, name)
}

// column finds a column by its name, nil if there is none.
func (sc *scope) column(name string) *types.Expr {
	for k := len(sc.extra) - 1; k >= 0; k-- {
		if x := sc.extra[k]; x.Name == name && x.Expr != nil {
			return &types.Expr{Op: types.OpCol, Type: x.Expr.Type, Col: sc.base + len(sc.schema.Fields) + k, Name: name}
		}
	}
	if i := sc.schema.Index(name); i >= 0 {
		x := types.ColRef(sc.schema, i)
		x.Col += sc.base
		return x
	}
	return nil
}

// conditional types `a ? b : c`, `a ?: c` and `if a { b } else { c }`.
func (t *typer) conditional(n *ast.ConditionalNode) *types.Expr {
	cond := t.node(n.Cond)
	if cond != nil && n.Exp1 == n.Cond && cond.Type.Kind != types.Bool {
		return t.fail(n.Cond, "T201", fmt.Sprintf("`a ?: b` stands for `a ? a : b`, so `%s` must be bool, not %s", t.written(n.Cond), describe(cond.Type)),
			fmt.Sprintf("for a value in place of null write `%s ?? …`", t.operand(n.Cond)))
	}
	cond = t.condition(n.Cond, cond)
	a, b := t.node(n.Exp1), t.node(n.Exp2)
	if cond == nil || a == nil || b == nil {
		return nil
	}
	a, b, u, ok := unify(a, b)
	if !ok {
		return t.fail(n, "T201", fmt.Sprintf("the two branches have different types: `%s` is %s, `%s` is %s", t.written(n.Exp1), describe(a.Type), t.written(n.Exp2),
			describe(b.Type)), "give both one type, for example by `string(…)`")
	}
	return &types.Expr{Op: types.OpIf, Type: u, Args: []*types.Expr{cond, a, b}}
}

// condition demands a bool, which may be null.
func (t *typer) condition(n ast.Node, x *types.Expr) *types.Expr {
	if x == nil || x.Type.Kind == types.Bool {
		return x
	}
	return t.fail(n, "T201", fmt.Sprintf("a condition must be bool, but `%s` is %s", t.written(n), describe(x.Type)), boolRemedy(t.operand(n), x.Type))
}

// boolRemedy shows the comparison that was probably meant by a value in place of a condition.
func boolRemedy(text string, u types.Type) string {
	switch {
	case u.Kind == types.Null:
		return ""
	case u.Nullable:
		return "write `" + text + " != nil`"
	case u.Kind == types.Int:
		return "write `" + text + " != 0`"
	case u.Kind == types.Float:
		return "write `" + text + " != 0.0`"
	case u.Kind == types.String:
		return "write `" + text + " != \"\"`"
	case u.Kind == types.Duration:
		return "write `" + text + " != 0s`"
	case u.Kind == types.List:
		return "write `len(" + text + ") > 0`"
	case u.Kind == types.Any:
		return "write `" + text + " == true`"
	}
	return ""
}

func (t *typer) list(n *ast.ArrayNode) *types.Expr {
	if len(n.Nodes) == 0 {
		return &types.Expr{Op: types.OpList, Type: types.ListOf(types.T(types.Null))}
	}
	args := make([]*types.Expr, len(n.Nodes))
	bad := false
	for i, k := range n.Nodes {
		args[i] = t.node(k)
		bad = bad || args[i] == nil
	}
	if bad {
		return nil
	}
	elem := args[0].Type
	for i, x := range args[1:] {
		u, ok := unifyTypes(elem, x.Type, emptyList(args[0]), emptyList(x))
		if !ok {
			return t.fail(n.Nodes[i+1], "T201", fmt.Sprintf("the elements of a list have one type: `%s` is %s, those before are %s", t.written(n.Nodes[i+1]),
				describe(x.Type), describe(elem)), "use a record, `{a: …, b: …}`, for values of different types")
		}
		elem = u
	}
	for i := range args {
		args[i] = cast(args[i], elem)
	}
	return &types.Expr{Op: types.OpList, Type: types.ListOf(elem), Args: args}
}

func (t *typer) record(n *ast.MapNode) *types.Expr {
	x := &types.Expr{Op: types.OpRecord, Type: types.Type{Kind: types.Record}}
	seen := map[string]bool{}
	bad := false
	for _, k := range n.Pairs {
		pair := k.(*ast.PairNode)
		name, ok := t.fieldName(pair.Key)
		v := t.node(pair.Value)
		switch {
		case !ok:
			t.fail(pair.Key, "T230", fmt.Sprintf("the fields of a record have constant names, but `%s` is none", t.written(pair.Key)), "")
		case seen[name]:
			t.fail(pair.Key, "T230", fmt.Sprintf("the field `%s` stands twice", name), "")
		}
		bad = bad || !ok || v == nil || seen[name]
		if !bad {
			x.Names, x.Args = append(x.Names, name), append(x.Args, v)
			x.Type.Fields = append(x.Type.Fields, types.Field{Name: name, Type: v.Type})
		}
		seen[name] = true
	}
	if bad {
		return nil
	}
	if typeSize(x.Type, maxTypeSize) < 0 {
		return t.fail(n, "T229", "the record has too many fields", "")
	}
	return x
}

// fieldName is the constant name of a field.
func (t *typer) fieldName(key ast.Node) (string, bool) {
	if s, ok := key.(*ast.StringNode); ok {
		return t.name(key, s.Value), true
	}
	x := t.node(key)
	if x == nil || x.Op != types.OpConst || x.Type.Kind != types.String {
		return "", false
	}
	return x.Value.(string), true
}

func (t *typer) let(n *ast.VariableDeclaratorNode) *types.Expr {
	name := t.name(n, n.Name)
	if what := t.taken(name); what != "" {
		return t.failOp(n, "N158", fmt.Sprintf("`%s` is %s and cannot be the name of a `let`", name, what), "take another name")
	}
	v := t.node(n.Value)
	if v == nil {
		return nil
	}
	t.lets = append(t.lets, binding{name, v})
	x := t.node(n.Expr)
	t.lets = t.lets[:len(t.lets)-1]
	return x
}

// taken says what a name stands for already, "" if for nothing.
func (t *typer) taken(name string) string {
	for _, b := range t.lets {
		if b.name == name {
			return "defined already"
		}
	}
	switch {
	case t.sc.column(name) != nil || t.sc.keys.Index(name) >= 0:
		return "a column"
	case t.sc.consts[name] != nil:
		return "a constant"
	case t.isFunction(name):
		return "a function"
	}
	return ""
}

// member types x.name, x["name"], x[i].
func (t *typer) member(n *ast.MemberNode) *types.Expr {
	if id, ok := n.Node.(*ast.IdentifierNode); ok && id.Value == "$env" {
		return t.fail(n, "N154", "there is no `$env`", "name the column itself; a name that is no identifier is written `@\"order id\"`")
	}
	x := t.node(n.Node)
	if x == nil {
		return nil
	}
	prop, isName := n.Property.(*ast.StringNode)
	var index *types.Expr
	if isName {
		index = types.Const(types.T(types.String), t.name(n.Property, prop.Value))
	} else if index = t.node(n.Property); index == nil {
		return nil
	}
	name, isString := index.Value.(string)
	isString = isString && index.Type.Kind == types.String
	switch x.Type.Kind {
	case types.Record:
		if !isString {
			return t.fail(n.Property, "T226", fmt.Sprintf("the fields of a record have constant names, but `%s` is %s", t.written(n.Property), describe(index.Type)), "")
		}
		i := x.Type.Field(name)
		if i < 0 {
			return t.unknownField(n, name, x.Type)
		}
		f := x.Type.Fields[i]
		return &types.Expr{Op: types.OpField, Type: f.Type.OrNull(x.Type.Nullable), Args: []*types.Expr{x}, Name: f.Name}
	case types.Any:
		if isString {
			return &types.Expr{Op: types.OpField, Type: types.T(types.Any).Null(), Args: []*types.Expr{x}, Name: name}
		}
		if index.Type.Kind == types.Int || index.Type.Kind == types.String {
			return t.island(n, t.anyIndex(x, index))
		}
	case types.List:
		if index.Type.Kind == types.Int {
			return &types.Expr{Op: types.OpIndex, Type: x.Type.Elem.OrNull(x.Type.Nullable || index.Type.Nullable), Args: []*types.Expr{x, index}}
		}
		help := ""
		if isName && x.Type.Elem.Kind == types.Record {
			help = fmt.Sprintf("the field of each element is `map(%s, .%s)`, of the first `%s[0].%s`", t.written(n.Node), name, t.operand(n.Node), name)
		}
		return t.failOp(n.Property, "T226", fmt.Sprintf("elements of a list are reached by an int, not by %s", describeValue(index)), help)
	case types.String:
		if isName {
			return t.noField(n, name, x.Type)
		}
		return t.fail(n, "T226", "a string has no elements", fmt.Sprintf("one character is `substr(%s, %s, 1)`", t.written(n.Node), t.written(n.Property)))
	}
	if isString {
		return t.noField(n, name, x.Type)
	}
	return t.fail(n, "T226", fmt.Sprintf("`%s` is %s and has no elements", t.written(n.Node), describe(x.Type)), "")
}

// slice types x[from:to] of a string, in bytes, or of a list.
func (t *typer) slice(n *ast.SliceNode) *types.Expr {
	args := []*types.Expr{t.node(n.Node), types.Const(types.T(types.Int), int64(0))}
	if n.From != nil {
		args[1] = t.node(n.From)
	}
	if n.To != nil {
		args = append(args, t.node(n.To))
	}
	for i, x := range args {
		if x == nil {
			return nil
		}
		if i > 0 && x.Type.Kind != types.Int {
			k := n.From
			if i == 2 {
				k = n.To
			}
			return t.fail(k, "T226", fmt.Sprintf("the bounds of a slice are int, but `%s` is %s", t.written(k), describe(x.Type)), "")
		}
	}
	if k := args[0].Type.Kind; k != types.String && k != types.List {
		return t.fail(n, "T226", fmt.Sprintf("`%s` is %s and cannot be sliced", t.written(n.Node), describe(args[0].Type)), "")
	}
	return t.operator(n, "slice", args)
}
