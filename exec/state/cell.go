package state

import (
	"cmp"
	"encoding/binary"
	"math"
	"strings"
	"unsafe"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// inlineBytes is the longest text that a cell holds without the arena.
const inlineBytes = 12

// Cell says how one value of a type, not null, is kept in words of a row: numbers in one; text in two, of which the
// first holds its length and first four bytes, the second up to eight more or a reference into an arena. Lists and
// records are text in the form of AppendValue.
type Cell struct {
	Type  types.Type
	kind  types.Kind
	Words int
}

// NewCell returns the layout of values of the type.
func NewCell(t types.Type) Cell {
	c := Cell{Type: t, kind: t.Kind, Words: 1}
	switch t.Kind {
	case types.String, types.Bytes, types.Any:
		c.kind, c.Words = types.String, 2
	case types.List, types.Record:
		c.kind, c.Words = types.Record, 2
	case types.Time, types.Duration, types.Null:
		c.kind = types.Int
	}
	return c
}

// Set stores row i of col, which is not null. What w held before must have been freed.
func (c *Cell) Set(w []uint64, a *Arena, col *vec.Column, i int) {
	switch c.kind {
	case types.Int:
		w[0] = uint64(col.Ints[i])
	case types.Float:
		w[0] = math.Float64bits(col.Floats[i])
	case types.Bool:
		w[0] = boolWord(col.Bools[i])
	case types.String:
		setText(w, a, col.Strs[i])
	default:
		setText(w, a, view(AppendValue(nil, col, i)))
	}
}

// setText stores s.
func setText(w []uint64, a *Arena, s string) {
	w[0], w[1] = textWords(s)
	if len(s) > inlineBytes {
		w[1] = a.Put(unsafe.Slice(unsafe.StringData(s), len(s)))
	}
}

// textWords returns the words of an inline s; of a longer one the first.
func textWords(s string) (head, tail uint64) {
	n := len(s)
	head = uint64(uint32(n))
	if n < 4 {
		for i := range n {
			head |= uint64(s[i]) << (32 + 8*i)
		}
		return head, 0
	}
	head |= uint64(word32(s)) << 32
	switch m := n - 4; {
	case n > inlineBytes:
	case m >= 4:
		tail = uint64(word32(s[4:])) | uint64(word32(s[n-4:]))<<(8*(m-4))
	default:
		for i := range m {
			tail |= uint64(s[4+i]) << (8 * i)
		}
	}
	return head, tail
}

func word32(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// AppendText appends the text of a two-word cell.
func AppendText(p []byte, w []uint64, a *Arena) []byte {
	n := int(uint32(w[0]))
	if n > inlineBytes {
		return append(p, a.Get(w[1], n)...)
	}
	var short [inlineBytes]byte
	return append(p, inlineText(w, &short)[:n]...)
}

// inlineText writes the bytes of an inline text, and zeros behind it.
func inlineText(w []uint64, short *[inlineBytes]byte) []byte {
	binary.LittleEndian.PutUint32(short[:4], uint32(w[0]>>32))
	binary.LittleEndian.PutUint64(short[4:], w[1])
	return short[:]
}

// Free forgets the value.
func (c *Cell) Free(w []uint64, a *Arena) {
	if c.Words == 2 {
		FreeText(w, a)
		return
	}
	w[0] = 0
}

// Move stores a copy of the value in from, of another arena.
func (c *Cell) Move(w []uint64, a *Arena, from []uint64, fromArena *Arena) {
	w[0] = from[0]
	if c.Words == 2 {
		w[1] = from[1]
		if n := int(uint32(w[0])); n > inlineBytes {
			w[1] = a.Put(fromArena.Get(from[1], n))
		}
	}
}

// AppendTo appends the value to a column.
func (c *Cell) AppendTo(b *Buf, w []uint64, a *Arena) {
	switch c.kind {
	case types.String:
		b.row(true)
		b.bytes = AppendText(b.bytes, w, a)
		b.ends = append(b.ends, len(b.bytes))
	case types.Record:
		b.Decode(AppendText(nil, w, a))
	default:
		b.Word(w[0])
	}
}

// Equal reports whether the stored value equals row i of col, which is not null, as grouping sees it.
func (c *Cell) Equal(w []uint64, a *Arena, col *vec.Column, i int) bool {
	switch c.kind {
	case types.Int:
		return w[0] == uint64(col.Ints[i])
	case types.Float:
		return w[0] == floatWord(col.Floats[i])
	case types.Bool:
		return w[0] == boolWord(col.Bools[i])
	case types.String:
		return equalText(w, a, col.Strs[i])
	}
	return equalText(w, a, view(AppendValue(nil, col, i)))
}

func equalText(w []uint64, a *Arena, s string) bool {
	if int(uint32(w[0])) != len(s) {
		return false
	}
	if len(s) > inlineBytes {
		return view(a.Get(w[1], len(s))) == s
	}
	head, tail := textWords(s)
	return w[0] == head && w[1] == tail
}

// EqualCells reports whether two stored values are equal.
func (c *Cell) EqualCells(w []uint64, a *Arena, v []uint64, va *Arena) bool {
	if w[0] != v[0] {
		return false
	}
	if c.Words == 1 {
		return true
	}
	if n := int(uint32(w[0])); n > inlineBytes {
		return view(a.Get(w[1], n)) == view(va.Get(v[1], n))
	}
	return w[1] == v[1]
}

// Compare orders the stored value and row i of col, which is not null, as vec.Compare does. The type is an ordered one.
func (c *Cell) Compare(w []uint64, a *Arena, col *vec.Column, i int) int {
	switch c.kind {
	case types.Int:
		return cmp.Compare(int64(w[0]), col.Ints[i])
	case types.Float:
		return compareFloats(math.Float64frombits(w[0]), col.Floats[i])
	case types.Bool:
		return cmp.Compare(w[0], boolWord(col.Bools[i]))
	}
	var short [inlineBytes]byte
	return strings.Compare(view(textView(w, a, &short)), col.Strs[i])
}

// CompareCells orders two stored values.
func (c *Cell) CompareCells(w []uint64, a *Arena, v []uint64, va *Arena) int {
	switch c.kind {
	case types.Int:
		return cmp.Compare(int64(w[0]), int64(v[0]))
	case types.Float:
		return compareFloats(math.Float64frombits(w[0]), math.Float64frombits(v[0]))
	case types.Bool:
		return cmp.Compare(w[0], v[0])
	}
	var s1, s2 [inlineBytes]byte
	return strings.Compare(view(textView(w, a, &s1)), view(textView(v, va, &s2)))
}

// textView returns the text of a cell, in short if it is inline.
func textView(w []uint64, a *Arena, short *[inlineBytes]byte) []byte {
	n := int(uint32(w[0]))
	if n > inlineBytes {
		return a.Get(w[1], n)
	}
	return inlineText(w, short)[:n]
}

// compareFloats orders numbers with NaN above all.
func compareFloats(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	case x == y:
		return 0
	}
	return int(boolWord(x != x)) - int(boolWord(y != y))
}

// view returns p as a string that shares its bytes.
func view(p []byte) string { return unsafe.String(unsafe.SliceData(p), len(p)) }

// SetText stores p, which is not empty, in two words that are zero or were freed; zero words stand for no text.
func SetText(w []uint64, a *Arena, p []byte) { setText(w, a, view(p)) }

// FreeText forgets a text.
func FreeText(w []uint64, a *Arena) {
	if n := int(uint32(w[0])); n > inlineBytes {
		a.Free(w[1], n)
	}
	w[0], w[1] = 0, 0
}
