package state

// groupBits is the number of bits of the hash that name a key group: groups are what a snapshot is divided into when
// the number of tasks changes.
const groupBits = 8

// Groups is the number of key groups.
const Groups = 1 << groupBits

// Group returns the key group of a key with the hash.
func Group(hash uint64) int { return int(hash >> (64 - groupBits)) }

const (
	firstSlots = 16
	splitRows  = 4096 // a table of more rows has an index for each key group, so that growth touches one group
)

// index finds row numbers by hash: open addressing with linear probing over slots of 8 bytes, the upper half the upper
// half of the hash (so that it names the group), the lower half the row number plus 1. A small table has one part, a larger one a part a key group.
// Growing and deleting need no look at the rows.
type index struct {
	parts []part
	shift uint
	n     int
}

type part struct {
	slots []uint64
	n     int
}

func (x *index) init() {
	if x.parts == nil {
		x.parts, x.shift = []part{{slots: make([]uint64, firstSlots)}}, 64
	}
}

// insert adds a row whose hash has no equal key in the index. The index may have grown after it: positions found
// before are void.
func (x *index) insert(hash uint64, id uint32) {
	p := &x.parts[hash>>x.shift]
	if 2*(p.n+1) > len(p.slots) {
		p.grow()
	}
	p.put(tagOf(hash), id)
	x.n++
	if x.shift == 64 && x.n > splitRows {
		x.split()
	}
}

func (p *part) put(tag, id uint32) {
	mask := uint32(len(p.slots) - 1)
	at := tag & mask
	for p.slots[at] != 0 {
		at = (at + 1) & mask
	}
	p.slots[at] = uint64(tag)<<32 | uint64(id+1)
	p.n++
}

func (p *part) grow() {
	old := p.slots
	p.slots, p.n = fresh[uint64](2*len(old)), 0
	for _, s := range old {
		if s != 0 {
			p.put(uint32(s>>32), uint32(s)-1)
		}
	}
}

// split gives each key group its own part. They begin in one piece of memory, each a quarter full.
func (x *index) split() {
	const size = 4 * splitRows / Groups
	old, all := x.parts[0].slots, fresh[uint64](Groups*size)
	x.parts, x.shift = make([]part, Groups), 64-groupBits
	for i := range x.parts {
		x.parts[i].slots = all[i*size : (i+1)*size]
	}
	for _, s := range old {
		if s == 0 {
			continue
		}
		tag := uint32(s >> 32)
		p := &x.parts[tag>>(32-groupBits)]
		if 2*(p.n+1) > len(p.slots) {
			p.grow()
		}
		p.put(tag, uint32(s)-1)
	}
}

// tagOf is the part of a hash that a slot holds.
func tagOf(hash uint64) uint32 { return uint32(hash >> 32) }

// rowOf returns the row that a slot names.
func rowOf(slot uint64) uint32 { return uint32(slot) - 1 }

// names reports whether a slot names a row, of a hash with the same tag.
func names(slot, hash uint64) bool { return uint32(slot>>32) == tagOf(hash) && slot != 0 }

// likeliest reads the slot of each hash that is likeliest to name its row: the first, or the second if that has the tag.
func (x *index) likeliest(hashes []uint64, to *[lookupRows]uint64) {
	for i, h := range hashes {
		slots := x.parts[h>>x.shift].slots
		mask := uint32(len(slots) - 1)
		at := tagOf(h) & mask
		s, second := slots[at], slots[(at+1)&mask]
		if uint32(second>>32) == tagOf(h) {
			s = second
		}
		to[i&(lookupRows-1)] = s
	}
}

// first returns the first row whose hash has the tag of hash, None if there is none, and its slot.
func (x *index) first(hash uint64) (id, at uint32) {
	slots := x.parts[hash>>x.shift].slots
	return x.next(hash, tagOf(hash)&uint32(len(slots)-1)-1)
}

// next returns the next one behind slot at.
func (x *index) next(hash uint64, at uint32) (uint32, uint32) {
	slots := x.parts[hash>>x.shift].slots
	for mask := uint32(len(slots) - 1); ; {
		at = (at + 1) & mask
		if s := slots[at]; s == 0 {
			return None, at
		} else if names(s, hash) {
			return rowOf(s), at
		}
	}
}

// delete removes the slot of a row.
func (x *index) delete(hash uint64, id uint32) {
	p := &x.parts[hash>>x.shift]
	mask := uint32(len(p.slots) - 1)
	at := tagOf(hash) & mask
	for uint32(p.slots[at]) != id+1 {
		at = (at + 1) & mask
	}
	// Close the gap: a later slot moves back if its home is not between the gap and it.
	for gap := at; ; {
		at = (at + 1) & mask
		s := p.slots[at]
		if s == 0 {
			p.slots[gap] = 0
			break
		}
		if home := uint32(s>>32) & mask; (at-home)&mask >= (at-gap)&mask {
			p.slots[gap] = s
			gap = at
		}
	}
	p.n--
	x.n--
}

func (x *index) reset() {
	for i := range x.parts {
		if x.parts[i].n > 0 {
			clear(x.parts[i].slots)
			x.parts[i].n = 0
		}
	}
	x.n = 0
}

func (x *index) bytes() int {
	n := 32 * len(x.parts)
	for i := range x.parts {
		n += 8 * len(x.parts[i].slots)
	}
	return n
}
