package vec

import "math/bits"

// Bitmap is a set of row numbers, one bit a row. As a Column's Valid, nil means that every row is in it.
type Bitmap []uint64

// NewBitmap returns a bitmap for n rows, all clear.
func NewBitmap(n int) Bitmap { return make(Bitmap, (n+63)/64) }

// FullBitmap returns a bitmap for n rows, all set.
func FullBitmap(n int) Bitmap {
	b := NewBitmap(n)
	for i := range b {
		b[i] = ^uint64(0)
	}
	if r := n & 63; r != 0 {
		b[len(b)-1] = 1<<r - 1
	}
	return b
}

// Get reports whether row i is in the set.
func (b Bitmap) Get(i int) bool { return b[i>>6]>>(uint(i)&63)&1 != 0 }

// Set adds row i.
func (b Bitmap) Set(i int) { b[i>>6] |= 1 << (uint(i) & 63) }

// Clear removes row i.
func (b Bitmap) Clear(i int) { b[i>>6] &^= 1 << (uint(i) & 63) }

// Count returns the number of rows in the set.
func (b Bitmap) Count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// And returns the rows that are in both; nil stands for all rows.
func And(a, b Bitmap) Bitmap {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	c := make(Bitmap, len(a))
	for i := range c {
		c[i] = a[i] & b[i]
	}
	return c
}
