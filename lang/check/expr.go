package check

import (
	"fmt"
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// Expressions are expr-lang's: its parser reads them. What they mean is decided here, by one pass over its tree that
// knows exact types and nullability and makes a types.Expr (exprtype.go and its neighbours). What has no kernel, such as
// the closures of `map` and `filter`, is turned back into a tree for expr's VM (exprvm.go).

// scope is what an expression may name. Names are looked up in extra, schema, consts; in this order.
type scope struct {
	schema types.Schema // the columns; column i is OpCol i+base
	base   int
	extra  []types.Item           // derive: the items before; item k is column len(schema)+k (+base), it hides earlier names
	consts map[string]*types.Expr // let and param: OpConst nodes
	fns    map[string]*fn         // user functions

	hasTime  bool // rows have an event time: event_time() is allowed
	constant bool // only constants: naming a column is an error

	// aggs is not nil where aggregates may be called. Each new call is appended, and the expression refers to call k as
	// column aggBase+k. Outside of the calls' arguments, which speak of schema and extra, an expression may name the
	// columns of keys (key k is column k), or, with perRow (derive per), the row's own columns.
	aggs    *[]types.AggCall
	aggBase int
	keys    types.Schema
	perRow  bool
	noRows  bool // there may be no row at all: a call gives null then, unless it counts
}

// fn is a user function. It is inlined where it is called.
type fn struct {
	name   string
	params []types.Field
	body   *syntax.Expr
	scope  *scope // consts and fns of its file; it sees no columns
	src    *syntax.Source
	at     syntax.Span // of its name

	state  fnState
	result types.Type // once it is checked
	text   *exprText  // the body, once it is parsed
	tree   ast.Node
}

type fnState uint8

const (
	fnNew fnState = iota
	fnChecking
	fnGood
	fnBad // reported
)

// exprs is the state that the expressions of one check share.
type exprs struct {
	calls          []fnCall // uses of fns around the expression being checked, outermost first
	work           int      // nodes made for the outermost expression
	vars, closures int      // names and closures in trees for the VM, within the outermost expression
}

// fnCall is a use of a fn that is being inlined.
type fnCall struct {
	fn   *fn
	src  *syntax.Source
	span syntax.Span
}

// Folder is what an Env may be besides: it evaluates expressions without columns that the checker cannot, because they
// call functions of the catalog. The value is as types.Expr.Value says.
type Folder interface {
	Fold(e *types.Expr) (any, error)
}

// expr checks e and returns its typed tree, or nil after reporting why there is none.
func (c *checker) expr(e *syntax.Expr, sc *scope) *types.Expr {
	t := c.typer(e, sc)
	if t == nil {
		return nil
	}
	x := t.root()
	if x != nil && x.Type.Kind != types.Null && holdsNull(x.Type) {
		return t.fail(t.tree, "T225", fmt.Sprintf("the type of `%s` is not known: it is %s", t.written(t.tree), describe(x.Type)),
			"show what it could hold, for example by `false ? [\"\"] : []`")
	}
	return x
}

// holdsNull reports whether a part of a type is that of nil alone.
func holdsNull(u types.Type) bool {
	switch u.Kind {
	case types.Null:
		return true
	case types.List:
		return holdsNull(*u.Elem)
	case types.Record:
		return slices.ContainsFunc(u.Fields, func(f types.Field) bool { return holdsNull(f.Type) })
	}
	return false
}

// exprAs is expr that wants a type and makes a cast if need be; `what` names in the message what the expression is for,
// for instance "the condition of `where`".
func (c *checker) exprAs(e *syntax.Expr, sc *scope, want types.Type, what string) *types.Expr {
	t := c.typer(e, sc)
	if t == nil {
		return nil
	}
	return t.wanted(t.tree, t.root(), want, what)
}

// constExpr evaluates an expression that names no column, with the constants and functions of sc. want are the kinds that
// it may have, none for any; an int is taken for a float. It gives an OpConst, or nil after reporting.
func (c *checker) constExpr(e *syntax.Expr, sc *scope, want ...types.Kind) *types.Expr {
	only := scope{constant: true}
	if sc != nil {
		only.consts, only.fns = sc.consts, sc.fns
	}
	t := c.typer(e, &only)
	if t == nil {
		return nil
	}
	x := t.root()
	if x == nil {
		return nil
	}
	if x = t.fold(t.tree, x); x == nil || len(want) == 0 {
		return x
	}
	for _, k := range want {
		if x.Type.Kind == k {
			return x
		}
	}
	for _, k := range want {
		if k == types.Float && x.Type.Kind == types.Int {
			return types.Const(types.T(types.Float), float64(x.Value.(int64)))
		}
	}
	t.fail(t.tree, "T201", fmt.Sprintf("%s is wanted here, not %s", kindList(want), describe(x.Type)), constRemedy(want, x))
	return nil
}

// checkFn checks the body of a fn by itself, its parameters being of the types that it declares, and gives the type of
// its result. Statements call it for every fn, so that mistakes are found in those that nobody uses.
func (c *checker) checkFn(f *fn) (types.Type, bool) {
	switch f.state {
	case fnGood:
		return f.result, true
	case fnBad, fnChecking:
		return types.Type{}, false
	}
	saved := c.exprs
	c.calls = nil // it is checked for itself, whoever calls it
	defer func() { c.exprs = saved }()
	f.state = fnChecking
	args := make([]*types.Expr, len(f.params))
	for i, p := range f.params {
		args[i] = &types.Expr{Op: types.OpCol, Type: p.Type, Col: i, Name: p.Name}
	}
	f.state = fnBad
	if t := c.bodyTyper(f, args, true); t != nil {
		f.state = fnChecking
		x := t.root()
		f.state = fnBad
		if x != nil {
			f.state, f.result = fnGood, x.Type
		}
	}
	return f.result, f.state == fnGood
}

// bodyTyper prepares the typing of f's body for a use with the arguments; nil if it does not parse, which has been reported.
func (c *checker) bodyTyper(f *fn, args []*types.Expr, hasTime bool) *typer {
	sc := &scope{hasTime: hasTime}
	if f.scope != nil {
		sc.consts, sc.fns = f.scope.consts, f.scope.fns
	}
	if f.tree == nil {
		t := c.typer(f.body, sc)
		if t == nil {
			return nil
		}
		f.text, f.tree = t.text, t.tree
	}
	t := &typer{c: c, sc: sc, text: f.text, tree: f.tree, fn: f}
	for i, p := range f.params {
		t.lets = append(t.lets, binding{p.Name, args[i]})
	}
	return t
}

// root types the whole expression.
func (t *typer) root() *types.Expr {
	if len(t.c.calls) == 0 {
		t.c.work, t.c.vars, t.c.closures = 0, 0, 0
	}
	x := t.node(t.tree)
	if x != nil && !t.fits(t.tree, x) {
		return nil
	}
	if x != nil {
		t.seen()
	}
	return x
}
