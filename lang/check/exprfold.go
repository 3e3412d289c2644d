package check

import (
	"fmt"
	"math"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/ebb-lang/ebb/lang/types"
)

// Constants, on their way to expr's VM and back: constant expressions are computed by it.

// constNode is a constant as the VM has it.
func constNode(u types.Type, v any) ast.Node {
	switch x := v.(type) {
	case nil:
		return &ast.NilNode{}
	case bool:
		return &ast.BoolNode{Value: x}
	case float64:
		return &ast.FloatNode{Value: x}
	case int64:
		if u.Kind == types.Int {
			return &ast.IntegerNode{Value: int(x)}
		}
	case string:
		switch u.Kind {
		case types.String:
			return &ast.StringNode{Value: x}
		case types.Bytes:
			return &ast.BytesNode{Value: []byte(x)}
		}
	}
	if hasNaN(v) { // such a constant cannot be printed
		switch x := v.(type) {
		case []any:
			a := &ast.ArrayNode{}
			for _, e := range x {
				a.Nodes = append(a.Nodes, constNode(*u.Elem, e))
			}
			return a
		case map[string]any:
			m := &ast.MapNode{}
			for _, f := range u.Fields {
				m.Pairs = append(m.Pairs, &ast.PairNode{Key: &ast.StringNode{Value: f.Name}, Value: constNode(f.Type, x[f.Name])})
			}
			return m
		}
	}
	return &ast.ConstantNode{Value: types.ToVM(u, v)}
}

func hasNaN(v any) bool {
	switch x := v.(type) {
	case float64:
		return math.IsNaN(x) || math.IsInf(x, 0)
	case []any:
		for _, e := range x {
			if hasNaN(e) {
				return true
			}
		}
	case map[string]any:
		for _, e := range x {
			if hasNaN(e) {
				return true
			}
		}
	}
	return false
}

// fold computes a constant expression. It reports one that is not constant, or fails.
func (t *typer) fold(n ast.Node, x *types.Expr) *types.Expr {
	if x.Op == types.OpConst {
		return x
	}
	if !x.Fixed() {
		return t.fail(n, "N157", fmt.Sprintf("a constant is wanted, but `%s` depends on the row or the clock", t.written(n)), "")
	}
	l := t.lowering(n, -1)
	node := l.expr(x)
	var v any
	var err error
	if l.bad == nil {
		v, err = run(node)
		if err == nil {
			v, err = types.FromVM(x.Type, v)
		}
	} else if f, ok := t.c.env.(Folder); ok {
		v, err = f.Fold(x)
	} else {
		return t.fail(n, "T228", fmt.Sprintf("`%s` cannot be used in a constant", l.bad.Name), "")
	}
	if err != nil {
		if dividesByZero(x) {
			return t.fail(n, "X303", fmt.Sprintf("the constant cannot be computed: `%s` divides by zero", t.written(n)), "")
		}
		return t.fail(n, "T228", "the constant cannot be computed: "+vmError(err), "")
	}
	if weight(v) > maxConstant {
		return t.fail(n, "T228", "the constant is too large: 16 MB are the most", "read it from a file")
	}
	return types.Const(x.Type, v)
}

// dividesByZero reports whether ints are divided by zero in a constant expression.
func dividesByZero(x *types.Expr) bool {
	return x.Any(func(y *types.Expr) bool {
		return y.Op == types.OpCall && (y.Name == "%" || y.Name == "div") && len(y.Args) == 2 && y.Args[1].Value == int64(0)
	})
}

// maxConstant bounds a constant: those that are made of others may double from one to the next.
const maxConstant = 16 << 20

// weight is about the bytes of a value; it stops counting above maxConstant.
func weight(v any) int {
	n := 16
	switch x := v.(type) {
	case string:
		n += len(x)
	case []any:
		for _, e := range x {
			if n += weight(e); n > maxConstant {
				break
			}
		}
	case map[string]any:
		for k, e := range x {
			if n += len(k) + weight(e); n > maxConstant {
				break
			}
		}
	}
	return n
}

// run runs a tree without variables on the VM.
func run(node ast.Node) (any, error) {
	c := conf.CreateNew()
	c.Optimize = false
	p, err := compiler.Compile(&parser.Tree{Node: node}, c)
	if err != nil {
		return nil, err
	}
	machine := vm.VM{MemoryBudget: conf.DefaultMemoryBudget}
	return machine.Run(p, map[string]any{})
}

// vmError is the message of an error of the VM in one line, without its own positions.
func vmError(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	if i := strings.LastIndex(s, " ("); i > 0 && strings.HasSuffix(s, ")") {
		s = s[:i]
	}
	return strings.TrimPrefix(s, "runtime error: ")
}
