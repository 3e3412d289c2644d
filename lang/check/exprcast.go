package check

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ebb-lang/ebb/lang/types"
)

// cast gives x the type, which it is known to fit.
func cast(x *types.Expr, to types.Type) *types.Expr {
	if x.Type.Equal(to) {
		return x
	}
	if x.Op == types.OpConst {
		switch v := x.Value.(type) {
		case nil:
			return types.Const(to, nil)
		case int64:
			if x.Type.Kind == types.Int && to.Kind == types.Float {
				return types.Const(to, float64(v))
			}
			if x.Type.Kind == to.Kind {
				return types.Const(to, v)
			}
		case bool, float64, string:
			if x.Type.Kind == to.Kind {
				return types.Const(to, v)
			}
		case []any, map[string]any:
			return types.Const(to, castValue(v, x.Type, to))
		}
	}
	if x.Op == types.OpList && to.Kind == types.List && !x.Type.Nullable { // [1, 2] as [float]: its elements are
		args := make([]*types.Expr, len(x.Args))
		for i, a := range x.Args {
			args[i] = cast(a, *to.Elem)
		}
		list := &types.Expr{Op: types.OpList, Type: to.NotNull(), Args: args, Pos: x.Pos}
		if !to.Nullable {
			return list
		}
		x = list
	}
	return &types.Expr{Op: types.OpCast, Type: to, Args: []*types.Expr{x}, Pos: x.Pos}
}

// castValue is cast for the value of a constant.
func castValue(v any, from, to types.Type) any {
	switch x := v.(type) {
	case int64:
		if from.Kind == types.Int && to.Kind == types.Float {
			return float64(x)
		}
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = castValue(e, *from.Elem, *to.Elem)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for i, f := range from.Fields {
			out[f.Name] = castValue(x[f.Name], f.Type, to.Fields[i].Type)
		}
		return out
	}
	return v
}

// unify gives two expressions one type, but for outer nullability the same, and that type for a choice between them.
// If they have none it returns them as they are, and false.
func unify(a, b *types.Expr) (*types.Expr, *types.Expr, types.Type, bool) {
	u, ok := unifyTypes(a.Type, b.Type, emptyList(a), emptyList(b))
	if !ok {
		return a, b, types.Type{}, false
	}
	if a.Type.Kind == types.Null && b.Type.Kind == types.Null {
		return a, b, u, true
	}
	return cast(a, u), cast(b, u), u, true
}

// unifyTypes is types.Unify where the literal [] takes the type of any list.
func unifyTypes(a, b types.Type, emptyA, emptyB bool) (types.Type, bool) {
	switch {
	case emptyA && b.Kind == types.List:
		return b.OrNull(a.Nullable), true
	case emptyB && a.Kind == types.List:
		return a.OrNull(b.Nullable), true
	case a.Kind == types.Null && b.Kind == types.Null:
		return a, true
	}
	u, err := types.Unify(a, b)
	return u, err == nil
}

// emptyList reports whether x is the literal [], or a constant of that value.
func emptyList(x *types.Expr) bool {
	list, isConst := x.Value.([]any)
	return x.Op == types.OpList && len(x.Args) == 0 || x.Op == types.OpConst && isConst && len(list) == 0
}

// wanted demands a type of x, the value of n: `what` says what for.
func (t *typer) wanted(n ast.Node, x *types.Expr, want types.Type, what string) *types.Expr {
	if x == nil {
		return nil
	}
	from := x.Type
	if types.Assignable(from, want) || emptyList(x) && want.Kind == types.List {
		return cast(x, want)
	}
	text := t.written(n)
	if from.Kind == types.Null || from.Nullable && types.Assignable(from, want.Null()) {
		help := "give a value in its place: `" + t.operand(n) + " ?? " + sample(want) + "`"
		if b, ok := n.(*ast.BinaryNode); ok {
			if co, ok := b.Right.(*ast.BinaryNode); ok && co.Operator == "??" {
				help = fmt.Sprintf("`??` binds tighter than `%s`; write `(%s %s %s) ?? %s`", b.Operator, t.written(b.Left), b.Operator, t.written(co.Left), t.written(co.Right))
			}
		}
		if from.Kind == types.Null {
			return t.fail(n, "T202", fmt.Sprintf("%s cannot be null: it is %s", what, describe(want)), "")
		}
		return t.fail(n, "T202", fmt.Sprintf("%s must be %s, but `%s` may be null", what, describe(want), text), help)
	}
	return t.fail(n, "T201", fmt.Sprintf("%s must be %s, but `%s` is %s", what, describe(want), text, describe(from)), convertRemedy(text, t.operand(n), from, want))
}

// convertRemedy shows how a value of one type is made one of another. operand is the text as it can stand beside an operator.
func convertRemedy(text, operand string, from, to types.Type) string {
	switch {
	case from.Kind == types.Null:
		return ""
	case to.Kind == types.Bool:
		return boolRemedy(operand, from)
	case to.Kind == types.Int && from.Kind == types.Float:
		return "write `int(" + text + ")`, which cuts off the fraction"
	case (to.Kind == types.Int || to.Kind == types.Float) && (from.Kind == types.String || from.Kind == types.Any):
		return "write `" + to.Kind.String() + "(" + text + ")`"
	case to.Kind == types.String && from.Kind != types.Record && from.Kind != types.List:
		return "write `string(" + text + ")`"
	case to.Kind == types.String:
		return "write `toJSON(" + text + ")`"
	case to.Kind == types.Duration && from.Numeric():
		return "write the unit, as in `5s`, or multiply: `" + operand + " * 1s`"
	case to.Kind == types.Duration && from.Kind == types.String:
		return "durations are written without quotes: `5s`, `1h30m`"
	case to.Kind == types.Time && from.Kind == types.String:
		return "write `time(" + text + ")`, and the layout if it is not RFC 3339: `time(" + text + ", \"02.01.2006\")`"
	case to.Kind == types.List && to.Elem != nil && from.Kind == to.Elem.Kind:
		return "write `[" + text + "]`"
	}
	return ""
}

// constRemedy is convertRemedy for a constant that may be of several kinds.
func constRemedy(want []types.Kind, x *types.Expr) string {
	if len(want) == 0 {
		return ""
	}
	if s, is := x.Value.(string); is && (want[0] == types.Int || want[0] == types.Float) && s != "" && strings.Trim(s, "0123456789.") == "" {
		return "numbers are written without quotes: `" + s + "`"
	}
	return convertRemedy("…", "…", x.Type, types.T(want[0]))
}

// sample is a value of a type, to show where one can stand.
func sample(u types.Type) string {
	switch u.Kind {
	case types.Bool:
		return "false"
	case types.Int:
		return "0"
	case types.Float:
		return "0.0"
	case types.String:
		return `""`
	case types.Time:
		return "@1970-01-01"
	case types.Duration:
		return "0s"
	case types.List:
		return "[]"
	}
	return "…"
}

// describe is a type as messages call it.
func describe(u types.Type) string {
	s := u.String()
	switch {
	case u.Kind == types.Null:
		return "nil"
	case len(s) > 80 && u.Kind == types.Record:
		return fmt.Sprintf("a record of %d fields", len(u.Fields))
	case len(s) > 80:
		return "a list"
	}
	return "`" + s + "`"
}

func describeValue(x *types.Expr) string {
	if x.Op == types.OpConst && x.Type.Kind == types.String {
		return "the name `" + short(x.Value.(string)) + "`"
	}
	return describe(x.Type)
}

func kindList(ks []types.Kind) string {
	parts := make([]string, len(ks))
	for i, k := range ks {
		parts[i] = "`" + k.String() + "`"
	}
	return orList(parts)
}

// orList joins words: a, b or c.
func orList(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " or " + parts[len(parts)-1]
}

// short makes a text of the script fit into a message: one line of at most 40 characters.
func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 40 {
		return string(r[:39]) + "…"
	}
	return s
}

// operand is the text of a node as it can stand beside an operator or in front of a dot.
func (t *typer) operand(n ast.Node) string {
	s := t.written(n)
	switch n.(type) {
	case *ast.BinaryNode, *ast.UnaryNode, *ast.ConditionalNode, *ast.VariableDeclaratorNode, *ast.SequenceNode:
		return "(" + s + ")"
	}
	return s
}

// typeSize counts the types within a type, -1 if there are more than limit.
func typeSize(u types.Type, limit int) int {
	n := 1
	switch {
	case u.Kind == types.List:
		m := typeSize(*u.Elem, limit-n)
		if m < 0 {
			return -1
		}
		n += m
	case u.Kind == types.Record:
		for _, f := range u.Fields {
			m := typeSize(f.Type, limit-n)
			if m < 0 {
				return -1
			}
			n += m
		}
	}
	if n > limit {
		return -1
	}
	return n
}

// fits reports a tree that is too large.
func (t *typer) fits(n ast.Node, x *types.Expr) bool {
	if treeSize(x, map[*types.Expr]int{}) <= maxSize {
		return true
	}
	t.fail(n, "T229", "the expression is too large: its parts are repeated too often", "compute the repeated part by a `derive` before")
	return false
}

// treeSize counts the nodes of a tree that may share, the shared ones at each place; it stops counting above maxSize.
func treeSize(x *types.Expr, seen map[*types.Expr]int) int {
	if n, ok := seen[x]; ok {
		return n
	}
	n := 1
	for _, a := range x.Args {
		n = min(n+treeSize(a, seen), maxSize+1)
	}
	seen[x] = n
	return n
}
