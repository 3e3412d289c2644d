package eval

import (
	"errors"
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	vmtypes "github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// island runs one node on expr's VM, row by row.
type island struct {
	args   []operand
	names  []string
	loose  bool
	prog   *vm.Program
	vm     vm.VM
	env    map[string]any
	result types.Type
}

func (o *island) kids() []*node { return operandKids(o.args...) }

func newIsland(e *types.Expr, args []operand) (*island, error) {
	o := &island{args: args, names: e.Names, loose: e.Loose, env: map[string]any{}, result: e.Type}
	names := vmtypes.Map{}
	for i, name := range e.Names {
		names[name] = vmtypes.Any
		if args[i].n == nil {
			o.env[name] = types.ToVM(e.Args[i].Type, args[i].val)
		}
	}
	// expr's own checker is not asked: it would note its types in a tree that tasks share, and code for types that it
	// believes in does not look for nil.
	cfg := conf.New(names)
	cfg.Optimize = false
	var err error
	if o.prog, err = compiler.Compile(&parser.Tree{Node: e.Node, Source: file.NewSource("")}, cfg); err != nil {
		return nil, errorAt(e, "cannot compile `%s`: %s", safeString(e.Node), vmMessage(err))
	}
	return o, nil
}

func safeString(n ast.Node) string {
	s := n.String()
	if len(s) > 80 {
		s = s[:80] + "…"
	}
	return s
}

func (o *island) eval(r *run, n *node, sel []uint32) value {
	vals := make([]value, len(o.args))
	var valid vec.Bitmap
	null := false
	for k, a := range o.args {
		vals[k] = r.get(a, sel)
		if !o.loose {
			valid = vec.And(valid, vals[k].valid())
			null = null || a.n == nil && a.val == nil
		}
	}
	b := vec.NewBuilder(o.result.Null())
	next := 0
	for _, i := range r.rows(sel) {
		for ; next < int(i); next++ {
			b.AppendNull()
		}
		next++
		if null || valid != nil && !valid.Get(int(i)) {
			b.AppendNull()
			continue
		}
		for k, v := range vals {
			if v.Column != nil {
				o.env[o.names[k]] = Box(v.Column, int(i))
			}
		}
		x, err := o.vm.Run(o.prog, o.env)
		if err == nil {
			x, err = types.FromVM(o.result.Null(), x)
		}
		if err != nil {
			r.fail(n, int(i), errors.New(vmMessage(err)))
			x = nil
		}
		b.Append(x)
	}
	for ; next < r.n; next++ {
		b.AppendNull()
	}
	for _, v := range vals {
		r.drop(v)
	}
	c := b.Column()
	c.Type = o.result
	return value{c, false}
}

// vmMessage is the VM's error without its own picture of the source, and in our words where its own do not say what to do.
func vmMessage(err error) string {
	var f *file.Error
	if errors.As(err, &f) {
		if f.Message == "memory budget exceeded" {
			return fmt.Sprintf("more than %d list elements are made for one row; shorten the lists, or take them apart with `unnest` and go on row by row", conf.DefaultMemoryBudget)
		}
		return strings.TrimPrefix(f.Message, "reflect: ")
	}
	s, _, _ := strings.Cut(fmt.Sprint(err), "\n")
	return s
}
