package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ebb-lang/ebb/lang/types"
)

// aggregate types a call of an aggregate: a column of the calls' results.
func (t *typer) aggregate(n ast.Node, sig *types.AggSig, nodes []ast.Node) *types.Expr {
	list := ""
	if t.c.env.Func(sig.Name) != nil || isPredicate(sig.Name) {
		list = fmt.Sprintf("the function of a list is written `::%s(…)` here", sig.Name)
	}
	switch {
	case t.inAgg != "":
		if list == "" {
			list = fmt.Sprintf("compute `%s` in an `aggregate` of its own before", sig.Name)
		}
		return t.failOp(n, "N162", fmt.Sprintf("the aggregate `%s` stands inside of the aggregate `%s`", sig.Name, t.inAgg), list)
	case len(t.elems) > 0:
		return t.failOp(n, "N155", fmt.Sprintf("the aggregate `%s` cannot be called for each element of a list", sig.Name), list)
	}
	params := make([]string, len(sig.Params))
	required := 0
	for i, p := range sig.Params {
		if params[i] = p.Name; !p.Optional {
			required = i + 1
		}
	}
	order, ok := t.arrange(n, sig.Name, params, required, nodes)
	if !ok {
		return nil
	}
	for len(order) > 0 && order[len(order)-1] == nil {
		order = order[:len(order)-1]
	}
	t.inAgg = sig.Name
	args := make([]*types.Expr, len(order))
	bad := false
	for i, k := range order {
		if k == nil {
			args[i] = types.Const(types.T(types.Null), nil)
			continue
		}
		args[i] = t.aggArg(k, sig, sig.Params[i])
		bad = bad || args[i] == nil
	}
	t.inAgg = ""
	if bad {
		return nil
	}
	result, err := sig.Result(args)
	if err != nil {
		return t.fail(n, "T222", fmt.Sprintf("`%s`: %s", sig.Name, err), "")
	}
	k := t.addCall(types.AggCall{Sig: sig, Args: args, Result: result, Name: callText(sig.Name, args)})
	return &types.Expr{Op: types.OpCol, Type: result.OrNull(t.sc.noRows && !sig.Counts), Col: t.sc.aggBase + k, Name: (*t.sc.aggs)[k].Name}
}

// aggArg types one argument of an aggregate.
func (t *typer) aggArg(k ast.Node, sig *types.AggSig, p types.AggParam) *types.Expr {
	x := t.node(k)
	if x == nil || !t.fits(k, x) {
		return nil
	}
	if p.Constant {
		if !x.Fixed() {
			return t.fail(k, "T227", fmt.Sprintf("`%s` of `%s` must be constant, but `%s` depends on the row", p.Name, sig.Name, t.written(k)), "")
		}
		if x = t.fold(k, x); x == nil {
			return nil
		}
		if x.Value == nil {
			return t.fail(k, "T202", fmt.Sprintf("`%s` of `%s` cannot be null", p.Name, sig.Name), "")
		}
	}
	switch {
	case x.Type.Kind == types.Null:
		return t.fail(k, "T222", fmt.Sprintf("`%s` of nil says nothing", sig.Name), "")
	case p.Kinds == nil || slices.Contains(p.Kinds, x.Type.Kind):
		return x
	case x.Type.Kind == types.Int && slices.Contains(p.Kinds, types.Float):
		return cast(x, types.T(types.Float).OrNull(x.Type.Nullable))
	}
	help := convertRemedy(t.written(k), t.operand(k), x.Type, types.T(p.Kinds[0]))
	if x.Type.Kind == types.List && (t.c.env.Func(sig.Name) != nil || isPredicate(sig.Name)) {
		help = fmt.Sprintf("the function of a list is written `::%s(…)` here", sig.Name)
	}
	return t.fail(k, "T222", fmt.Sprintf("`%s` of `%s` must be %s, but `%s` is %s", p.Name, sig.Name, kindList(p.Kinds), t.written(k), describe(x.Type)), help)
}

// addCall gives the number of a call, a new one if no equal call is there.
func (t *typer) addCall(call types.AggCall) int {
	for k, was := range *t.sc.aggs {
		if was.Sig == call.Sig && slices.EqualFunc(was.Args, call.Args, same) {
			return k
		}
	}
	*t.sc.aggs = append(*t.sc.aggs, call)
	return len(*t.sc.aggs) - 1
}

// callText is a call as plans show it.
func callText(name string, args []*types.Expr) string {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = a.String()
	}
	return name + "(" + strings.Join(parts, ", ") + ")"
}

// same reports whether two trees are equal.
func same(a, b *types.Expr) bool {
	if a == b {
		return true
	}
	if a.Op != b.Op || !a.Type.Equal(b.Type) || a.Col != b.Col || a.Name != b.Name || a.Sig != b.Sig || a.Loose != b.Loose || !slices.Equal(a.Names, b.Names) {
		return false
	}
	if a.Op == types.OpConst && types.FormatConst(a.Type, a.Value) != types.FormatConst(b.Type, b.Value) {
		return false
	}
	if a.Op == types.OpIsland && a.Node.String() != b.Node.String() {
		return false
	}
	return slices.EqualFunc(a.Args, b.Args, same)
}
