package state

import (
	"sync"
	"unsafe"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Keys are looked up some at a time: their slots are read first, then the rows that these name are compared, so that the
// processor waits for many of them at once. Only what is not found at the first try is searched for by itself.

// lookupRows is how many keys are looked up at a time: their rows are still in the cache when the owner comes to them.
const lookupRows = 256

// lookup is the memory of looking up some keys.
type lookup struct {
	hashes [lookupRows]uint64
	slots  [lookupRows]uint64 // the likeliest of each key
	words  []uint64           // of the keys, as rows hold them
}

var lookups = sync.Pool{New: func() any { return new(lookup) }}

// Lookup finds the row of the keys at each of the physical rows of keys, whose hashes (vec.Hash over the same columns)
// are in hashes, and writes its number to ids. A key that is not there gets a new row if insert is set, else None. With
// insert set the rows are touched (see freeze.go): the owner is going to change its words.
func (t *Table) Lookup(keys []*vec.Column, rows []uint32, hashes []uint64, ids []uint32, insert bool) {
	t.indexed()
	ids, hashes = ids[:len(rows)], hashes[:len(rows)]
	if len(keys) == 0 && len(rows) > 0 {
		id := t.find(hashes[0], finder{keys: keys}, insert)
		for i := range ids {
			ids[i] = id
		}
		rows = nil
	}
	l := lookups.Get().(*lookup)
	for from := 0; from < len(rows); from += lookupRows {
		to := min(from+lookupRows, len(rows))
		switch {
		case t.hashAt < 0:
			t.lookupInts(l, keys[0].Ints, rows[from:to], hashes[from:to], ids[from:to], insert)
		case t.image(l, keys, rows[from:to], hashes[from:to]):
			t.lookupWords(l, hashes[from:to], ids[from:to], insert)
		default:
			t.lookupValues(l, keys, rows[from:to], hashes[from:to], ids[from:to], insert)
		}
	}
	lookups.Put(l)
	if insert {
		t.rows.TouchAll(ids)
	}
}

// lookupInts is for a key that is one int that cannot be null.
func (t *Table) lookupInts(l *lookup, v []int64, rows []uint32, hashes []uint64, ids []uint32, insert bool) {
	t.index.likeliest(hashes, &l.slots)
	for i, r := range rows {
		k := uint64(v[r])
		if s := l.slots[i&(lookupRows-1)]; names(s, hashes[i]) && *t.rows.Word(rowOf(s), 0) == k {
			ids[i] = rowOf(s)
		} else {
			ids[i] = t.find(hashes[i], finder{words: []uint64{k}}, insert)
		}
	}
}

// lookupWords is for keys whose words are in l.
func (t *Table) lookupWords(l *lookup, hashes []uint64, ids []uint32, insert bool) {
	t.index.likeliest(hashes, &l.slots)
	for i, h := range hashes {
		m := l.words[i*t.off : (i+1)*t.off]
		if s := l.slots[i&(lookupRows-1)]; names(s, h) && equalWords(t.rows.At(rowOf(s)), m) {
			ids[i] = rowOf(s)
		} else {
			ids[i] = t.find(h, finder{words: m}, insert)
		}
	}
}

func equalWords(w, m []uint64) bool {
	odd := uint64(0)
	w = w[:len(m)]
	for k := range m {
		odd |= w[k] ^ m[k]
	}
	return odd == 0
}

// lookupValues is for all keys.
func (t *Table) lookupValues(l *lookup, keys []*vec.Column, rows []uint32, hashes []uint64, ids []uint32, insert bool) {
	t.index.likeliest(hashes, &l.slots)
	for i, h := range hashes {
		if s := l.slots[i]; names(s, h) && t.equal(rowOf(s), h, keys, int(rows[i])) {
			ids[i] = rowOf(s)
		} else {
			ids[i] = t.find(h, finder{keys: keys, row: int(rows[i])}, insert)
		}
	}
}

// finder is one key: values; or words, as rows hold them, here or in the table src.
type finder struct {
	words []uint64
	src   *Table
	keys  []*vec.Column
	row   int // of keys
}

// find searches for a key; if it is not there it gets a row, if insert is set, else None.
func (t *Table) find(h uint64, key finder, insert bool) uint32 {
	x := &t.index
	for id, at := x.first(h); id != None; id, at = x.next(h, at) {
		if t.has(id, h, &key) {
			return id
		}
	}
	if !insert {
		return None
	}
	id := t.rows.Add()
	switch w := t.rows.At(id); {
	case key.src != nil:
		copy(w[:t.off], key.words)
		for k := range t.keys {
			if t.keys[k].Words == 2 {
				at := t.keyAt[k]
				t.keys[k].Move(w[at:], &t.arena, w[at:], &key.src.arena)
			}
		}
	case key.words != nil:
		copy(w, key.words)
	default:
		w[t.hashAt] = h
		for k, c := range key.keys {
			t.set(w, k, &t.arena, c, key.row)
		}
	}
	x.insert(h, id)
	return id
}

// has reports whether a row has the key.
func (t *Table) has(id uint32, h uint64, key *finder) bool {
	switch {
	case key.src != nil:
		return t.equalRow(t.rows.At(id), key.src, key.words)
	case key.words != nil:
		return equalWords(t.rows.At(id), key.words)
	}
	return t.equal(id, h, key.keys, key.row)
}

// image writes the words of the keys to l; ok is false if some do not fit into words.
func (t *Table) image(l *lookup, keys []*vec.Column, rows []uint32, hashes []uint64) (ok bool) {
	n := len(rows) * t.off
	if len(l.words) < n {
		l.words = make([]uint64, lookupRows*t.off)
	}
	m := l.words[:n]
	if t.nullAt >= 0 {
		clear(m)
	}
	for i, h := range hashes {
		m[i*t.off+t.hashAt] = h
	}
	for k, c := range keys {
		if c.Valid == nil && t.keys[k].Type.Kind != types.Null {
			ok = t.imageAll(m[t.keyAt[k]:], k, c, rows)
		} else {
			ok = t.imageSome(m, k, c, rows)
		}
		if !ok {
			return false
		}
	}
	return true
}

// imageAll writes the words of the k-th key, which is never null; m begins with those of the first row.
func (t *Table) imageAll(m []uint64, k int, c *vec.Column, rows []uint32) bool {
	switch t.keys[k].kind {
	case types.Int:
		for i, r := range rows {
			m[i*t.off] = uint64(c.Ints[r])
		}
	case types.Float:
		for i, r := range rows {
			m[i*t.off] = floatWord(c.Floats[r])
		}
	case types.Bool:
		for i, r := range rows {
			m[i*t.off] = boolWord(c.Bools[r])
		}
	case types.String:
		last := "" // often the rows of a batch share a text
		head, tail := textWords(last)
		for i, r := range rows {
			s := c.Strs[r]
			if len(s) != len(last) || unsafe.StringData(s) != unsafe.StringData(last) {
				if len(s) > inlineBytes {
					return false
				}
				last = s
				head, tail = textWords(s)
			}
			m[i*t.off], m[i*t.off+1] = head, tail
		}
	default:
		return false
	}
	return true
}

// imageSome writes the words of the k-th key where it is not null, and which rows are; m are the words of all keys.
func (t *Table) imageSome(m []uint64, k int, c *vec.Column, rows []uint32) bool {
	cell := &t.keys[k]
	if cell.kind == types.Record {
		return false
	}
	for i, r := range rows {
		if cell.kind == types.String && !c.Null(int(r)) && len(c.Strs[r]) > inlineBytes {
			return false
		}
		t.set(m[i*t.off:], k, nil, c, int(r))
	}
	return true
}

// equal reports whether the row has the key at row r of keys.
func (t *Table) equal(id uint32, h uint64, keys []*vec.Column, r int) bool {
	w := t.rows.At(id)
	if w[t.hashAt] != h {
		return false
	}
	for k := range t.keys {
		if !t.equalKey(k, w, keys[k], r) {
			return false
		}
	}
	return true
}

// equalKey reports whether the row whose words are w has the k-th key at row r of col.
func (t *Table) equalKey(k int, w []uint64, col *vec.Column, r int) bool {
	null := col.Null(r)
	if t.nullAt >= 0 && w[t.nullAt+k>>6]>>(k&63)&1 != boolWord(null) {
		return false
	}
	return null || t.keys[k].Equal(w[t.keyAt[k]:], &t.arena, col, r)
}

// set writes the k-th key, which is that at row r of a column, to the words w, which are zeros, of a row; a holds what does
// not fit into words.
func (t *Table) set(w []uint64, k int, a *Arena, c *vec.Column, r int) {
	switch {
	case c.Null(r):
		if t.nullAt >= 0 {
			w[t.nullAt+k>>6] |= 1 << (k & 63)
		}
	case t.keys[k].kind == types.Float:
		w[t.keyAt[k]] = floatWord(c.Floats[r])
	default:
		t.keys[k].Set(w[t.keyAt[k]:], a, c, r)
	}
}

// Find looks up the keys that the rows ids of src, a table over the same key types, have, and writes the numbers of
// their rows here to out. A key that is not there gets a new row if insert is set, else None; then the
// rows are touched, too.
func (t *Table) Find(src *Table, ids []uint32, out []uint32, insert bool) {
	t.indexed()
	l := lookups.Get().(*lookup)
	for from := 0; from < len(ids); from += lookupRows {
		part := ids[from:min(from+lookupRows, len(ids))]
		for i, id := range part {
			l.hashes[i] = src.Hash(id)
		}
		t.index.likeliest(l.hashes[:len(part)], &l.slots)
		for i, id := range part {
			sw := src.rows.At(id)
			if s := l.slots[i]; names(s, l.hashes[i]) && t.equalRow(t.rows.At(rowOf(s)), src, sw) {
				out[from+i] = rowOf(s)
			} else {
				out[from+i] = t.find(l.hashes[i], finder{words: sw[:t.off], src: src}, insert)
			}
		}
	}
	lookups.Put(l)
	if insert {
		t.rows.TouchAll(out)
	}
}

func (t *Table) equalRow(w []uint64, src *Table, sw []uint64) bool {
	if t.hashAt < 0 {
		return w[0] == sw[0]
	}
	if !equalWords(w, sw[:t.keysFrom()]) { // hash and null bits
		return false
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
