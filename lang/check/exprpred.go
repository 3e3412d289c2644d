package check

import (
	"fmt"

	"github.com/expr-lang/expr/ast"

	"github.com/ebb-lang/ebb/lang/types"
)

// element is a list whose closure is being typed: `#`, `#index` and `#acc` of it. In typed trees they are columns of
// negative numbers, which never leave this package: what contains one becomes part of an island.
type element struct {
	id   int
	name string // of the builtin
	elem types.Type
	acc  types.Type // of reduce; else Invalid
}

// The columns of an element.
const (
	elemValue = iota
	elemIndex
	elemAcc
	elemColumns
)

func (e *element) column(which int, u types.Type) *types.Expr {
	names := [...]string{"#", "#index", "#acc"}
	return &types.Expr{Op: types.OpCol, Type: u, Col: -1 - e.id*elemColumns - which, Name: names[which]}
}

// elementOf gives the closure and the column of an element that a column of a typed tree stands for; false if it is a
// column of the rows.
func elementOf(col int) (id, which int, ok bool) {
	if col >= 0 {
		return 0, 0, false
	}
	return (-1 - col) / elemColumns, (-1 - col) % elemColumns, true
}

func (t *typer) pointer(n *ast.PointerNode) *types.Expr {
	if len(t.elems) == 0 {
		return t.fail(n, "N150", "`#` stands for the element of a list, inside of a closure such as that of `map` or `filter`", "")
	}
	e := &t.elems[len(t.elems)-1]
	switch n.Name {
	case "":
		return e.column(elemValue, e.elem)
	case "index":
		return e.column(elemIndex, types.T(types.Int))
	case "acc":
		if e.acc.Kind != types.Invalid {
			return e.column(elemAcc, e.acc)
		}
		return t.fail(n, "N150", "`#acc` is what `reduce` has so far; `"+e.name+"` has none", "")
	}
	help := "there are `#`, `#index` and, in `reduce`, `#acc`"
	if e.elem.Kind == types.Record && e.elem.Field(n.Name) >= 0 {
		help = "the field of the element is `#." + n.Name + "` or `." + n.Name + "`"
	}
	return t.fail(n, "N150", "unknown `#"+n.Name+"`", help)
}

// predicate types a builtin of expr with a closure. It becomes an island as a whole, with what it reads of the row as
// arguments.
func (t *typer) predicate(n *ast.BuiltinNode) *types.Expr {
	list := t.node(n.Arguments[0])
	if list == nil {
		return nil
	}
	e := element{name: n.Name}
	switch list.Type.Kind {
	case types.List:
		e.elem = *list.Type.Elem
	case types.Any:
		e.elem = types.T(types.Any).Null()
	default:
		return t.fail(n.Arguments[0], "T222", fmt.Sprintf("`%s` takes a list, but `%s` is %s", n.Name, t.written(n.Arguments[0]), describe(list.Type)), "")
	}
	e.id = t.c.closures
	t.c.closures++
	switch n.Name {
	case "reduce":
		return t.reduce(n, list, e)
	case "groupBy":
		return t.fail(n, "T225", "the type of what `groupBy` gives is not known: its fields are data",
			"make the list rows by `unnest` and use `aggregate … by`, or take one group by `filter`")
	}
	body := e.column(elemValue, e.elem)
	if len(n.Arguments) > 1 {
		if body = t.closure(n.Arguments[1], e); body == nil {
			return nil
		}
	}
	var order *types.Expr
	out := types.T(types.Bool)
	null := nullable(list)
	switch n.Name {
	case "all", "none", "any", "one", "filter", "find", "findIndex", "findLast", "findLastIndex", "count":
		if body.Type.Kind != types.Bool {
			k := n.Arguments[len(n.Arguments)-1]
			if len(n.Arguments) == 1 {
				return t.fail(n, "T222", fmt.Sprintf("`count` of a list counts what is true, but the elements are %s", describe(e.elem)),
					fmt.Sprintf("the number of elements is `len(%s)`", t.written(n.Arguments[0])))
			}
			return t.fail(k, "T201", fmt.Sprintf("the condition of `%s` must be bool, but `%s` is %s", n.Name, t.written(k), describe(body.Type)), boolRemedy(t.operand(k), body.Type))
		}
		body = truth(body)
		switch n.Name {
		case "filter":
			if out = list.Type; out.Kind == types.Any {
				out = types.ListOf(e.elem)
			}
		case "find", "findLast":
			out = e.elem.Null()
		case "findIndex", "findLastIndex":
			out = types.T(types.Int).Null()
		case "count":
			out = types.T(types.Int)
		}
	case "map":
		out = types.ListOf(body.Type)
	case "sum":
		if !body.Type.Numeric() {
			return t.fail(n, "T222", fmt.Sprintf("`sum` adds numbers, but the values are %s", describe(body.Type)), "")
		}
		if body.Type.Nullable {
			return t.fail(n, "T202", fmt.Sprintf("`sum` adds numbers, but a value may be null: it is %s", describe(body.Type)),
				fmt.Sprintf("give a value in its place: `sum(%s, # ?? 0)`", t.written(n.Arguments[0])))
		}
		out = body.Type
	case "sortBy":
		k := n.Arguments[1]
		if !body.Type.Ordered() || body.Type.Kind == types.Bool || body.Type.Kind == types.Bytes || body.Type.Nullable {
			return t.fail(k, "T222", fmt.Sprintf("`sortBy` wants a number, string, time or duration that is never null, but `%s` is %s", t.written(k), describe(body.Type)), "")
		}
		if out = list.Type; out.Kind == types.Any {
			out = types.ListOf(e.elem)
		}
		if len(n.Arguments) > 2 {
			if order = t.node(n.Arguments[2]); order == nil {
				return nil
			}
			if v := order.Value; order.Op != types.OpConst || v != "asc" && v != "desc" {
				return t.fail(n.Arguments[2], "T227", "the order of `sortBy` is \"asc\" or \"desc\"", "")
			}
		}
	default:
		return t.fail(n, "N151", fmt.Sprintf("the function `%s` is not available", n.Name), "")
	}
	l := t.lowering(n, e.id)
	if l == nil || !t.fits(n, body) {
		return nil
	}
	args := []ast.Node{l.free(list), &ast.PredicateNode{Node: l.expr(body)}}
	if len(n.Arguments) == 1 {
		args = args[:1]
	}
	if order != nil {
		args = append(args, l.expr(order))
	}
	return l.island(guard([]*types.Expr{list}, args[:1], &ast.BuiltinNode{Name: n.Name, Arguments: args}), out.OrNull(null))
}

// closure types the closure of a builtin.
func (t *typer) closure(n ast.Node, e element) *types.Expr {
	body := n
	if p, ok := n.(*ast.PredicateNode); ok {
		body = p.Node
	}
	t.elems = append(t.elems, e)
	x := t.node(body)
	t.elems = t.elems[:len(t.elems)-1]
	return x
}

// reduce types reduce(list, closure[, first]). What it has so far has the type of the first value, or of the element, made
// wide enough for what the closure gives.
func (t *typer) reduce(n *ast.BuiltinNode, list *types.Expr, e element) *types.Expr {
	e.acc = e.elem
	var first *types.Expr
	if len(n.Arguments) > 2 {
		if first = t.node(n.Arguments[2]); first == nil {
			return nil
		}
		e.acc = first.Type
	}
	var body *types.Expr
	was := t.memo
	defer func() { t.memo = was }()
	for range 4 {
		t.memo = memo{}
		if body = t.closure(n.Arguments[1], e); body == nil {
			return nil
		}
		u, ok := unifyTypes(e.acc, body.Type, first != nil && emptyList(first), emptyList(body))
		if !ok {
			return t.fail(n.Arguments[1], "T201", fmt.Sprintf("`reduce` starts with %s, but `%s` is %s", describe(e.acc), t.written(n.Arguments[1]), describe(body.Type)),
				"give both one type")
		}
		if u.Equal(e.acc) {
			break
		}
		e.acc = u
	}
	if u, ok := unifyTypes(e.acc, body.Type, false, emptyList(body)); !ok || !u.Equal(e.acc) || e.acc.Kind == types.Null {
		return t.fail(n, "T225", "the type of what `reduce` gives is not known", "give a first value of that type")
	}
	l := t.lowering(n, e.id)
	if l == nil || !t.fits(n, body) {
		return nil
	}
	args := []ast.Node{l.free(list), &ast.PredicateNode{Node: l.expr(cast(body, e.acc))}}
	if first != nil {
		args = append(args, l.expr(cast(first, e.acc)))
	}
	return l.island(guard([]*types.Expr{list}, args[:1], &ast.BuiltinNode{Name: n.Name, Arguments: args}), e.acc.OrNull(nullable(list)))
}

// truth makes a condition that may be null false there.
func truth(x *types.Expr) *types.Expr {
	switch {
	case !x.Type.Nullable:
		return x
	case x.Op == types.OpAnd || x.Op == types.OpOr:
		return &types.Expr{Op: x.Op, Type: types.T(types.Bool), Args: []*types.Expr{truth(x.Args[0]), truth(x.Args[1])}, Pos: x.Pos}
	}
	return call("==", types.Operators["=="][0], types.T(types.Bool), x, types.Const(types.T(types.Bool), true))
}
