package eval

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ebb-lang/ebb/lang/types"
)

// maker turns expressions into nodes. Equal subtrees become one node.
type maker struct {
	lib   Lib
	run   *run
	ids   map[string]int // of expressions, by their text
	known map[*types.Expr]int
	last  int
	seen  map[int]*node
}

// node returns the node of e.
func (c *maker) node(e *types.Expr) (*node, error) {
	id := c.id(e)
	if n := c.seen[id]; n != nil {
		return n, nil
	}
	n := &node{typ: e.Type, pos: e.Pos}
	var err error
	if n.op, err = c.build(e, n); err != nil {
		return nil, err
	}
	for _, k := range n.op.kids() {
		k.uses++
		n.fails = n.fails || k.fails
	}
	n.fails = n.fails || n.risky
	c.seen[id] = n
	return n, nil
}

// id returns a number that e shares with the expressions that are equal to it; one that may give another value at the
// next call has its own.
func (c *maker) id(e *types.Expr) int {
	if id, ok := c.known[e]; ok {
		return id
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s ", e.Op, e.Type)
	switch e.Op {
	case types.OpCol:
		b.WriteString(strconv.Itoa(e.Col))
	case types.OpConst:
		fmt.Fprintf(&b, "%T%q", e.Value, fmt.Sprint(e.Value))
	case types.OpIsland:
		fmt.Fprintf(&b, "%p %q", e.Node, e.Names)
	case types.OpRecord:
		fmt.Fprintf(&b, "%q", e.Names)
	default:
		b.WriteString(e.Name)
		if e.Sig != nil {
			fmt.Fprintf(&b, " %d", e.Sig.ID)
		}
	}
	for _, a := range e.Args {
		fmt.Fprintf(&b, " %d", c.id(a))
	}
	key := b.String()
	id, ok := c.ids[key]
	if !ok || e.Op == types.OpCall && e.Sig != nil && e.Sig.Volatile {
		c.last++
		id = c.last
		c.ids[key] = id
	}
	c.known[e] = id
	return id
}

// operand compiles an argument; a constant stays a scalar.
func (c *maker) operand(e *types.Expr) (operand, error) {
	if e.Op == types.OpConst {
		return operand{val: e.Value}, nil
	}
	if e.Op == types.OpCast && e.Args[0].Op == types.OpConst && e.Args[0].Value == nil {
		return operand{}, nil
	}
	n, err := c.node(e)
	return operand{n: n}, err
}

// numeric is operand, without a cast from int to float: the loops convert.
func (c *maker) numeric(e *types.Expr) (operand, error) {
	isInt := e.Type.Kind == types.Int
	if e.Op == types.OpCast && e.Type.Kind == types.Float && e.Args[0].Type.Kind == types.Int {
		e, isInt = e.Args[0], true
	}
	o, err := c.operand(e)
	o.isInt = isInt
	return o, err
}

func (c *maker) nodes(es []*types.Expr) ([]*node, error) {
	ns := make([]*node, len(es))
	for i, e := range es {
		var err error
		if ns[i], err = c.node(e); err != nil {
			return nil, err
		}
	}
	return ns, nil
}

func (c *maker) operands(es []*types.Expr) ([]operand, error) {
	os := make([]operand, len(es))
	for i, e := range es {
		var err error
		if os[i], err = c.operand(e); err != nil {
			return nil, err
		}
	}
	return os, nil
}

func (c *maker) build(e *types.Expr, n *node) (op, error) {
	switch e.Op {
	case types.OpCol:
		return &column{e.Col}, nil
	case types.OpConst:
		return &constant{v: e.Value}, nil
	case types.OpEventTime:
		return eventTime{}, nil
	case types.OpNow:
		n.cost = 1
		return now{}, nil
	case types.OpAnd, types.OpOr:
		parts, err := c.nodes(chain(e, e.Op))
		if err != nil {
			return nil, err
		}
		parts = mergeRanges(parts, e.Op == types.OpOr)
		if n.cost = len(parts); n.cost == 1 {
			return parts[0].op, nil
		}
		return newLogic(e.Op == types.OpOr, parts), nil
	case types.OpIf:
		return c.choose(e, n)
	case types.OpCoalesce:
		a, err := c.node(e.Args[0])
		if err != nil {
			return nil, err
		}
		n.cost = 2
		b, err := c.operand(e.Args[1])
		return &coalesce{a, b}, err
	case types.OpCast:
		a, err := c.node(e.Args[0])
		n.cost = 1
		return &cast{a}, err
	case types.OpField:
		a, err := c.node(e.Args[0])
		if err != nil {
			return nil, err
		}
		o := &field{a: a, name: e.Name}
		switch e.Args[0].Type.Kind {
		case types.Record:
			if o.i = e.Args[0].Type.Field(e.Name); o.i < 0 {
				return nil, errorAt(e, "%s has no field %s", e.Args[0].Type, e.Name)
			}
		case types.Any:
			n.cost = 50
		default:
			return nil, errorAt(e, "a value of type %s has no fields", e.Args[0].Type)
		}
		return o, nil
	case types.OpIndex:
		a, err := c.node(e.Args[0])
		if err != nil {
			return nil, err
		}
		if k := e.Args[0].Type.Kind; k != types.List && k != types.Any {
			return nil, errorAt(e, "a value of type %s has no elements", e.Args[0].Type)
		}
		n.cost, n.risky = 20, true
		b, err := c.operand(e.Args[1])
		return &index{a, b}, err
	case types.OpList:
		elems, err := c.nodes(e.Args)
		n.cost = 20
		n.risky = e.NestsLists()
		return &list{elems}, err
	case types.OpRecord:
		fields, err := c.nodes(e.Args)
		n.cost = 2
		return &record{fields}, err
	case types.OpIsland:
		args, err := c.operands(e.Args)
		if err != nil {
			return nil, err
		}
		n.cost, n.risky = 500, true
		return newIsland(e, args)
	case types.OpCall:
		if build := operators[e.Name]; build != nil {
			return build(c, e, n)
		}
		return c.call(e, n)
	}
	return nil, errorAt(e, "unknown expression form %d", e.Op)
}

// chain returns the parts of a run of one operator.
func chain(e *types.Expr, op types.Op) []*types.Expr {
	if e.Op != op {
		return []*types.Expr{e}
	}
	return append(chain(e.Args[0], op), chain(e.Args[1], op)...)
}

func (c *maker) choose(e *types.Expr, n *node) (op, error) {
	o := &choose{}
	kind := e.Type.Kind
	for last := false; !last; e = e.Args[2] {
		cond, err := c.node(e.Args[0])
		if err != nil {
			return nil, err
		}
		o.conds = append(o.conds, cond)
		last = e.Args[2].Op != types.OpIf
		branches := e.Args[1:2]
		if last {
			branches = e.Args[1:]
		}
		for _, a := range branches {
			v, err := c.operand(a)
			if err != nil {
				return nil, err
			}
			o.vals = append(o.vals, v)
		}
	}
	n.cost = 4 * len(o.conds)
	o.plan(kind)
	return o, nil
}

func (c *maker) call(e *types.Expr, n *node) (op, error) {
	if e.Sig == nil {
		return nil, errorAt(e, "the function `%s` was not resolved", e.Name)
	}
	k := c.lib.Kernel(e.Name, e.Sig)
	if k == nil {
		return nil, errorAt(e, "the function `%s` has no kernel for these arguments", e.Name)
	}
	args, err := c.operands(e.Args)
	if err != nil {
		return nil, err
	}
	if len(args) > 0 && args[0].n == nil {
		if args[0].n, err = c.node(e.Args[0]); err != nil {
			return nil, err
		}
	}
	n.cost, n.risky = 20, true
	o := &call{args: args, kernel: k, loose: e.Sig.Loose, c: Call{Args: make([]Arg, len(args))}}
	for _, a := range e.Args {
		o.null = o.null || !o.loose && a.Op == types.OpConst && a.Value == nil
	}
	r := c.run
	o.c.Fail = func(row int, err error) { r.fail(n, row, err) }
	return o, nil
}
