package fn

import (
	"unsafe"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
)

// scalar is a Go type that rows of a column have.
type scalar interface {
	int64 | float64 | bool | string
}

// arg reads an argument: row i of a column, or one constant at every row.
type arg[T scalar] struct {
	rows []T
	mask int
}

func (a *arg[T]) at(i int) T { return a.rows[i&a.mask] }

// of returns the argument as rows of T.
func of[T scalar](a eval.Arg) arg[T] {
	if a.Col != nil {
		return arg[T]{rowsOf[T](a.Col), -1}
	}
	v, _ := a.Const.(T)
	return arg[T]{[]T{v}, 0}
}

func rowsOf[T scalar](c *vec.Column) []T {
	var rows []T
	switch p := any(&rows).(type) {
	case *[]int64:
		*p = c.Ints
	case *[]float64:
		*p = c.Floats
	case *[]bool:
		*p = c.Bools
	case *[]string:
		*p = c.Strs
	}
	return rows
}

// map1 makes a kernel of a function that cannot fail.
func map1[A, R scalar](f func(A) R) eval.Kernel {
	return func(c *eval.Call) {
		a, out := rowsOf[A](c.Args[0].Col), rowsOf[R](c.Out)
		if c.Sel == nil {
			for i := range c.N {
				out[i] = f(a[i])
			}
			return
		}
		for _, i := range c.Sel {
			out[i] = f(a[i])
		}
	}
}

// map2 makes a kernel of a function of two arguments that cannot fail.
func map2[A, B, R scalar](f func(A, B) R) eval.Kernel {
	return func(c *eval.Call) {
		a, b, out := rowsOf[A](c.Args[0].Col), of[B](c.Args[1]), rowsOf[R](c.Out)
		if c.Sel == nil {
			for i := range c.N {
				out[i] = f(a[i], b.at(i))
			}
			return
		}
		for _, i := range c.Sel {
			out[i] = f(a[i], b.at(int(i)))
		}
	}
}

// map3 makes a kernel of a function of three arguments that cannot fail.
func map3[A, B, C, R scalar](f func(A, B, C) R) eval.Kernel {
	return func(c *eval.Call) {
		x, y, z, out := rowsOf[A](c.Args[0].Col), of[B](c.Args[1]), of[C](c.Args[2]), rowsOf[R](c.Out)
		each(c, func(i int) { out[i] = f(x[i], y.at(i), z.at(i)) })
	}
}

// try1 makes a kernel of a function that may fail.
func try1[A, R scalar](f func(A) (R, error)) eval.Kernel {
	return func(c *eval.Call) {
		a, out := rowsOf[A](c.Args[0].Col), rowsOf[R](c.Out)
		each(c, func(i int) {
			v, err := f(a[i])
			if err != nil {
				c.Fail(i, err)
				return
			}
			out[i] = v
		})
	}
}

// try2 makes a kernel of a function of two arguments that may fail.
func try2[A, B, R scalar](f func(A, B) (R, error)) eval.Kernel {
	return func(c *eval.Call) {
		a, b, out := rowsOf[A](c.Args[0].Col), of[B](c.Args[1]), rowsOf[R](c.Out)
		each(c, func(i int) {
			v, err := f(a[i], b.at(i))
			if err != nil {
				c.Fail(i, err)
				return
			}
			out[i] = v
		})
	}
}

// build1 makes a kernel of a function that appends its text to b; the rows of a batch share one block of memory.
func build1[A scalar](f func(b []byte, x A) []byte) eval.Kernel {
	return func(c *eval.Call) {
		a := rowsOf[A](c.Args[0].Col)
		build(c, func(b []byte, i int) []byte { return f(b, a[i]) })
	}
}

// each calls f for the rows of the call.
func each(c *eval.Call, f func(i int)) {
	if c.Sel == nil {
		for i := range c.N {
			f(i)
		}
		return
	}
	for _, i := range c.Sel {
		f(int(i))
	}
}

// build fills the result with texts that f appends to a block of memory of the batch. Views into the block stay good
// where it moves: what was written is not written again.
func build(c *eval.Call, f func(b []byte, i int) []byte) {
	size, _ := c.Memo.(int)
	b := make([]byte, 0, size)
	each(c, func(i int) {
		start := len(b)
		b = f(b, i)
		c.Out.Strs[i] = view(b[start:])
	})
	if len(b) > size {
		c.Memo = len(b) + len(b)/8
	}
}

// view returns a string over b, which nobody changes any more.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// short cuts a text for a message.
func short(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}
