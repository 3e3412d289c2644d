package state

import (
	"math"
	"slices"
	"unsafe"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// SetWords is the number of words that a set has in its owner's row.
const SetWords = 3

// Words of a set in its owner's row. All are zero for an empty set.
const (
	setSlots    = iota // where its slots are, see slots.go
	setSize            // how many values it has
	setDistinct        // how many of them have a count above zero
)

// Sets keeps a set of values for each of many owners; or, counted, a multiset with signed counts. A value is one word:
// the number, time or bool itself, or, of anything else, the place in a dictionary that all sets share.
type Sets struct {
	types   []types.Type
	counted bool
	width   int // words of a slot: the value, and its count if counted

	kind  types.Kind // of the word, if there is no dictionary
	dict  *Table     // the owner's word of a row: how many sets have the value
	arena Arena      // slots

	words, hashes []uint64 // scratch
	ids, rows     []uint32
	loose         bool // the dictionary may have values that no set has
}

// NewSets returns sets of the values of columns of the types. What is counted can be taken back.
func NewSets(ts []types.Type, counted bool) *Sets {
	s := &Sets{types: ts, counted: counted, width: 1}
	if counted {
		s.width = 2
	}
	if c := NewCell(ts[0]); len(ts) == 1 && c.Words == 1 && !ts[0].Nullable {
		s.kind = c.kind
	} else {
		s.dict = NewTable(ts, 1)
	}
	return s
}

// Add counts the values at each of the physical rows of cols by delta in the set of the owner row owners[i] of own, whose
// words begin at off. n is the number of physical rows of cols. Without counts delta is 1.
func (s *Sets) Add(own *Rows, off int, owners []uint32, n int, rows []uint32, cols []*vec.Column, delta int64) {
	words := s.wordsOf(n, rows, cols)
	eachRun(owners, func(id uint32, from, to int) {
		o := own.At(id)[off : off+SetWords]
		if s.counted {
			s.count(o, words[from:to], nil, delta)
		} else {
			s.insert(o, words[from:to])
		}
	})
	s.tidy(words)
}

// eachRun calls f for each run of equal ids.
func eachRun(ids []uint32, f func(id uint32, from, to int)) {
	for from, to := 0, 0; from < len(ids); from = to {
		id := ids[from]
		for to = from + 1; to < len(ids) && ids[to] == id; to++ {
		}
		f(id, from, to)
	}
}

// wordsOf returns the words of the values; they are good until the next call.
func (s *Sets) wordsOf(n int, rows []uint32, cols []*vec.Column) []uint64 {
	s.words = grow(s.words, len(rows))
	words := s.words
	if s.dict != nil {
		s.ids, s.hashes = grow(s.ids, len(rows)), grow(s.hashes, len(rows))
		if len(rows) > 0 {
			vec.Hash(&vec.Batch{N: n, Sel: rows}, cols, s.hashes)
		}
		s.dict.Lookup(cols, rows, s.hashes, s.ids, true)
		for i, id := range s.ids {
			words[i] = uint64(id)
		}
		return words
	}
	switch c := cols[0]; s.kind {
	case types.Float:
		for i, r := range rows {
			words[i] = floatWord(c.Floats[r])
		}
	case types.Bool:
		for i, r := range rows {
			words[i] = boolWord(c.Bools[r])
		}
	default:
		for i, r := range rows {
			words[i] = uint64(c.Ints[r])
		}
	}
	return words
}

// hold and drop tell the dictionary that one more set has the value, or one less.
func (s *Sets) hold(word uint64) {
	if s.dict != nil {
		s.dict.rows.Touch(uint32(word))
		*s.dict.rows.Word(uint32(word), s.dict.off)++
	}
}

func (s *Sets) drop(word uint64) {
	if s.dict != nil {
		s.dict.rows.Touch(uint32(word))
		*s.dict.rows.Word(uint32(word), s.dict.off)--
		s.loose = true
	}
}

// tidy takes those of the values out of the dictionary that no set has any more.
func (s *Sets) tidy(words []uint64) {
	if !s.loose {
		return
	}
	s.loose = false
	for _, w := range words {
		if id := uint32(w); s.dict.rows.Live(id) && *s.dict.rows.Word(id, s.dict.off) == 0 {
			s.dict.Delete(id)
		}
	}
}

// Distinct returns how many distinct values of the set have a count above zero.
func (s *Sets) Distinct(o []uint64) int64 { return int64(o[setDistinct]) }

// Len returns how many values the set has: those with a count other than zero.
func (s *Sets) Len(o []uint64) int { return int(o[setSize]) }

// Entries appends the values of the set, as words, in no useful order.
func (s *Sets) Entries(o []uint64, words []uint64) []uint64 {
	n := len(words) + int(o[setSize])
	words = slices.Grow(words, int(o[setSize])+1)
	out := words[len(words) : n+1] // and one that is written and not taken
	k := 0
	if o[setSlots]&hasZero != 0 {
		out[0] = 0
		k = 1
	}
	slots := s.slots(o)
	for i := 0; i < len(slots); i += s.width {
		out[k] = slots[i]
		if slots[i+s.width-1] != 0 {
			k++
		}
	}
	return words[:n]
}

// Counts appends the counts of the set's values, in the order of Entries. The sets are counted.
func (s *Sets) Counts(o []uint64, counts []int64) []int64 {
	slots := s.slots(o)
	for i := 1; i < len(slots); i += 2 {
		if slots[i] != 0 {
			counts = append(counts, int64(slots[i]))
		}
	}
	return counts
}

// Values returns the values that words of Entries stand for.
func (s *Sets) Values(words []uint64) []*vec.Column {
	if s.dict != nil {
		s.ids = grow(s.ids, len(words))
		for i, w := range words {
			s.ids[i] = uint32(w)
		}
		return s.dict.Keys(s.ids)
	}
	c := vec.New(s.types[0], len(words))
	switch s.kind {
	case types.Float:
		for i, w := range words {
			c.Floats[i] = math.Float64frombits(w)
		}
	case types.Bool:
		for i, w := range words {
			c.Bools[i] = w != 0
		}
	default:
		for i, w := range words {
			c.Ints[i] = int64(w)
		}
	}
	return []*vec.Column{c}
}

// Lists returns the values of n sets of single values, set by set in the order of Entries; those of the i-th, whose words
// are own(i), are from offs[i] to offs[i+1].
func (s *Sets) Lists(n int, own func(i int) []uint64) (values *vec.Column, offs []int32) {
	all := 0
	for i := range n {
		all += int(own(i)[setSize])
	}
	words := s.words[:0]
	if s.integers() {
		words = make([]uint64, 0, all+1) // Entries writes one more
	}
	offs = make([]int32, n+1)
	for i := range n {
		words = s.Entries(own(i), words)
		offs[i+1] = int32(len(words))
	}
	if s.integers() {
		return &vec.Column{Type: s.types[0], Ints: unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(words))), all)}, offs
	}
	s.words = words
	return s.Values(words)[0], offs
}

// integers reports whether words are the values themselves, as columns hold them.
func (s *Sets) integers() bool { return s.dict == nil && s.kind != types.Float && s.kind != types.Bool }

// AddList adds values, those from from to to of a column that has no nulls and all different, to the set whose words are
// o. The sets are counted if there are counts: the i-th value of the column counts counts[i] times, else once.
func (s *Sets) AddList(o []uint64, values *vec.Column, counts []int64, from, to int) {
	s.Expect(o, to-from)
	for cols := []*vec.Column{values}; from < to; {
		var words []uint64
		next := to
		if s.integers() {
			words = unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(values.Ints))), len(values.Ints))[from:to]
		} else {
			next = min(to, from+vec.MaxRows)
			s.rows = s.rows[:0]
			for r := from; r < next; r++ {
				s.rows = append(s.rows, uint32(r))
			}
			words = s.wordsOf(values.Len(), s.rows, cols)
		}
		switch {
		case counts != nil:
			s.count(o, words, counts[from:next], 0)
		case s.counted:
			s.count(o, words, nil, 1)
		default:
			s.insert(o, words)
		}
		s.tidy(words)
		from = next
	}
}

// Merge adds the set whose words are f to the one whose words are o; f stays as it is.
func (s *Sets) Merge(o, f []uint64) {
	s.words = s.Entries(f, s.words[:0])
	s.Expect(o, len(s.words))
	if s.counted {
		s.count(o, s.words, s.Counts(f, nil), 0)
	} else {
		s.insert(o, s.words)
	}
	s.tidy(s.words)
}

// Free empties the set.
func (s *Sets) Free(o []uint64) {
	if s.dict != nil {
		s.words = s.Entries(o, s.words[:0])
		for _, w := range s.words {
			s.drop(w)
		}
		s.tidy(s.words)
	}
	s.release(o)
	clear(o[:SetWords])
}

// Bytes returns how much memory the sets hold.
func (s *Sets) Bytes() int {
	n := s.arena.Bytes()
	if s.dict != nil {
		n += s.dict.Bytes()
	}
	return n
}

// grow returns a slice of n elements, s itself if it is large enough.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, max(n, 2*cap(s)))[:n]
	}
	return s[:n]
}
