package vec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/ebb-lang/ebb/lang/types"
)

// A block is rows as bytes, for what outlives the process. It begins with its version, says which hidden columns it has
// and the types of its columns, and goes on with one column after the other, numbers little-endian:
//
//	version, flags          a byte each
//	rows, columns           varints; then the type of each column
//	Time Mark Pos           8 bytes a row, where flags say so
//	Change                  a byte a row
//	columns                 a byte that says whether a bitmap of the valid rows follows; then by kind 8 bytes a row, or a byte a
//	                        row (bool), or 4 bytes a row (length of text or list) and the texts or the elements, or the fields
const blockVersion = 1

// Flags of a block.
const (
	hasTime = 1 << iota
	hasMark
	hasPos
	hasChange
	hasBlock
	knownFlags = 1<<iota - 1
)

// AppendBlock appends the selected rows of b, so that DecodeBlock gives them back as a dense batch.
func AppendBlock(p []byte, b *Batch) []byte {
	flags := byte(0)
	for i, has := range []bool{b.Time != nil, b.Mark != nil, b.Pos != nil, b.Change != nil, b.Block != nil} {
		if has {
			flags |= 1 << i
		}
	}
	n := b.Rows()
	p = append(p, blockVersion, flags)
	p = binary.AppendUvarint(p, uint64(n))
	p = binary.AppendUvarint(p, uint64(len(b.Cols)))
	for _, c := range b.Cols {
		p = appendType(p, c.Type)
	}
	p = appendNumbers(p, b.Time, b.Sel, n)
	p = appendNumbers(p, b.Mark, b.Sel, n)
	p = appendNumbers(p, b.Pos, b.Sel, n)
	if b.Change != nil {
		for i := range n {
			p = append(p, byte(b.Change[b.Row(i)]))
		}
	}
	for _, c := range b.Cols {
		p = c.appendTo(p, b.Sel, n)
	}
	return p
}

// appendTo appends the rows sel of c, or its first n.
func (c *Column) appendTo(p []byte, sel []uint32, n int) []byte {
	p = c.appendValid(p, sel, n)
	switch c.Type.Kind {
	case types.Int, types.Time, types.Duration:
		return appendNumbers(p, c.Ints, sel, n)
	case types.Float:
		return appendNumbers(p, c.Floats, sel, n)
	case types.Bool:
		for i := range n {
			p = append(p, byte(boolInt(c.Bools[rowOf(sel, i)])))
		}
	case types.String, types.Bytes, types.Any:
		return c.appendTexts(p, sel, n)
	case types.List:
		if sel != nil || c.Offs[0] != 0 || int(c.Offs[n]) != c.Kids[0].Len() {
			rows := make([]uint32, n)
			for i := range rows {
				rows[i] = uint32(rowOf(sel, i))
			}
			c = c.Gather(rows)
		}
		for i := range n {
			p = binary.LittleEndian.AppendUint32(p, uint32(c.Offs[i+1]-c.Offs[i]))
		}
		return c.Kids[0].appendTo(p, nil, int(c.Offs[n]))
	case types.Record:
		for _, k := range c.Kids {
			p = k.appendTo(p, sel, n)
		}
	}
	return p
}

// appendValid writes no bitmap if all rows are valid, except where nothing else of the column depends on the number of
// rows: what is read must be bounded by what there is.
func (c *Column) appendValid(p []byte, sel []uint32, n int) []byte {
	v := c.Valid
	if v == nil && bare(c.Type) {
		v = FullBitmap(n)
	}
	if v == nil {
		return append(p, 0)
	}
	if sel != nil {
		v = NewBitmap(n)
		for i, r := range sel {
			if !c.Null(int(r)) {
				v.Set(i)
			}
		}
		if !bare(c.Type) && v.Count() == n {
			return append(p, 0)
		}
	}
	at := len(p) + 1
	p = appendNumbers(append(p, 1), v, nil, (n+63)/64)
	if r := n & 63; r != 0 { // rows of the bitmap behind the last
		last := p[at+n/64*8:]
		binary.LittleEndian.PutUint64(last, binary.LittleEndian.Uint64(last)&(1<<r-1))
	}
	return p
}

// bare tells types whose columns hold nothing but which rows are valid.
func bare(t types.Type) bool {
	return t.Kind == types.Null || t.Kind == types.Record && len(t.Fields) == 0
}

func rowOf(sel []uint32, i int) int {
	if sel != nil {
		return int(sel[i])
	}
	return i
}

func (c *Column) appendTexts(p []byte, sel []uint32, n int) []byte {
	total := 0
	for i := range n {
		if r := rowOf(sel, i); !c.Null(r) {
			total += len(c.Strs[r])
		}
	}
	p = room(p, 8+4*n+total)
	p = binary.LittleEndian.AppendUint64(p, uint64(total))
	for i := range n {
		size := 0
		if r := rowOf(sel, i); !c.Null(r) {
			size = len(c.Strs[r])
		}
		p = binary.LittleEndian.AppendUint32(p, uint32(size))
	}
	for i := range n {
		if r := rowOf(sel, i); !c.Null(r) {
			p = append(p, c.Strs[r]...)
		}
	}
	return p
}

// room makes room for n more bytes.
func room(p []byte, n int) []byte {
	if cap(p)-len(p) >= n {
		return p
	}
	return append(make([]byte, 0, max(len(p)+n, 2*cap(p))), p...)
}

type number interface{ ~int64 | ~uint64 | ~float64 }

// littleEndian tells that the machine holds numbers as blocks do.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// appendNumbers appends the numbers at sel, or the first n; nothing if there are none.
func appendNumbers[T number](p []byte, v []T, sel []uint32, n int) []byte {
	if len(v) == 0 || n == 0 {
		return p
	}
	p = room(p, 8*n)
	if sel == nil && littleEndian {
		return append(p, unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), 8*n)...)
	}
	at := len(p)
	p = p[:at+8*n]
	for i := range n {
		binary.LittleEndian.PutUint64(p[at+8*i:], *(*uint64)(unsafe.Pointer(&v[rowOf(sel, i)])))
	}
	return p
}

// DecodeBlock reads what AppendBlock wrote and returns what follows it. The batch shares no memory with p. Bytes that
// are no block are an error.
func DecodeBlock(p []byte) (b *Batch, rest []byte, err error) {
	d := decoder{p: p}
	b = d.block()
	if d.err != nil {
		return nil, nil, fmt.Errorf("decode rows: %w", d.err)
	}
	return b, d.p, nil
}

// decoder reads a block or a schema. After an error there is nothing left, and what it returns is void.
type decoder struct {
	p   []byte
	err error
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.p = nil
}

// take takes n things of size bytes.
func (d *decoder) take(n, size int) []byte {
	if n < 0 || n > len(d.p)/size {
		d.fail(errShort)
		return nil
	}
	n *= size
	q := d.p[:n:n]
	d.p = d.p[n:]
	return q
}

func (d *decoder) byte() byte {
	if q := d.take(1, 1); q != nil {
		return q[0]
	}
	return 0
}

// count reads a number of things that take at least size bytes each.
func (d *decoder) count(size int) int {
	v, n := binary.Uvarint(d.p)
	if n <= 0 || v > uint64((len(d.p)-n)/size) {
		d.fail(errShort)
		return 0
	}
	d.p = d.p[n:]
	return int(v)
}

func (d *decoder) text() string { return string(d.take(d.count(1), 1)) }

func (d *decoder) block() *Batch {
	if v := d.byte(); d.err == nil && v != blockVersion {
		d.fail(fmt.Errorf("version %d of rows is not known", v))
	}
	flags := d.byte()
	if flags&^knownFlags != 0 {
		d.fail(errors.New("flags of rows are not known"))
	}
	rows, k := binary.Uvarint(d.p)
	if k <= 0 || rows > math.MaxInt32 {
		d.fail(errShort)
		return nil
	}
	d.p = d.p[k:]
	n := int(rows)
	b := &Batch{N: n}
	ts := make([]types.Type, d.count(1))
	for i := range ts {
		ts[i] = d.typ(0)
	}
	if flags&hasTime != 0 {
		b.Time = numbers[int64](d, n)
	}
	if flags&hasMark != 0 {
		b.Mark = numbers[int64](d, n)
	}
	if flags&hasPos != 0 {
		b.Pos = numbers[uint64](d, n)
	}
	if flags&hasChange != 0 {
		q := d.take(n, 1)
		b.Change = make([]Change, len(q))
		for i, c := range q {
			if b.Change[i] = Change(c); b.Change[i] > Delete {
				d.fail(fmt.Errorf("there is no change %d", c))
				break
			}
		}
	}
	for i, t := range ts {
		if d.err != nil {
			return nil
		}
		c, texts := d.column(t, n)
		if i == 0 && flags&hasBlock != 0 {
			if t.Kind != types.String || c.Valid != nil {
				d.fail(errors.New("encoded rows are no text"))
				return nil
			}
			b.Block = texts
		}
		b.Cols = append(b.Cols, c)
	}
	if flags&hasBlock != 0 && len(b.Cols) == 0 {
		d.fail(errors.New("encoded rows are no text"))
	}
	return b
}

// column reads n rows of the type. For text it also returns all of it, to which the rows are views.
func (d *decoder) column(t types.Type, n int) (c *Column, texts []byte) {
	c = &Column{Type: t}
	switch v := d.byte(); {
	case v == 1:
		c.Valid = numbers[uint64](d, (n+63)/64)
		if r := n & 63; d.err == nil && r != 0 && c.Valid[len(c.Valid)-1]>>r != 0 {
			d.fail(errors.New("a bitmap has rows that there are not"))
		}
	case v > 1:
		d.fail(errors.New("a column is neither with nor without nulls"))
	case bare(t) && n > 0:
		d.fail(errors.New("a bitmap is missing"))
	}
	switch t.Kind {
	case types.Int, types.Time, types.Duration:
		c.Ints = numbers[int64](d, n)
	case types.Float:
		c.Floats = numbers[float64](d, n)
	case types.Bool:
		q := d.take(n, 1)
		c.Bools = make([]bool, len(q))
		for i, x := range q {
			c.Bools[i] = x != 0
		}
	case types.String, types.Bytes, types.Any:
		texts = d.texts(c, n)
	case types.List:
		d.list(c, n)
	case types.Record:
		for _, f := range t.Fields {
			if d.err != nil {
				break
			}
			k, _ := d.column(f.Type, n)
			c.Kids = append(c.Kids, k)
		}
	}
	return c, texts
}

// lengths reads n lengths; the sum must be at most most.
func (d *decoder) lengths(n, most int) []byte {
	q := d.take(n, 4)
	sum := 0
	for i := 0; i < len(q); i += 4 {
		if sum += int(binary.LittleEndian.Uint32(q[i:])); sum > most {
			d.fail(errShort)
			return nil
		}
	}
	return q
}

func (d *decoder) texts(c *Column, n int) []byte {
	head := d.take(1, 8)
	if head == nil {
		return nil
	}
	total := binary.LittleEndian.Uint64(head)
	if total > uint64(len(d.p)) {
		d.fail(errShort)
		return nil
	}
	sizes := d.lengths(n, int(total))
	own := append(make([]byte, 0, total), d.take(int(total), 1)...)
	if d.err != nil {
		return nil
	}
	all := unsafe.String(unsafe.SliceData(own), len(own)) // own is not changed any more
	c.Strs = make([]string, n)
	at := 0
	for i := range c.Strs {
		size := int(binary.LittleEndian.Uint32(sizes[4*i:]))
		c.Strs[i] = all[at : at+size]
		at += size
	}
	if at != len(all) {
		d.fail(errors.New("texts and their lengths do not fit"))
	}
	return own
}

func (d *decoder) list(c *Column, n int) {
	sizes := d.lengths(n, math.MaxInt32)
	if d.err != nil {
		return
	}
	c.Offs = make([]int32, n+1)
	for i := range n {
		c.Offs[i+1] = c.Offs[i] + int32(binary.LittleEndian.Uint32(sizes[4*i:]))
	}
	kid, _ := d.column(*c.Type.Elem, int(c.Offs[n]))
	c.Kids = []*Column{kid}
}

// numbers reads n numbers of eight bytes.
func numbers[T number](d *decoder, n int) []T {
	q := d.take(n, 8)
	v := make([]T, len(q)/8)
	if len(v) == 0 {
		return v
	}
	if littleEndian {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(q)), q)
		return v
	}
	for i := range v {
		*(*uint64)(unsafe.Pointer(&v[i])) = binary.LittleEndian.Uint64(q[8*i:])
	}
	return v
}
