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
	wrong  []uint32 // scratch of lookupHash
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

// Lookup finds the row of the keys at each of the physical rows of keys, whose hashes (vec.Hash over the same columns)
// are in hashes, and writes its number to ids. A key that is not there gets a new row if insert is set, else None. With
// insert set the rows are touched (see freeze.go): the owner is going to change its words.
func (t *Table) Lookup(keys []*vec.Column, rows []uint32, hashes []uint64, ids []uint32, insert bool) {
	t.indexed()
	ids, hashes = ids[:len(rows)], hashes[:len(rows)]
	switch {
	case len(rows) == 0:
	case len(keys) == 0:
		t.lookupSlow(keys, rows[:1], hashes, ids, insert)
		for i := range ids {
			ids[i] = ids[0]
		}
	case t.hashAt < 0:
		t.lookupInt(keys[0], rows, hashes, ids, insert)
	case len(keys) == 2 && t.keys[0].kind == types.Int && t.keys[1].kind == types.Int && keys[0].Valid == nil && keys[1].Valid == nil:
		t.lookupTwo(keys[0], keys[1], rows, hashes, ids, insert)
	case len(keys) == 1 && t.keys[0].kind == types.Int && keys[0].Valid == nil:
		t.lookupOne(keys[0], rows, hashes, ids, insert)
	default:
		for from := 0; from < len(rows); from += lookupRows {
			to := min(from+lookupRows, len(rows))
			t.lookupHash(keys, rows[from:to], hashes[from:to], ids[from:to], insert)
		}
	}
	if insert {
		t.rows.TouchAll(ids)
	}
}

func (t *Table) add(h uint64, keys []*vec.Column, r int) uint32 {
	id := t.rows.Add()
	w := t.rows.At(id)
	w[t.hashAt] = h
	for k := range t.keys {
		switch {
		case keys[k].Null(r):
			if t.nullAt >= 0 {
				w[t.nullAt+k>>6] |= 1 << (k & 63)
			}
		case t.keys[k].kind == types.Float:
			w[t.keyAt[k]] = floatWord(keys[k].Floats[r])
		default:
			t.keys[k].Set(w[t.keyAt[k]:], &t.arena, keys[k], r)
		}
	}
	t.index.insert(h, id)
	return id
}

// Hash returns the hash of a row's key.
func (t *Table) Hash(id uint32) uint64 {
	if t.hashAt < 0 {
		return vec.HashInt(int64(*t.rows.Word(id, 0)))
	}
	return *t.rows.Word(id, t.hashAt)
}

// Find looks up the keys that the rows ids of src, a table over the same key types, have, and writes the numbers of
// their rows here to out. A key that is not there gets a new row if insert is set, else None; then the
// rows are touched, too.
func (t *Table) Find(src *Table, ids []uint32, out []uint32, insert bool) {
	t.indexed()
	x := &t.index
next:
	for i, from := range ids {
		h := src.Hash(from)
		slots := x.parts[h>>x.shift].slots
		mask := uint32(len(slots) - 1)
		tag := tagOf(h)
		sw := src.rows.At(from)
		for at := tag & mask; ; at = (at + 1) & mask {
			s := slots[at]
			if uint32(s>>32) == tag && s != 0 {
				if id := uint32(s) - 1; t.equalRow(t.rows.At(id), src, sw) {
					out[i] = id
					continue next
				}
			} else if s == 0 {
				break
			}
		}
		out[i] = None
		if insert {
			id := t.rows.Add()
			w := t.rows.At(id)
			copy(w[:t.off], src.rows.At(from)[:t.off])
			for k := range t.keys {
				if t.keys[k].Words == 2 {
					at := t.keyAt[k]
					t.keys[k].Move(w[at:], &t.arena, w[at:], &src.arena)
				}
			}
			x.insert(h, id)
			out[i] = id
		}
	}
	if insert {
		t.rows.TouchAll(out)
	}
}

func (t *Table) equalRow(w []uint64, src *Table, sw []uint64) bool {
	if t.hashAt < 0 {
		return w[0] == sw[0]
	}
	for k := range w[:t.keysFrom()] { // hash and null bits
		if w[k] != sw[k] {
			return false
		}
	}
	for k := range t.keys {
		at := t.keyAt[k]
		if !t.keys[k].EqualCells(w[at:], &t.arena, sw[at:], &src.arena) {
			return false
		}
	}
	return true
}

func (t *Table) keysFrom() int {
	if len(t.keyAt) == 0 {
		return t.off
	}
	return t.keyAt[0]
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
