package state

import (
	"math/bits"

	"github.com/ebb-lang/ebb/checkpoint"
)

// indexed makes the index if it is not there: after Load.
func (t *Table) indexed() {
	if t.index.parts == nil {
		t.makeIndex()
	}
}

// makeIndex makes the index of the rows anew. A large one is made part by part, so that the memory at hand stays small.
func (t *Table) makeIndex() {
	x := &t.index
	x.init()
	if t.Len() <= splitRows {
		t.eachHash(x.insert)
		return
	}
	var many [Groups]int
	t.eachHash(func(hash uint64, _ uint32) { many[Group(hash)]++ })
	var ends [Groups]int
	end := 0
	for g, n := range many {
		ends[g] = end
		end += n
	}
	all := checkpoint.Memory[uint64](end) // what goes into the slots, by part
	t.eachHash(func(hash uint64, id uint32) {
		at := &ends[Group(hash)]
		all[*at] = uint64(tagOf(hash))<<32 | uint64(id+1)
		*at++
	})
	x.parts, x.shift, x.n = make([]part, Groups), 64-groupBits, len(all)
	slots := 0
	for _, n := range many {
		slots += slotsFor(n)
	}
	room := checkpoint.Memory[uint64](slots)
	for g, n := range many {
		p, size := &x.parts[g], slotsFor(n)
		p.slots, room = room[:size:size], room[size:]
		for _, s := range all[:n] {
			p.put(uint32(s>>32), uint32(s)-1)
		}
		all = all[n:]
	}
}

// slotsFor returns how many slots a part has for n rows.
func slotsFor(n int) int { return max(firstSlots, 1<<bits.Len(uint(2*n))) }

func (t *Table) eachHash(f func(hash uint64, id uint32)) {
	for id := range t.rows.n {
		if t.rows.Live(id) {
			f(t.Hash(id), id)
		}
	}
}
