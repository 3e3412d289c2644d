package vec

import (
	"fmt"
	"strings"

	"github.com/ebb-lang/ebb/lang/types"
)

// MaxRows is the largest number of rows of a batch.
const MaxRows = 4096

// Change is what a row does to the result it belongs to.
type Change uint8

// The kinds of change. The zero Change is an insertion.
const (
	Insert       Change = iota // +I
	UpdateBefore               // -U takes back the row as it was
	UpdateAfter                // +U
	Delete                     // -D
)

func (c Change) String() string { return [...]string{"+I", "-U", "+U", "-D"}[c] }

// Retracts reports whether the row takes another one back.
func (c Change) Retracts() bool { return c == UpdateBefore || c == Delete }

// Batch is a run of rows. It is immutable once emitted: whoever got it may keep it, and nobody may change it.
// Every column has N physical rows; the rows that count are those in Sel.
type Batch struct {
	N    int
	Sel  []uint32  // selected physical rows, ascending; nil: all N
	Cols []*Column // one for each field of the stream's schema

	// Hidden columns, nil where no stage needs them or where they say nothing.
	Time   []int64  // event time
	Mark   []int64  // watermark of the row's split when it was read; nil if no row of the batch is behind it
	Pos    []uint64 // position: Position(source, file, offset); breaks ties in event time
	Change []Change // nil: all rows are insertions

	// Block is set on batches of encoded rows (one String column): the bytes of all N rows, one after the other.
	Block []byte
	// Free, if set, takes the memory of encoded rows back. A sink that writes files calls it once, when all are written;
	// whoever keeps the batch beyond that sets it to nil first.
	Free func(*Batch)
}

// Position packs where a row was read into a number that orders rows as the language orders ties: by source, file and
// offset (byte or row) within the file.
func Position(source, file int, offset int64) uint64 {
	return uint64(source&0xff)<<56 | uint64(file&0xffff)<<40 | uint64(offset)&(1<<40-1)
}

// Rows returns the number of selected rows.
func (b *Batch) Rows() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return b.N
}

// Row returns the physical row of the i-th selected one.
func (b *Batch) Row(i int) int {
	if b.Sel != nil {
		return int(b.Sel[i])
	}
	return i
}

// Bytes returns about how much memory the batch holds.
func (b *Batch) Bytes() int {
	if b.Block != nil {
		return len(b.Block) + 16*b.N
	}
	n := len(b.Time)*8 + len(b.Mark)*8 + len(b.Pos)*8 + len(b.Change) + len(b.Sel)*4
	for _, c := range b.Cols {
		n += c.Bytes()
	}
	return n
}

// With returns a batch of the same rows with other columns.
func (b *Batch) With(cols []*Column) *Batch {
	c := *b
	c.Cols = cols
	c.Block, c.Free = nil, nil
	return &c
}

// Select returns a batch of the physical rows sel, a subset of the selected ones.
func (b *Batch) Select(sel []uint32) *Batch {
	c := *b
	c.Sel, c.Free = sel, nil
	return &c
}

// Gather returns a dense batch of the physical rows at rows, in that order.
func (b *Batch) Gather(rows []uint32) *Batch {
	out := &Batch{N: len(rows), Cols: make([]*Column, len(b.Cols))}
	for i, c := range b.Cols {
		out.Cols[i] = c.Gather(rows)
	}
	if b.Time != nil {
		out.Time = gather(b.Time, rows)
	}
	if b.Mark != nil {
		out.Mark = gather(b.Mark, rows)
	}
	if b.Pos != nil {
		out.Pos = gather(b.Pos, rows)
	}
	if b.Change != nil {
		out.Change = gather(b.Change, rows)
	}
	return out
}

// Dense returns b without a selection: b itself if it has none.
func (b *Batch) Dense() *Batch {
	if b.Sel == nil {
		return b
	}
	return b.Gather(b.Sel)
}

// Slice returns the selected rows from i to j as a batch that shares b's columns.
func (b *Batch) Slice(i, j int) *Batch {
	if i == 0 && j == b.Rows() {
		return b
	}
	if b.Sel != nil {
		return b.Select(b.Sel[i:j])
	}
	sel := make([]uint32, j-i)
	for k := range sel {
		sel[k] = uint32(i + k)
	}
	return b.Select(sel)
}

// Concat returns the selected rows of all batches as one dense batch. All have the same columns.
func Concat(batches []*Batch) *Batch {
	if len(batches) == 1 {
		return batches[0].Dense()
	}
	var refs []Ref
	for k, b := range batches {
		for i := range b.Rows() {
			refs = append(refs, Ref{uint32(k), uint32(b.Row(i))})
		}
	}
	return Interleave(batches, refs)
}

func at[T any](s []T, i int, none T) T {
	if s == nil {
		return none
	}
	return s[i]
}

// String prints the rows for tests and messages: one line a row, values as Go prints them.
func (b *Batch) String() string {
	var s strings.Builder
	for i := range b.Rows() {
		r := b.Row(i)
		if b.Change != nil {
			fmt.Fprintf(&s, "%s ", b.Change[r])
		}
		for k, c := range b.Cols {
			if k > 0 {
				s.WriteString(", ")
			}
			fmt.Fprint(&s, c.Value(r))
		}
		s.WriteByte('\n')
	}
	return s.String()
}

// Ref is a physical row of one of several batches.
type Ref struct{ Batch, Row uint32 }

// Interleave returns the rows that refs name, in that order, as one dense batch. All batches have the same columns.
func Interleave(batches []*Batch, refs []Ref) *Batch {
	out := &Batch{N: len(refs), Cols: make([]*Column, len(batches[0].Cols))}
	for k := range out.Cols {
		bd := NewBuilder(batches[0].Cols[k].Type)
		for _, r := range refs {
			bd.AppendRow(batches[r.Batch].Cols[k], int(r.Row))
		}
		out.Cols[k] = bd.Column()
	}
	var first Batch // tells which hidden columns there are
	for _, b := range batches {
		if b.Time != nil {
			first.Time = b.Time
		}
		if b.Mark != nil {
			first.Mark = b.Mark
		}
		if b.Pos != nil {
			first.Pos = b.Pos
		}
		if b.Change != nil {
			first.Change = b.Change
		}
	}
	for _, r := range refs {
		b := batches[r.Batch]
		if first.Time != nil {
			out.Time = append(out.Time, at(b.Time, int(r.Row), types.MinInstant))
		}
		if first.Mark != nil {
			out.Mark = append(out.Mark, at(b.Mark, int(r.Row), types.MinInstant))
		}
		if first.Pos != nil {
			out.Pos = append(out.Pos, at(b.Pos, int(r.Row), 0))
		}
		if first.Change != nil {
			out.Change = append(out.Change, at(b.Change, int(r.Row), Insert))
		}
	}
	return out
}
