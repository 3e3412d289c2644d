package state

import (
	"math/bits"
	"unsafe"

	"github.com/ebb-lang/ebb/exec/vec"
)

// The values of one set lie in slots of its own, in the arena: open addressing with linear probing, by the lower bits
// of the hash, at most half full. So a value is found with one look at memory, and a set is gone through or forgotten
// without a look at others. (By the upper bits the values of one set, in the order of its slots, would crowd the front
// of another one that grows by them.)
//
// A slot whose last word is zero is empty. With counts that is the count. Without, the value zero has no slot: a bit
// says that it is there.

// The word of a set that says where its slots are: the reference, a bit, and the logarithm of their number, from which
// a set that has slots is known.
const (
	logBits  = 6
	logMask  = 1<<logBits - 1
	hasZero  = 1 << logBits
	refShift = logBits + 1
	firstLog = 2
)

// slots returns the slots of a set.
func (s *Sets) slots(o []uint64) []uint64 {
	log := uint(o[setSlots] & logMask)
	if log == 0 {
		return nil
	}
	p := s.arena.Get(o[setSlots]>>refShift, 8*s.width<<log)
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(p))), s.width<<log) // pieces are aligned
}

// touch tells that the slot that begins with word i is about to change; see freeze.go.
func (s *Sets) touch(o []uint64, i int) {
	if s.arena.track != nil {
		s.arena.touchAt(o[setSlots]>>refShift, 8*i)
	}
}

// release gives the slots of a set back.
func (s *Sets) release(o []uint64) {
	if log := uint(o[setSlots] & logMask); log > 0 {
		s.arena.Free(o[setSlots]>>refShift, 8*s.width<<log)
		o[setSlots] &= hasZero
	}
}

// resize gives a set 1<<log slots.
func (s *Sets) resize(o []uint64, log uint) []uint64 {
	old := s.slots(o)
	was := o[setSlots]
	o[setSlots] = s.arena.zeros(8*s.width<<log)<<refShift | was&hasZero | uint64(log)
	slots := s.slots(o)
	mask := uint64(1)<<log - 1
	for i := 0; i < len(old); i += s.width {
		if old[i+s.width-1] == 0 {
			continue
		}
		at := vec.HashInt(int64(old[i])) & mask
		for slots[int(at+1)*s.width-1] != 0 {
			at = (at + 1) & mask
		}
		slots[int(at)*s.width] = old[i]
		if s.counted {
			slots[2*at+1] = old[i+1]
		}
	}
	if old != nil {
		s.arena.Free(was>>refShift, 8*len(old))
	}
	return slots
}

// Expect tells that the set will have at least n values.
func (s *Sets) Expect(o []uint64, n int) {
	if log := uint(bits.Len(uint(n))) + 1; n > 0 && log > max(firstLog, uint(o[setSlots]&logMask)) {
		s.resize(o, log)
	}
}

// insert puts values into a set without counts.
func (s *Sets) insert(o []uint64, words []uint64) {
	slots := s.slots(o)
	if slots == nil {
		slots = s.resize(o, firstLog)
	}
next:
	for _, w := range words {
		if w == 0 {
			if o[setSlots]&hasZero == 0 {
				o[setSlots] |= hasZero
				o[setSize]++
				o[setDistinct]++
				s.hold(w)
			}
			continue
		}
		mask := uint64(len(slots) - 1)
		at := vec.HashInt(int64(w))
		for ; slots[at&mask] != 0; at++ {
			if slots[at&mask] == w {
				continue next
			}
		}
		s.touch(o, int(at&mask))
		slots[at&mask] = w
		o[setSize]++
		o[setDistinct]++
		s.hold(w)
		if 2*int(o[setSize]) > len(slots) {
			slots = s.resize(o, uint(o[setSlots]&logMask)+1)
		}
	}
}

// count counts values of a multiset, by counts[i] or, if there are none, by delta.
func (s *Sets) count(o []uint64, words []uint64, counts []int64, delta int64) {
	slots := s.slots(o)
	for i, w := range words {
		if counts != nil {
			delta = counts[i]
		}
		if delta == 0 {
			s.loose = s.dict != nil
			continue
		}
		if slots == nil {
			slots = s.resize(o, firstLog)
		}
		mask := uint64(len(slots)/2 - 1)
		at := vec.HashInt(int64(w)) & mask
		for slots[2*at+1] != 0 && slots[2*at] != w {
			at = (at + 1) & mask
		}
		s.touch(o, int(2*at))
		before := int64(slots[2*at+1])
		after := before + delta
		slots[2*at], slots[2*at+1] = w, uint64(after)
		if (before > 0) != (after > 0) {
			if after > 0 {
				o[setDistinct]++
			} else {
				o[setDistinct]--
			}
		}
		switch {
		case before == 0:
			o[setSize]++
			s.hold(w)
			if 2*o[setSize] > mask {
				slots = s.resize(o, uint(o[setSlots]&logMask)+1)
			}
		case after == 0:
			o[setSize]--
			s.drop(w)
			s.closeGap(o, slots, at)
			switch log := uint(o[setSlots] & logMask); {
			case o[setSize] == 0:
				s.release(o)
				slots = nil
			case log > firstLog && 16*o[setSize] < mask: // much smaller than it was
				slots = s.resize(o, log-1)
			}
		}
	}
}

// closeGap empties the slot at gap, which was touched, of slots with counts: a later one moves there if its home is not behind the gap.
func (s *Sets) closeGap(o, slots []uint64, gap uint64) {
	mask := uint64(len(slots)/2 - 1)
	for at := gap; ; {
		at = (at + 1) & mask
		if slots[2*at+1] == 0 {
			slots[2*gap], slots[2*gap+1] = 0, 0
			return
		}
		if home := vec.HashInt(int64(slots[2*at])); (at-home)&mask >= (at-gap)&mask {
			slots[2*gap], slots[2*gap+1] = slots[2*at], slots[2*at+1]
			gap = at
			s.touch(o, int(2*gap))
		}
	}
}
