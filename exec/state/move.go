package state

import "github.com/ebb-lang/ebb/exec/vec"

// What is here takes over state of another instance, when the number of tasks has changed. A table's rows are taken over
// by Find, the owner's words by the owner.

// Owned returns the rows whose keys' hashes owns accepts, in order.
func (t *Table) Owned(owns func(hash uint64) bool) []uint32 {
	var ids []uint32
	t.eachHash(func(hash uint64, id uint32) {
		if owns(hash) {
			ids = append(ids, id)
		}
	})
	return ids
}

// MoveText stores a copy of a text of another arena, in two words that are zero or were freed.
func MoveText(w []uint64, a *Arena, from []uint64, fromArena *Arena) {
	c := Cell{Words: 2}
	c.Move(w, a, from, fromArena)
}

// Take adds the set of the owner row from of src, which is one of other, to that of the owner row to of own.
func (s *Sets) Take(own *Rows, off int, to uint32, other *Sets, src *Rows, srcOff int, from uint32) {
	f := src.At(from)[srcOff : srcOff+SetWords]
	words := other.Entries(f, nil)
	var counts []int64
	if s.counted {
		counts = other.Counts(f, nil)
	}
	for len(words) > 0 {
		n := min(len(words), vec.MaxRows)
		cols := other.Values(words[:n])
		owners, rows := make([]uint32, n), make([]uint32, n)
		for i := range n {
			owners[i], rows[i] = to, uint32(i)
		}
		if words = words[n:]; s.counted {
			s.AddCounts(own, off, owners, n, rows, cols, counts[:n])
			counts = counts[n:]
		} else {
			s.Add(own, off, owners, n, rows, cols, 1)
		}
	}
}

// Each calls f for the rows, a batch at a time in the order in which they came; they have event times.
func (u *Buffer) Each(f func(*vec.Batch)) {
	for _, r := range u.inOrder() {
		f(r.rest())
	}
}
