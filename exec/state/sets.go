package state

import (
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// SetWords is the number of words that a set has in its owner's row.
const SetWords = 3

// Sets keeps a multiset of values, with signed counts, for each of many owners: one table over (set, values…), whose
// entries of one set are chained. An owner holds SetWords words, zero for an empty set: its number, the first entry,
// and how many distinct values have a count above zero.
type Sets struct {
	table *Table
	last  uint64 // number of the newest set
	types []types.Type

	set    *vec.Column
	keys   []*vec.Column
	hashes []uint64
	ids    []uint32
}

// Words of an entry: its count, and its neighbours in the chain (previous+1 in the upper half, next+1 in the lower).
// The first of a chain has firstOfChain as its previous, so that an entry in a chain has a link that is not zero.
const (
	setCount = iota
	setLink
	setEntry
	firstOfChain = 0xffffffff
)

// NewSets returns sets of the values of columns of the types.
func NewSets(ts []types.Type) *Sets {
	keys := append([]types.Type{types.T(types.Int)}, ts...)
	return &Sets{table: NewTable(keys, setEntry), types: ts, set: &vec.Column{Type: types.T(types.Int)}}
}

// Add counts the values at each of the physical rows of cols by delta in the set of the owner row owners[i] of own, whose
// words begin at off. n is the number of physical rows of cols.
func (s *Sets) Add(own *Rows, off int, owners []uint32, n int, rows []uint32, cols []*vec.Column, delta int64) {
	s.add(own, off, owners, n, rows, cols, nil, delta)
}

func (s *Sets) add(own *Rows, off int, owners []uint32, n int, rows []uint32, cols []*vec.Column, counts []int64, delta int64) {
	if len(rows) == 0 {
		return
	}
	if len(s.set.Ints) < n {
		s.set.Ints = make([]int64, n)
	}
	for i, r := range rows {
		w := own.Word(owners[i], off)
		if *w == 0 {
			s.last++
			*w = s.last
		}
		s.set.Ints[r] = int64(*w)
	}
	s.keys = append(append(s.keys[:0], s.set), cols...)
	s.ids = grow(s.ids, len(rows))
	s.hashes = grow(s.hashes, len(rows))
	vec.Hash(&vec.Batch{N: n, Sel: rows}, s.keys, s.hashes)
	t := s.table
	t.Lookup(s.keys, rows, s.hashes, s.ids, true)
	zeros := false
	for i, id := range s.ids {
		w := t.rows.At(id)[t.off:]
		if counts != nil {
			delta = counts[i]
		}
		before := int64(w[setCount])
		after := before + delta
		w[setCount] = uint64(after)
		o := own.At(owners[i])[off : off+SetWords]
		if w[setLink] == 0 {
			s.link(o, id, w)
		}
		if (before > 0) != (after > 0) {
			if after > 0 {
				o[2]++
			} else {
				o[2]--
			}
		}
		zeros = zeros || after == 0
	}
	if !zeros {
		return
	}
	for i, id := range s.ids { // an entry that came back to zero goes, once
		if t.rows.Live(id) && t.rows.At(id)[t.off+setCount] == 0 {
			s.unlink(own.At(owners[i])[off:off+SetWords], id)
			t.Delete(id)
		}
	}
}

func (s *Sets) link(o []uint64, id uint32, w []uint64) {
	first := o[1]
	w[setLink] = firstOfChain<<32 | first
	if first != 0 {
		n := s.table.rows.Word(uint32(first)-1, s.table.off+setLink)
		*n = uint64(id+1)<<32 | *n&0xffffffff
	}
	o[1] = uint64(id + 1)
}

func (s *Sets) unlink(o []uint64, id uint32) {
	t := s.table
	link := t.rows.At(id)[t.off+setLink]
	prev, next := link>>32, link&0xffffffff
	if prev == firstOfChain {
		o[1] = next
	} else {
		p := t.rows.Word(uint32(prev)-1, t.off+setLink)
		*p = *p&^0xffffffff | next
	}
	if next != 0 {
		n := t.rows.Word(uint32(next)-1, t.off+setLink)
		*n = prev<<32 | *n&0xffffffff
	}
}

// Distinct returns how many distinct values of the set have a count above zero.
func (s *Sets) Distinct(o []uint64) int64 { return int64(o[2]) }

// Empty reports whether no value has a count other than zero.
func (s *Sets) Empty(o []uint64) bool { return o[1] == 0 }

// Entries appends the entries of the set, in no useful order.
func (s *Sets) Entries(o []uint64, ids []uint32) []uint32 {
	t := s.table
	for e := uint32(o[1]); e != 0; e = uint32(t.rows.At(e - 1)[t.off+setLink]) {
		ids = append(ids, e-1)
	}
	return ids
}

// Count returns the count of an entry.
func (s *Sets) Count(entry uint32) int64 {
	return int64(*s.table.rows.Word(entry, s.table.off+setCount))
}

// Values returns the values of entries.
func (s *Sets) Values(entries []uint32) []*vec.Column {
	out := make([]*vec.Column, len(s.types))
	for k := range out {
		out[k] = s.table.key(k+1, entries)
	}
	return out
}

// Merge adds the set of the owner row from of src to that of the owner row to of own; src keeps its own.
func (s *Sets) Merge(own *Rows, off int, to uint32, src *Rows, from uint32) {
	entries := s.Entries(src.At(from)[off:off+SetWords], nil)
	for len(entries) > 0 {
		part := entries[:min(len(entries), vec.MaxRows)]
		entries = entries[len(part):]
		cols := s.Values(part)
		counts := make([]int64, len(part))
		rows, owners := make([]uint32, len(part)), make([]uint32, len(part))
		for i, e := range part {
			counts[i], rows[i], owners[i] = s.Count(e), uint32(i), to
		}
		s.add(own, off, owners, len(part), rows, cols, counts, 0)
	}
}

// Free empties the set.
func (s *Sets) Free(o []uint64) {
	for e := uint32(o[1]); e != 0; {
		id := e - 1
		e = uint32(s.table.rows.At(id)[s.table.off+setLink])
		s.table.Delete(id)
	}
	o[0], o[1], o[2] = 0, 0, 0
}

// Bytes returns how much memory the sets hold.
func (s *Sets) Bytes() int { return s.table.Bytes() }

// grow returns a slice of n elements, s itself if it is large enough.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, max(n, 2*cap(s)))[:n]
	}
	return s[:n]
}
