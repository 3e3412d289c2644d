package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"

	"github.com/ebb-lang/ebb/lang/types"
)

// builtin types a call that expr's parser took for one of its builtins.
func (t *typer) builtin(n *ast.BuiltinNode) *types.Expr {
	if isPredicate(n.Name) && (len(n.Arguments) > 1 || len(t.elems) > 0 || t.c.env.Func(n.Name) == nil) {
		return t.predicate(n)
	}
	return t.function(n, n.Name, n.Arguments)
}

// isPredicate reports whether expr has a builtin of that name that takes a closure.
func isPredicate(name string) bool {
	i, ok := builtin.Index[name]
	return ok && builtin.Builtins[i].Predicate
}

// isFunction reports whether a name can be called.
func (t *typer) isFunction(name string) bool {
	switch name {
	case "now", "event_time", "env":
		return true
	}
	return t.sc.fns[name] != nil || t.c.env.Func(name) != nil || t.c.env.Agg(name) != nil || isPredicate(name)
}

// call types a call of a name that is no builtin of expr, or a method call, which it refuses.
func (t *typer) call(n *ast.CallNode) *types.Expr {
	if m, ok := n.Callee.(*ast.MemberNode); ok {
		return t.method(n, m)
	}
	id, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return t.fail(n, "N159", "only functions can be called", "")
	}
	if v := t.literal(id); v != nil {
		return t.failOp(n, "N159", fmt.Sprintf("`%s` is %s and cannot be called", t.written(id), describe(v.Type)), "an operator is missing between the two")
	}
	name := t.name(id, id.Value)
	if t.sc.aggs != nil {
		if sig := t.c.env.Agg(name); sig != nil {
			return t.aggregate(n, sig, n.Arguments)
		}
	}
	if f := t.sc.fns[name]; f != nil {
		return t.inline(n, f, n.Arguments)
	}
	return t.function(n, name, n.Arguments)
}

// names gives the names of the arguments of a call, "" for those that have none.
func (t *typer) names(n ast.Node, args int) []string {
	names := make([]string, args)
	written := t.text.named[n.Location().From]
	if len(written) > args {
		written = written[:args]
	}
	copy(names[args-len(written):], written) // a piped argument stands before those in the parentheses
	return names
}

// function types a call of a function of the catalog, or of one of the few that the language itself has.
func (t *typer) function(n ast.Node, name string, nodes []ast.Node) *types.Expr {
	for i, given := range t.names(n, len(nodes)) {
		if given != "" {
			return t.fail(nodes[i], "N164", fmt.Sprintf("`%s` has no named arguments", name), "write the value alone")
		}
	}
	switch name {
	case "now":
		if len(nodes) > 0 {
			return t.fail(n, "T222", "`now` takes no arguments", "")
		}
		if t.sc.constant {
			return t.fail(n, "N157", "`now()` is no constant", "")
		}
		return &types.Expr{Op: types.OpNow, Type: types.T(types.Time)}
	case "event_time":
		if len(nodes) > 0 {
			return t.fail(n, "T222", "`event_time` takes no arguments", "")
		}
		if !t.sc.hasTime || t.sc.constant {
			return t.fail(n, "N160", "`event_time()`: these rows have no event time", "give the source one: `source … time COLUMN`")
		}
		if t.sc.aggs != nil && t.inAgg == "" && !t.sc.perRow {
			return t.fail(n, "N156", "`event_time()` of which row? It stands inside of an aggregate here", "write `max(event_time())`")
		}
		return &types.Expr{Op: types.OpEventTime, Type: types.T(types.Time)}
	case "env":
		return t.environment(n, nodes)
	}
	sigs := t.c.env.Func(name)
	if sigs == nil {
		return t.unknownFunction(n, name, nodes)
	}
	args := make([]*types.Expr, len(nodes))
	for i, k := range nodes {
		if args[i] = t.node(k); args[i] == nil {
			for _, rest := range nodes[i+1:] { // their errors, too
				t.node(rest)
			}
			return nil
		}
	}
	x, err := overload(sigs, name, args)
	switch {
	case x == nil && t.sc.aggs == nil && len(args) == 1 && args[0].Type.Kind != types.List && t.c.env.Agg(name) != nil:
		return t.aggregateHere(n, name)
	case err != nil:
		code := "T222"
		var e *types.StageError
		if errors.As(err, &e) && e.Code != "" {
			code = e.Code
		}
		return t.fail(n, code, fmt.Sprintf("`%s`: %s", name, err), "")
	case x == nil:
		return t.badArguments(n, name, sigs, nodes, args)
	case x.Sig.VM:
		if _, ok := builtin.Index[name]; !ok {
			return t.fail(n, "N151", fmt.Sprintf("the function `%s` is not available", name), "")
		}
		return t.island(n, x)
	}
	return x
}

// environment types env("X"), which is a constant: nil where the variable is not set.
func (t *typer) environment(n ast.Node, nodes []ast.Node) *types.Expr {
	if len(nodes) != 1 {
		return t.fail(n, "T222", fmt.Sprintf("`env` takes the name of a variable, not %d arguments", len(nodes)), "write `env(\"HOME\")`, and `env(\"X\") ?? \"…\"` if it may not be set")
	}
	x := t.node(nodes[0])
	if x == nil {
		return nil
	}
	name, ok := x.Value.(string)
	if x.Op != types.OpConst || !ok || x.Type.Kind != types.String {
		return t.fail(nodes[0], "T227", "`env` takes the name of a variable as a constant string", "")
	}
	if v, ok := t.c.env.Getenv(name); ok {
		return types.Const(types.T(types.String), v)
	}
	return types.Const(types.T(types.String).Null(), nil)
}

// badArguments says why no overload takes the arguments.
func (t *typer) badArguments(n ast.Node, name string, sigs []*types.Sig, nodes []ast.Node, args []*types.Expr) *types.Expr {
	var fit []*types.Sig
	for _, s := range sigs {
		if s.Takes(len(args)) {
			fit = append(fit, s)
		}
	}
	if len(fit) == 0 {
		return t.fail(n, "T222", fmt.Sprintf("`%s` is called with %s", name, count(len(args), "argument")), "it takes "+signatures(name, sigs))
	}
	// If all overloads refuse the same argument, it is the one to point at.
	bad := -1
	for _, s := range fit {
		for i, x := range args {
			if _, ok := passed(x, s.Params[min(i, len(s.Params)-1)], true); !ok {
				if bad >= 0 && bad != i {
					bad = len(args)
				} else {
					bad = i
				}
				break
			}
		}
	}
	help := "it takes " + signatures(name, fit)
	if name == "concat" && slices.ContainsFunc(args, func(x *types.Expr) bool { return x.Type.Kind == types.String }) {
		help = "texts are joined by `+`: `a + b`"
	}
	if bad < 0 || bad == len(args) {
		parts := make([]string, len(args))
		for i, x := range args {
			parts[i] = x.Type.String()
		}
		return t.fail(n, "T222", fmt.Sprintf("`%s` does not take (%s)", name, short(strings.Join(parts, ", "))), help)
	}
	var kinds []string
	for _, s := range fit {
		p := s.Params[min(bad, len(s.Params)-1)]
		if d := param(p); !slices.Contains(kinds, "`"+d+"`") {
			kinds = append(kinds, "`"+d+"`")
		}
	}
	if converts := fit[0].Result.Kind; converts == args[bad].Type.Kind && (name == converts.String() || name == "date") {
		help = fmt.Sprintf("`%s` is %s already: write it without `%s`", t.written(nodes[bad]), describe(fit[0].Result), name)
	} else if len(fit) == 1 {
		if c := convertRemedy(t.written(nodes[bad]), t.operand(nodes[bad]), args[bad].Type, fit[0].Params[min(bad, len(fit[0].Params)-1)]); c != "" {
			help = c
		}
	}
	text := t.written(nodes[bad])
	which := "the argument"
	if len(args) > 1 {
		which = fmt.Sprintf("argument %d", bad+1)
	}
	return t.fail(nodes[bad], "T222", fmt.Sprintf("%s of `%s` must be %s, but `%s` is %s", which, name, orList(kinds), text, describe(args[bad].Type)), help)
}

// param is the type of a parameter as messages show it.
func param(p types.Type) string {
	switch {
	case p.Kind == types.Invalid:
		return "any value"
	case p.Kind == types.List && p.Elem.Kind == types.Invalid:
		return "a list"
	case p.Kind == types.List && p.Elem.Kind == types.List && p.Elem.Elem.Kind == types.Invalid:
		return "a list of lists"
	}
	return p.String()
}

// signatures shows how a function is called, a few overloads of it.
func signatures(name string, sigs []*types.Sig) string {
	var parts []string
	for i, s := range sigs {
		if i == 4 {
			parts = append(parts, "…")
			break
		}
		var ps []string
		for k, p := range s.Params {
			d := param(p)
			switch {
			case s.Variadic && k == len(s.Params)-1:
				d += " …"
			case k >= len(s.Params)-s.Optional:
				d = "[" + d + "]"
			}
			ps = append(ps, d)
		}
		if one := "`" + name + "(" + strings.Join(ps, ", ") + ")`"; !slices.Contains(parts, one) {
			parts = append(parts, one)
		}
	}
	return orList(parts)
}

func count(n int, what string) string {
	switch n {
	case 0:
		return "no " + what + "s"
	case 1:
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// maxInline bounds how deeply functions call each other.
const maxInline = 100

// inline types a call of a user function: its body, with the parameters standing for the arguments.
func (t *typer) inline(n ast.Node, f *fn, nodes []ast.Node) *types.Expr {
	c := t.c
	order, ok := t.arrange(n, f.name, fieldNames(f.params), len(f.params), nodes)
	if !ok {
		return nil
	}
	args := make([]*types.Expr, len(f.params))
	bad := false
	for i, p := range f.params {
		args[i] = t.wanted(order[i], t.node(order[i]), p.Type, fmt.Sprintf("`%s` of `%s`", p.Name, f.name))
		bad = bad || args[i] == nil
	}
	if f.state == fnChecking || len(c.calls) > maxInline {
		before := len(c.diags.list)
		t.failOp(n, "N161", fmt.Sprintf("the function `%s` calls itself", f.name), "functions are inlined; they cannot be recursive")
		if len(c.diags.list) > before && f.src != nil {
			d := &c.diags.list[before]
			d.Notes = append(d.Notes, Note{Source: f.src, Span: f.at, Text: "it is defined here"})
		}
		return nil
	}
	if _, ok := c.checkFn(f); !ok || bad {
		return nil
	}
	c.calls = append(c.calls, fnCall{fn: f, src: t.text.expr.Source, span: t.text.span(t.closed(n))})
	defer func() { c.calls = c.calls[:len(c.calls)-1] }()
	inner := c.bodyTyper(f, args, t.sc.hasTime)
	if inner == nil {
		return nil
	}
	inner.sc.constant = t.sc.constant
	return inner.root()
}

func fieldNames(fs []types.Field) []string {
	names := make([]string, len(fs))
	for i, f := range fs {
		names[i] = f.Name
	}
	return names
}

// arrange puts the arguments of a call into the order of the parameters, required of which must be there; nil stands for
// one that is left out.
func (t *typer) arrange(n ast.Node, name string, params []string, required int, nodes []ast.Node) ([]ast.Node, bool) {
	out := make([]ast.Node, len(params))
	named := t.names(n, len(nodes))
	show := "`" + name + "(" + strings.Join(params, ", ") + ")`"
	for i, k := range nodes {
		at := i
		if given := named[i]; given != "" {
			if at = slices.Index(params, given); at < 0 {
				t.fail(k, "N164", fmt.Sprintf("`%s` has no argument `%s`%s", name, given, didYouMean(given, params)), "it is called as "+show)
				return nil, false
			}
		} else if i > 0 && named[i-1] != "" {
			t.fail(k, "N164", "arguments without a name stand before those with one", "")
			return nil, false
		}
		if at >= len(params) {
			t.fail(n, "T222", fmt.Sprintf("`%s` takes %s, not %d", name, count(len(params), "argument"), len(nodes)), t.listRemedy(n, name, nodes, show))
			return nil, false
		}
		if out[at] != nil {
			t.fail(k, "N164", fmt.Sprintf("the argument `%s` is given twice", params[at]), "")
			return nil, false
		}
		out[at] = k
	}
	for i := range required {
		if out[i] == nil {
			t.fail(n, "T222", fmt.Sprintf("the argument `%s` of `%s` is missing", params[i], name), "it is called as "+show)
			return nil, false
		}
	}
	return out, true
}

// listRemedy is the remedy for an aggregate that is called like the function of the same name.
func (t *typer) listRemedy(n ast.Node, name string, nodes []ast.Node, show string) string {
	if t.sc.aggs != nil && t.c.env.Agg(name) != nil && (t.c.env.Func(name) != nil || isPredicate(name)) {
		parts := make([]string, len(nodes))
		for i, k := range nodes {
			parts[i] = t.written(k)
		}
		return fmt.Sprintf("`%s` is the aggregate here; the function of that name is written `::%s(%s)`", name, name, strings.Join(parts, ", "))
	}
	return "it is called as " + show
}
