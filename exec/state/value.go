package state

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// AppendValue appends row i of c in a form that Buf.Decode reads back. Equal values have equal bytes: -0 is written as
// 0 and all NaNs as one.
func AppendValue(p []byte, c *vec.Column, i int) []byte {
	if c.Null(i) || c.Type.Kind == types.Null {
		return append(p, 0)
	}
	p = append(p, 1)
	switch c.Type.Kind {
	case types.Int, types.Time, types.Duration:
		return binary.LittleEndian.AppendUint64(p, uint64(c.Ints[i]))
	case types.Float:
		return binary.LittleEndian.AppendUint64(p, floatWord(c.Floats[i]))
	case types.Bool:
		return append(p, byte(boolWord(c.Bools[i])))
	case types.String, types.Bytes, types.Any:
		p = binary.AppendUvarint(p, uint64(len(c.Strs[i])))
		return append(p, c.Strs[i]...)
	case types.List:
		p = binary.AppendUvarint(p, uint64(c.Offs[i+1]-c.Offs[i]))
		for j := c.Offs[i]; j < c.Offs[i+1]; j++ {
			p = AppendValue(p, c.Kids[0], int(j))
		}
		return p
	case types.Record:
		for _, k := range c.Kids {
			p = AppendValue(p, k, i)
		}
		return p
	}
	panic("state: value of " + c.Type.String())
}

// floatWord returns the bits of f as grouping sees it.
func floatWord(f float64) uint64 {
	if f == 0 {
		return 0
	}
	if f != f {
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(f)
}

func boolWord(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// Buf grows a column from what tables hold. Strings are copied into one buffer for the whole column.
type Buf struct {
	t       types.Type
	n       int
	valid   vec.Bitmap
	anyNull bool
	ints    []int64
	floats  []float64
	bools   []bool
	bytes   []byte
	ends    []int
	offs    []int32
	kids    []*Buf
}

// NewBuf returns an empty column of the type.
func NewBuf(t types.Type) *Buf {
	b := &Buf{t: t}
	switch t.Kind {
	case types.List:
		b.offs = []int32{0}
		b.kids = []*Buf{NewBuf(*t.Elem)}
	case types.Record:
		for _, f := range t.Fields {
			b.kids = append(b.kids, NewBuf(f.Type))
		}
	}
	return b
}

// Len returns the number of rows so far.
func (b *Buf) Len() int { return b.n }

func (b *Buf) row(ok bool) {
	if b.n&63 == 0 {
		b.valid = append(b.valid, 0)
	}
	if ok {
		b.valid.Set(b.n)
	} else {
		b.anyNull = true
	}
	b.n++
}

// Null appends a null.
func (b *Buf) Null() {
	b.row(false)
	switch b.t.Kind {
	case types.Int, types.Time, types.Duration:
		b.ints = append(b.ints, 0)
	case types.Float:
		b.floats = append(b.floats, 0)
	case types.Bool:
		b.bools = append(b.bools, false)
	case types.String, types.Bytes, types.Any:
		b.ends = append(b.ends, len(b.bytes))
	case types.List:
		b.offs = append(b.offs, int32(b.kids[0].n))
	case types.Record:
		for _, k := range b.kids {
			k.Null()
		}
	}
}

// Word appends a value of a one-word kind: an int, a time, a duration, the bits of a float, or a bool.
func (b *Buf) Word(w uint64) {
	b.row(true)
	switch b.t.Kind {
	case types.Float:
		b.floats = append(b.floats, math.Float64frombits(w))
	case types.Bool:
		b.bools = append(b.bools, w != 0)
	default:
		b.ints = append(b.ints, int64(w))
	}
}

// Bytes appends a value of a kind that is text.
func (b *Buf) Bytes(p []byte) {
	b.row(true)
	b.bytes = append(b.bytes, p...)
	b.ends = append(b.ends, len(b.bytes))
}

// List appends a list of the next n elements, which the caller then appends to the buffer that is returned.
func (b *Buf) List(n int) *Buf {
	b.row(true)
	b.offs = append(b.offs, b.offs[len(b.offs)-1]+int32(n))
	return b.kids[0]
}

// Record appends a record, whose fields the caller then appends to the buffers that are returned.
func (b *Buf) Record() []*Buf {
	b.row(true)
	return b.kids
}

// Decode appends one value of AppendValue and returns what follows it.
func (b *Buf) Decode(p []byte) []byte {
	ok := p[0] != 0
	p = p[1:]
	if !ok {
		b.Null()
		return p
	}
	switch b.t.Kind {
	case types.Bool:
		b.Word(uint64(p[0]))
		return p[1:]
	case types.String, types.Bytes, types.Any:
		n, k := binary.Uvarint(p)
		p = p[k:]
		b.Bytes(p[:n])
		return p[n:]
	case types.List:
		n, k := binary.Uvarint(p)
		p = p[k:]
		kid := b.List(int(n))
		for range n {
			p = kid.Decode(p)
		}
		return p
	case types.Record:
		for _, k := range b.Record() {
			p = k.Decode(p)
		}
		return p
	}
	b.Word(binary.LittleEndian.Uint64(p))
	return p[8:]
}

// Column returns what was appended. The buffer must not be used after it.
func (b *Buf) Column() *vec.Column {
	if b.n == 0 {
		return vec.New(b.t, 0)
	}
	c := &vec.Column{Type: b.t, Ints: b.ints, Floats: b.floats, Bools: b.bools, Offs: b.offs}
	if b.anyNull || b.t.Kind == types.Record && len(b.kids) == 0 {
		c.Valid = b.valid
	}
	switch b.t.Kind {
	case types.String, types.Bytes, types.Any:
		all := unsafe.String(unsafe.SliceData(b.bytes), len(b.bytes)) // handed over: never changed again
		c.Strs = make([]string, b.n)
		from := 0
		for i, to := range b.ends {
			c.Strs[i] = all[from:to]
			from = to
		}
	}
	for _, k := range b.kids {
		c.Kids = append(c.Kids, k.Column())
	}
	return c
}
