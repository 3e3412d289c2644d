package exec

import (
	"math/bits"
	"sync/atomic"
)

// readySet tells which of some channels may have something for their consumer, so that it need not look into hundreds
// that are empty to find the one that woke it. Producers add to it, the consumer takes out what it found empty.
type readySet []atomic.Uint64

func newReadySet(channels int) readySet { return make(readySet, (channels+63)/64) }

// next returns the first channel of the set at or, all around, behind a place.
func (s readySet) next(from int) (int, bool) {
	first := from / 64
	for k := range len(s) + 1 {
		at := (first + k) % len(s)
		word := s[at].Load()
		switch k {
		case 0:
			word &= ^uint64(0) << (from % 64)
		case len(s): // what stands before the place in its own word
			word &= 1<<(from%64) - 1
		}
		if word != 0 {
			return at*64 + bits.TrailingZeros64(word), true
		}
	}
	return 0, false
}

// tellReady makes a channel tell from now on, as number i of a set, that it may have something. It is called before
// anybody pushes.
func (c *Channel) tellReady(s readySet, i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ready, c.bit = &s[i/64], 1<<(i%64)
	c.readied = false
	c.mayHave()
}

// mayHave tells that there may be something. The channel is locked.
func (c *Channel) mayHave() {
	if c.ready != nil && !c.readied {
		c.readied = true
		c.ready.Or(c.bit)
	}
}

// hasNothing tells that nothing is there until something comes. The channel is locked.
func (c *Channel) hasNothing() {
	if c.readied {
		c.readied = false
		c.ready.And(^c.bit)
	}
}
