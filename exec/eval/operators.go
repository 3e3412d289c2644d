package eval

import (
	"strings"

	"github.com/ebb-lang/ebb/lang/types"
)

// operators make the ops of the operators, by sign, from the kinds of their operands.
var operators map[string]func(c *maker, e *types.Expr, n *node) (op, error)

func init() {
	operators = map[string]func(c *maker, e *types.Expr, n *node) (op, error){
		"+": plus, "-": arithmetic, "*": arithmetic, "/": arithmetic, "%": arithmetic, "**": arithmetic,
		"==": relate, "!=": relate, "<": relate, "<=": relate, ">": relate, ">=": relate,
		"in": in, "contains": textOp(strings.Contains), "startsWith": textOp(strings.HasPrefix), "endsWith": textOp(strings.HasSuffix),
		"matches": match, "..": rangeOp, "neg": negative, "not": notOp, "slice": sliceOp,
	}
}

func (c *maker) pair(e *types.Expr) (a, b operand, err error) {
	if len(e.Args) != 2 {
		return a, b, errorAt(e, "`%s` takes two operands", e.Name)
	}
	if a, err = c.numeric(e.Args[0]); err != nil {
		return a, b, err
	}
	if b, err = c.numeric(e.Args[1]); err != nil {
		return a, b, err
	}
	if a.n == nil && b.n == nil && a.val != nil && b.val != nil { // the loops want a column
		a.n, err = c.node(e.Args[0])
		a.isInt = e.Args[0].Type.Kind == types.Int
	}
	return a, b, err
}

func badTypes(e *types.Expr) error {
	ts := make([]string, len(e.Args))
	for i, a := range e.Args {
		ts[i] = a.Type.String()
	}
	return errorAt(e, "`%s` does not take %s", e.Name, strings.Join(ts, " and "))
}

// nullResult is the value of a strict operator with a constant nil.
func nullResult() op { return &constant{} }

func plus(c *maker, e *types.Expr, n *node) (op, error) {
	if layoutOf(e.Type.Kind) != textLayout {
		return arithmetic(c, e, n)
	}
	var parts []operand
	for _, p := range sum(e) {
		o, err := c.operand(p)
		if err != nil {
			return nil, err
		}
		if o.n == nil && o.val == nil {
			return nullResult(), nil
		}
		parts = append(parts, o)
	}
	n.cost = 20
	return &concat{parts}, nil
}

// sum returns the parts of a chain of + over strings.
func sum(e *types.Expr) []*types.Expr {
	if e.Op != types.OpCall || e.Name != "+" || layoutOf(e.Type.Kind) != textLayout {
		return []*types.Expr{e}
	}
	return append(sum(e.Args[0]), sum(e.Args[1])...)
}

func arithmetic(c *maker, e *types.Expr, n *node) (op, error) {
	a, b, err := c.pair(e)
	if err != nil {
		return nil, err
	}
	if a.n == nil && a.val == nil || b.n == nil && b.val == nil {
		return nullResult(), nil
	}
	n.cost = 1
	ak, bk := e.Args[0].Type.Kind, e.Args[1].Type.Kind
	sign := e.Name[0]
	numbers := e.Args[0].Type.Numeric() && e.Args[1].Type.Numeric()
	whole := layoutOf(ak) == intLayout && layoutOf(bk) == intLayout
	switch {
	case e.Name == "**" && numbers:
		n.cost = 20
		return &power{a, b}, nil
	case e.Name == "%" && whole:
		n.cost = 5
		n.risky = b.n != nil || b.int() == 0
		return &modulo{a, b}, nil
	case sign == '/' && ak == types.Duration && bk == types.Duration:
		a.isInt, b.isInt = true, true
		return &floatArith{'/', a, b}, nil
	case sign == '/' && numbers:
		return &floatArith{'/', a, b}, nil
	case sign == '/' && ak == types.Duration && e.Args[1].Type.Numeric():
		n.cost, n.risky = 6, true
		return &scale{a: a, b: b, divide: true}, nil
	case sign == '*' && ak == types.Duration && (bk == types.Float || b.isInt && bk == types.Float):
		n.cost, n.risky = 6, true
		return &scale{a: a, b: b}, nil
	case sign == '*' && ak == types.Float && bk == types.Duration:
		n.cost, n.risky = 6, true
		return &scale{a: b, b: a}, nil
	case e.Type.Kind == types.Float && numbers && sign != '%':
		return &floatArith{sign, a, b}, nil
	case whole && (ak == types.Time || bk == types.Time) && (sign == '+' || sign == '-'):
		n.risky = e.Type.Kind == types.Time
		return &timeArith{sign == '-', a, b}, nil
	case whole && layoutOf(e.Type.Kind) == intLayout && sign != '/':
		return &intArith{sign, a, b}, nil
	}
	return nil, badTypes(e)
}

func relate(c *maker, e *types.Expr, n *node) (op, error) {
	rel := relations[e.Name]
	total := rel == eq || rel == ne
	a, b, err := c.pair(e)
	if err != nil {
		return nil, err
	}
	at, bt := e.Args[0].Type, e.Args[1].Type
	if a.n == nil && b.n != nil || a.n == nil && a.val == nil {
		a, b, at, bt, rel = b, a, bt, at, rel.flip()
	}
	if b.n == nil && b.val == nil {
		switch {
		case !total:
			return nullResult(), nil
		case a.n == nil:
			return &constant{v: (a.val == nil) == (rel == eq)}, nil
		}
		n.cost = 1
		return &isNull{a.n, rel == ne}, nil
	}
	lay := layoutOf(at.Kind)
	switch {
	case at.Numeric() && bt.Numeric():
		if at.Kind == types.Float || bt.Kind == types.Float {
			lay = floatLayout
		}
	case at.Kind != bt.Kind:
		lay = otherLayout
	}
	if _, odd := b.val.([]any); lay != otherLayout && !odd {
		n.cost = 1
		if lay == textLayout {
			n.cost = 4
		}
		if m, ok := a.n.op.(*modulo); ok && total && lay == intLayout && b.n == nil && m.a.n != nil && m.b.n == nil && m.b.int() != 0 {
			n.cost = 4
			return &modIs{m.a.n, m.b.int(), b.int(), rel == ne}, nil
		}
		o := &compare{rel: rel, a: a, b: b, lay: lay}
		o.setRange()
		return o, nil
	}
	if !total {
		return nil, badTypes(e)
	}
	left, err := c.node(e.Args[0])
	if err != nil {
		return nil, err
	}
	right, err := c.node(e.Args[1])
	n.cost = 40
	return &deepEqual{left, right, rel == ne}, err
}

func in(c *maker, e *types.Expr, n *node) (op, error) {
	if len(e.Args) != 2 {
		return nil, badTypes(e)
	}
	a, err := c.node(e.Args[0])
	if err != nil {
		return nil, err
	}
	lt := e.Args[1].Type
	scalar := layoutOf(a.typ.Kind) != otherLayout || a.typ.Kind == types.Null
	if list, ok := e.Args[1].Value.([]any); ok && e.Args[1].Op == types.OpConst && scalar {
		if o := newInConst(a, *lt.Elem, list); o != nil {
			n.cost = 1 + len(list)
			return o, nil
		}
	}
	switch lt.Kind {
	case types.List, types.Record, types.Any, types.Null:
	default:
		return nil, badTypes(e)
	}
	if r := e.Args[1]; r.Op == types.OpCall && r.Name == ".." && a.typ.Kind == types.Int {
		if lo, hi, err := c.pair(r); err != nil || lo.known() && hi.known() {
			n.cost = 3
			return &inRange{a, lo, hi}, err
		}
	}
	b, err := c.node(e.Args[1])
	n.cost = 40
	return &inList{a, b}, err
}

func textOp(test func(s, x string) bool) func(c *maker, e *types.Expr, n *node) (op, error) {
	return func(c *maker, e *types.Expr, n *node) (op, error) {
		a, b, null, err := c.texts(e)
		if err != nil {
			return nil, err
		}
		if null {
			return &constant{v: false}, nil
		}
		n.cost = 10
		return &textTest{test, a, b}, nil
	}
}

func isText(t types.Type) bool { return layoutOf(t.Kind) == textLayout || t.Kind == types.Null }

// texts compiles two operands that are text; null tells that one is the literal nil.
func (c *maker) texts(e *types.Expr) (a, b operand, null bool, err error) {
	if a, b, err = c.pair(e); err != nil {
		return a, b, false, err
	}
	null = a.n == nil && a.val == nil || b.n == nil && b.val == nil
	if !null && (!isText(e.Args[0].Type) || !isText(e.Args[1].Type)) {
		err = badTypes(e)
	}
	return a, b, null, err
}

func match(c *maker, e *types.Expr, n *node) (op, error) {
	a, b, null, err := c.texts(e)
	if err != nil {
		return nil, err
	}
	if null {
		return &constant{v: false}, nil
	}
	o := &matches{a: a, b: b}
	n.cost, n.risky = 100, b.n != nil
	if p, ok := b.val.(string); ok {
		if o.re, err = CompileRegexp(p); err != nil {
			return nil, errorAt(e, "%s", err)
		}
	}
	return o, nil
}

func rangeOp(c *maker, e *types.Expr, n *node) (op, error) {
	a, b, err := c.pair(e)
	if err != nil {
		return nil, err
	}
	if a.n == nil && a.val == nil || b.n == nil && b.val == nil {
		return nullResult(), nil
	}
	n.cost, n.risky = 50, true
	return &span{a, b}, nil
}

func negative(c *maker, e *types.Expr, n *node) (op, error) {
	a, err := c.node(e.Args[0])
	n.cost = 1
	return &negate{a}, err
}

func notOp(c *maker, e *types.Expr, n *node) (op, error) {
	a, err := c.node(e.Args[0])
	n.cost = 1
	return &not{a}, err
}

func sliceOp(c *maker, e *types.Expr, n *node) (op, error) {
	a, err := c.node(e.Args[0])
	if err != nil {
		return nil, err
	}
	o := &slice{a: a}
	if o.from, err = c.operand(e.Args[1]); err != nil {
		return nil, err
	}
	if len(e.Args) > 2 {
		o.to, err = c.operand(e.Args[2])
	}
	n.cost = 5
	return o, err
}
