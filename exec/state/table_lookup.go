package state

import (
	"unsafe"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// The ways to look up the keys of a batch, by their types.

// lookupInt is for a key that is one int that cannot be null.
func (t *Table) lookupInt(key *vec.Column, rows []uint32, hashes []uint64, ids []uint32, insert bool) {
	v := key.Ints
	x := &t.index
next:
	for i, r := range rows {
		h, k := hashes[i], uint64(v[r])
		slots := x.parts[h>>x.shift].slots
		mask := uint32(len(slots) - 1)
		tag := tagOf(h)
		for at := tag & mask; ; at = (at + 1) & mask {
			s := slots[at]
			if uint32(s>>32) == tag && s != 0 {
				if id := uint32(s) - 1; *t.rows.Word(id, 0) == k {
					ids[i] = id
					continue next
				}
			} else if s == 0 {
				break
			}
		}
		ids[i] = None
		if insert {
			id := t.rows.Add()
			*t.rows.Word(id, 0) = k
			x.insert(h, id)
			ids[i] = id
		}
	}
}

// lookupOne is for a key that is one int of a nullable type, in a batch without nulls.
func (t *Table) lookupOne(key *vec.Column, rows []uint32, hashes []uint64, ids []uint32, insert bool) {
	v, at0, nulls := key.Ints, t.keyAt[0], t.nullAt
	x := &t.index
next:
	for i, r := range rows {
		h, k := hashes[i], uint64(v[r])
		slots := x.parts[h>>x.shift].slots
		mask := uint32(len(slots) - 1)
		tag := tagOf(h)
		for at := tag & mask; ; at = (at + 1) & mask {
			s := slots[at]
			if uint32(s>>32) == tag && s != 0 {
				id := uint32(s) - 1
				if w := t.rows.At(id); w[at0] == k && (nulls < 0 || w[nulls] == 0) {
					ids[i] = id
					continue next
				}
			} else if s == 0 {
				break
			}
		}
		ids[i] = None
		if insert {
			id := t.rows.Add()
			w := t.rows.At(id)
			w[t.hashAt], w[at0] = h, k
			x.insert(h, id)
			ids[i] = id
		}
	}
}

// lookupTwo is for two ints, in a batch without nulls.
func (t *Table) lookupTwo(key, second *vec.Column, rows []uint32, hashes []uint64, ids []uint32, insert bool) {
	v, u, at0, at1, nulls := key.Ints, second.Ints, t.keyAt[0], t.keyAt[1], t.nullAt
	x := &t.index
next:
	for i, r := range rows {
		h, k, l := hashes[i], uint64(v[r]), uint64(u[r])
		slots := x.parts[h>>x.shift].slots
		mask := uint32(len(slots) - 1)
		tag := tagOf(h)
		for at := tag & mask; ; at = (at + 1) & mask {
			s := slots[at]
			if uint32(s>>32) == tag && s != 0 {
				id := uint32(s) - 1
				if w := t.rows.At(id); w[at0] == k && w[at1] == l && (nulls < 0 || w[nulls] == 0) {
					ids[i] = id
					continue next
				}
			} else if s == 0 {
				break
			}
		}
		ids[i] = None
		if insert {
			id := t.rows.Add()
			w := t.rows.At(id)
			w[t.hashAt], w[at0], w[at1] = h, k, l
			x.insert(h, id)
			ids[i] = id
		}
	}
}

// lookupRows is how many rows are looked up before their keys are compared: their words are still in the cache.
const lookupRows = 256

// lookupHash takes the first row that has the hash of a key for that of the key, then compares column by column, and
// looks again, with care, for those that are of another key.
func (t *Table) lookupHash(keys []*vec.Column, rows []uint32, hashes []uint64, ids []uint32, insert bool) {
	x := &t.index
next:
	for i, r := range rows {
		h := hashes[i]
		if i > 0 && h == hashes[i-1] {
			ids[i] = ids[i-1]
			continue
		}
		slots := x.parts[h>>x.shift].slots
		mask := uint32(len(slots) - 1)
		tag := tagOf(h)
		for at := tag & mask; ; at = (at + 1) & mask {
			s := slots[at]
			if uint32(s>>32) == tag && s != 0 {
				if id := uint32(s) - 1; *t.rows.Word(id, t.hashAt) == h {
					ids[i] = id
					continue next
				}
			} else if s == 0 {
				break
			}
		}
		ids[i] = None
		if insert {
			ids[i] = t.add(h, keys, int(r))
		}
	}
	t.wrong = t.wrong[:0]
	for k := range t.keys {
		t.compare(k, keys[k], rows, ids)
	}
	for _, i := range t.wrong {
		t.lookupSlow(keys, rows[i:i+1], hashes[i:i+1], ids[i:i+1], insert)
	}
}

// compare adds the i for which row ids[i] has another k-th key than row rows[i] of col to t.wrong.
func (t *Table) compare(k int, col *vec.Column, rows, ids []uint32) {
	at, wrong := t.keyAt[k], t.wrong
	nulls, bit := -1, uint64(0) // of the rows
	if t.nullAt >= 0 {
		nulls, bit = t.nullAt+k>>6, 1<<(k&63)
	}
	c := &t.keys[k]
	switch {
	case col.Valid == nil && c.kind == types.Int && c.Type.Kind != types.Null:
		v := col.Ints
		for i, id := range ids {
			if id != None {
				if w := t.rows.At(id); w[at] != uint64(v[rows[i]]) || nulls >= 0 && w[nulls]&bit != 0 {
					wrong = append(wrong, uint32(i))
				}
			}
		}
	case col.Valid == nil && c.kind == types.String:
		last := "" // often the rows of a batch share a text
		head, tail := textWords(last)
		for i, id := range ids {
			if id == None {
				continue
			}
			s := col.Strs[rows[i]]
			if len(s) != len(last) || unsafe.StringData(s) != unsafe.StringData(last) {
				last = s
				head, tail = textWords(s)
			}
			w := t.rows.At(id)
			same := w[at] == head && (nulls < 0 || w[nulls]&bit == 0)
			if len(s) > inlineBytes {
				same = same && view(t.arena.Get(w[at+1], len(s))) == s
			} else {
				same = same && w[at+1] == tail
			}
			if !same {
				wrong = append(wrong, uint32(i))
			}
		}
	default:
		for i, id := range ids {
			if id != None && !t.equalKey(k, t.rows.At(id), col, int(rows[i])) {
				wrong = append(wrong, uint32(i))
			}
		}
	}
	t.wrong = wrong
}

// lookupSlow compares whole keys, row by row.
func (t *Table) lookupSlow(keys []*vec.Column, rows []uint32, hashes []uint64, ids []uint32, insert bool) {
	x := &t.index
next:
	for i, r := range rows {
		h := hashes[i]
		slots := x.parts[h>>x.shift].slots
		mask := uint32(len(slots) - 1)
		tag := tagOf(h)
		for at := tag & mask; ; at = (at + 1) & mask {
			s := slots[at]
			if uint32(s>>32) == tag && s != 0 {
				if id := uint32(s) - 1; t.equal(id, h, keys, int(r)) {
					ids[i] = id
					continue next
				}
			} else if s == 0 {
				break
			}
		}
		ids[i] = None
		if insert {
			ids[i] = t.add(h, keys, int(r))
		}
	}
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
