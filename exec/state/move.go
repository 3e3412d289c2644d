package state

import (
	"github.com/ebb-lang/ebb/exec/vec"

	"github.com/ebb-lang/ebb/checkpoint/fault"
)

// What is here takes over state of another instance, when the number of tasks has changed. A table's rows are taken over
// by Find, the owner's words by the owner.

// Owned returns the rows whose keys' hashes owns accepts, in order.
func (t *Table) Owned(owns func(hash uint64) bool) []uint32 {
	var ids []uint32
	t.eachHash(func(hash uint64, id uint32) {
		if owns(hash) || fault.On("own-everything") {
			ids = append(ids, id)
		}
	})
	return ids
}

// Adopt makes a set of another Sets, whose words are in o, one of its own.
func (s *Sets) Adopt(o []uint64, other *Sets) {
	words := other.Entries(o, nil)
	var counts []int64
	if s.counted {
		counts = other.Counts(o, nil)
	}
	clear(o[:SetWords])
	var rows []uint32
	for len(words) > 0 {
		n := min(len(words), vec.MaxRows)
		for i := len(rows); i < n; i++ {
			rows = append(rows, uint32(i))
		}
		own := s.wordsOf(n, rows[:n], other.Values(words[:n]))
		if words = words[n:]; s.counted {
			s.count(o, own, counts[:n], 0)
			counts = counts[n:]
		} else {
			s.insert(o, own)
		}
	}
}

// Adopt makes a list of another Lists, whose words are in own, one of its own. move is called for each entry.
func (l *Lists) Adopt(own []uint64, other *Lists, move func(entry []uint64)) {
	theirs := [ListWords]uint64(own)
	clear(own[:ListWords])
	other.Each(theirs[:], func(entry []uint64) {
		e := l.Append(own)
		copy(e, entry)
		move(e)
	})
}

// Adopt makes a value of another arena one of a, in place.
func (c *Cell) Adopt(w []uint64, a, other *Arena) { c.Move(w, a, w, other) }

// AdoptText makes a text of another arena one of a, in place.
func AdoptText(w []uint64, a, other *Arena) {
	c := Cell{Words: 2}
	c.Adopt(w, a, other)
}

// Each calls f for the rows, a batch at a time in the order in which they came; they have event times.
func (u *Buffer) Each(f func(*vec.Batch)) {
	for _, r := range u.inOrder() {
		f(r.rest())
	}
}

// Each calls f for the due times, in no order.
func (t *Timers) Each(f func(Timer)) {
	for _, x := range t.heap {
		f(x)
	}
}
