package eval

import (
	"github.com/ebb-lang/ebb/exec/vec"
)

// call runs a kernel of the library.
type call struct {
	args   []operand
	kernel Kernel
	loose  bool
	null   bool // strict, and an argument is the constant nil
	c      Call // its Args are reused from batch to batch
}

func (o *call) kids() []*node { return operandKids(o.args...) }

func (o *call) eval(r *run, n *node, sel []uint32) value {
	if o.null {
		return value{vec.NewNull(n.typ, r.n), false}
	}
	var vals [4]value
	got := vals[:0]
	var valid vec.Bitmap
	for k, a := range o.args {
		if a.n == nil {
			o.c.Args[k] = Arg{Const: a.val}
			got = append(got, value{})
			continue
		}
		v := r.eval(a.n, sel)
		got = append(got, v)
		o.c.Args[k] = Arg{Col: v.Column}
		if !o.loose {
			valid = vec.And(valid, v.Valid)
		}
	}
	out := r.new(n.typ)
	var buf []uint32
	if valid != nil && !allValid(valid, sel, r.n) {
		out.Valid = cloneBits(valid)
		buf = r.sel()
		sel = validRows(valid, r.rows(sel), buf)
	}
	o.c.N, o.c.Sel, o.c.Out, o.c.Now = r.n, sel, out.Column, r.x.Now
	if sel == nil || len(sel) > 0 {
		o.kernel(&o.c)
	}
	o.c.Out, o.c.Sel = nil, nil
	if buf != nil {
		r.freeSel(buf)
	}
	for k, v := range got {
		o.c.Args[k] = Arg{}
		r.drop(v)
	}
	return out
}
