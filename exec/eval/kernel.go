// Package eval evaluates typed expressions over batches: column kernels for what has one, expr's VM one node at a time
// for the rest. It knows types and columns, and no function by name: a Lib gives it those.
package eval

import (
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// A Kernel computes a strict function over the rows of a Call. It must write Out only at the rows of Sel.
type Kernel func(c *Call)

// Arg is an argument: a column, or one constant for all rows.
type Arg struct {
	Col   *vec.Column // nil for a constant
	Const any         // as types.Expr.Value
}

// Call is one call of a kernel. The rows of Sel are those on which no argument is null, unless the function is Loose.
type Call struct {
	Args []Arg                    // the first is always a column
	N    int                      // physical rows of every column
	Sel  []uint32                 // rows to compute; nil: all N
	Out  *vec.Column              // N rows of the result type, to fill (its slices are lent; Offs and Kids may be replaced); use SetNull
	Fail func(row int, err error) // the row fails with err
	Now  int64
	// Memo is the kernel's own, kept from batch to batch of one program: compiled constant arguments, buffers.
	Memo any
}

// SetNull makes row i of the result null.
func (c *Call) SetNull(i int) {
	if c.Out.Valid == nil {
		c.Out.Valid = vec.FullBitmap(c.N)
	}
	c.Out.Valid.Clear(i)
}

// Lib finds the kernels of functions.
type Lib interface {
	// Kernel returns the kernel of an overload of a function of the catalog, nil if there is none.
	Kernel(name string, sig *types.Sig) Kernel
}
