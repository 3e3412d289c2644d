package state

import (
	"math"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Table finds rows by key. A key is the values of some columns, of any types, nulls included; a row is the key and
// some words for the owner, which are zero when the row is new. Work comes in batches: hash all keys, then probe.
type Table struct {
	keys   []Cell
	keyAt  []int // word of each key
	hashAt int   // word of the hash; -1 if the key is one int, whose hash is cheap
	nullAt int   // word of the null bits, 64 keys a word; -1 if no key is nullable
	off    int
	rows   *Rows
	arena  Arena
	index  index
}

// NewTable returns an empty table over keys of the types, with words words a row for the owner.
func NewTable(keys []types.Type, words int) *Table {
	t := &Table{hashAt: -1, nullAt: -1}
	nullable := false
	for _, k := range keys {
		nullable = nullable || k.Nullable
		t.keys = append(t.keys, NewCell(k))
	}
	at := 0
	if !(len(keys) == 1 && t.keys[0].kind == types.Int && !nullable) {
		t.hashAt = at
		at++
	}
	if nullable {
		t.nullAt = at
		at += (len(keys) + 63) / 64
	}
	for i := range t.keys {
		t.keyAt = append(t.keyAt, at)
		at += t.keys[i].Words
	}
	t.off = at
	t.rows = NewRows(at + words)
	return t
}

// Rows returns the rows of the table; the owner's words of a row begin at Off. Only the table adds and deletes rows.
func (t *Table) Rows() *Rows { return t.rows }

// Off returns the number of the owner's first word.
func (t *Table) Off() int { return t.off }

// Len returns the number of keys.
func (t *Table) Len() int { return t.rows.Len() }

// Bytes returns how much memory the table holds.
func (t *Table) Bytes() int { return t.rows.Bytes() + t.arena.Bytes() + t.index.bytes() }

// Hash returns the hash of a row's key.
func (t *Table) Hash(id uint32) uint64 {
	if t.hashAt < 0 {
		return vec.HashInt(int64(*t.rows.Word(id, 0)))
	}
	return *t.rows.Word(id, t.hashAt)
}

// Delete removes a row. Its number may come again.
func (t *Table) Delete(id uint32) {
	t.indexed()
	t.rows.Touch(id)
	t.index.delete(t.Hash(id), id)
	w := t.rows.At(id)
	for k := range t.keys {
		if t.keys[k].Words == 2 {
			t.keys[k].Free(w[t.keyAt[k]:], &t.arena)
		}
	}
	t.rows.Delete(id)
}

// Keys returns the key columns of the rows.
func (t *Table) Keys(ids []uint32) []*vec.Column {
	out := make([]*vec.Column, len(t.keys))
	for k := range t.keys {
		out[k] = t.key(k, ids)
	}
	return out
}

func (t *Table) key(k int, ids []uint32) *vec.Column {
	c, at := &t.keys[k], t.keyAt[k]
	if c.kind == types.String {
		col := t.texts(ids, at, c.Type)
		t.markNulls(col, ids, k)
		return col
	}
	if c.Words == 2 {
		b := NewBuf(c.Type)
		for _, id := range ids {
			if t.isNull(id, k) {
				b.Null()
			} else {
				c.AppendTo(b, t.rows.At(id)[at:], &t.arena)
			}
		}
		return b.Column()
	}
	col := vec.New(c.Type, len(ids))
	for i, id := range ids {
		w := *t.rows.Word(id, at)
		switch c.kind {
		case types.Float:
			col.Floats[i] = math.Float64frombits(w)
		case types.Bool:
			col.Bools[i] = w != 0
		default:
			if col.Ints != nil {
				col.Ints[i] = int64(w)
			}
		}
	}
	t.markNulls(col, ids, k)
	return col
}

// texts returns the texts at word at of the rows, in one block. Rows of one text, side by side, share it.
func (t *Table) texts(ids []uint32, at int, ty types.Type) *vec.Column {
	size, last := 0, [2]uint64{} // of the empty text
	for _, id := range ids {
		if w := [2]uint64(t.rows.At(id)[at:]); w != last {
			size, last = size+int(uint32(w[0])), w
		}
	}
	col, block, text := vec.New(ty, len(ids)), make([]byte, 0, size), ""
	last = [2]uint64{}
	for i, id := range ids {
		if w := [2]uint64(t.rows.At(id)[at:]); w != last {
			last = w
			from := len(block)
			block = AppendText(block, w[:], &t.arena)
			text = view(block[from:])
		}
		col.Strs[i] = text
	}
	return col
}

// markNulls sets which rows of col, the k-th key of the rows, are null.
func (t *Table) markNulls(col *vec.Column, ids []uint32, k int) {
	if t.nullAt < 0 {
		return
	}
	for i, id := range ids {
		if t.isNull(id, k) {
			if col.Valid == nil {
				col.Valid = vec.FullBitmap(len(ids))
			}
			col.Valid.Clear(i)
		}
	}
}

func (t *Table) isNull(id uint32, k int) bool {
	return t.nullAt >= 0 && *t.rows.Word(id, t.nullAt+k>>6)>>(k&63)&1 != 0
}

// All appends the numbers of the rows from from on, at most max of them, and returns where to go on; End of Rows means
// that there are no more.
func (t *Table) All(from uint32, max int, ids []uint32) ([]uint32, uint32) {
	for ; from < t.rows.n && max > 0; from++ {
		if t.rows.Live(from) {
			ids = append(ids, from)
			max--
		}
	}
	return ids, from
}

// Reset removes all rows and keeps the memory.
func (t *Table) Reset() {
	t.index.reset()
	t.rows.Reset()
	t.arena.Reset()
}
