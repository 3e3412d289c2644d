// Package state keeps what operators remember: keyed tables over fixed-width rows, and what is built on them. It is
// pointer-free where it is large, so that the collector neither scans nor paces by it.
package state

import "github.com/ebb-lang/ebb/exec/vec"

// rowsPerBlock is the number of rows of a block: growth allocates a block and never copies rows, except that the first
// block starts small and doubles, because there may be very many small tables.
const (
	blockBits    = 10
	rowsPerBlock = 1 << blockBits
	firstRows    = 8
)

// None stands where no row was found.
const None = ^uint32(0)

// Rows are fixed-width rows of 8-byte words, numbered from 0, in blocks. Deleted rows are used again.
type Rows struct {
	width  int
	blocks [][]uint64
	n      uint32     // rows ever added; numbers below it are in use or dead
	used   uint32     // rows below this number may hold old words
	free   uint32     // number+1 of the last deleted row, whose first word leads to the one before
	dead   vec.Bitmap // deleted rows; nil until the first
	nDead  int
	track  *tracker // see freeze.go; nil until the first freeze
}

// NewRows returns no rows of width words.
func NewRows(width int) *Rows { return &Rows{width: max(width, 1)} }

// Len returns the number of rows that are in use.
func (r *Rows) Len() int { return int(r.n) - r.nDead }

// End returns the number after the highest row in use.
func (r *Rows) End() uint32 { return r.n }

// Live reports whether a row below End is in use.
func (r *Rows) Live(id uint32) bool {
	return r.nDead == 0 || int(id>>6) >= len(r.dead) || !r.dead.Get(int(id))
}

// Add adds a row of zeros and returns its number.
func (r *Rows) Add() uint32 {
	if r.free != 0 {
		id := r.free - 1
		r.Touch(id)
		w := r.At(id)
		r.free = uint32(w[0])
		clear(w)
		r.dead.Clear(int(id))
		r.nDead--
		return id
	}
	id := r.n
	b := int(id >> blockBits)
	switch {
	case b == len(r.blocks):
		n := rowsPerBlock
		if b == 0 {
			n = firstRows
		}
		r.blocks = append(r.blocks, make([]uint64, n*r.width))
	case b == 0 && int(id)*r.width == len(r.blocks[0]):
		grown := make([]uint64, 2*len(r.blocks[0]))
		copy(grown, r.blocks[0])
		r.blocks[0] = grown
	}
	r.n++
	r.Touch(id)
	if id < r.used {
		clear(r.At(id))
	}
	return id
}

// Delete gives a row back. Its number may come again from Add.
func (r *Rows) Delete(id uint32) {
	r.Touch(id)
	for int(id>>6) >= len(r.dead) {
		r.dead = append(r.dead, 0)
	}
	r.dead.Set(int(id))
	r.nDead++
	r.At(id)[0] = uint64(r.free)
	r.free = id + 1
}

// At returns the words of a row. The slice is good until the next Add.
func (r *Rows) At(id uint32) []uint64 {
	at := int(id&(rowsPerBlock-1)) * r.width
	return r.blocks[id>>blockBits][at : at+r.width]
}

// Word returns one word of a row. The pointer is good until the next Add.
func (r *Rows) Word(id uint32, off int) *uint64 {
	return &r.blocks[id>>blockBits][int(id&(rowsPerBlock-1))*r.width+off]
}

// Reset deletes all rows and keeps the memory.
func (r *Rows) Reset() {
	r.release()
	r.used = max(r.used, r.n)
	r.n, r.free, r.nDead = 0, 0, 0
	clear(r.dead)
}

// Bytes returns how much memory the rows hold.
func (r *Rows) Bytes() int {
	n := 24*cap(r.blocks) + 8*cap(r.dead)
	for _, b := range r.blocks {
		n += 8 * len(b)
	}
	return n
}
