package conn

import (
	"encoding/binary"
	"math/bits"
)

// signs finds the bytes of a text that mean something to its format, such as delimiters and line ends, for the whole
// text at once: one bit a byte, many times faster than a search from each place on. It belongs to one task.
type signs struct {
	eq    [3]byte // these bytes are signs
	below int8    // and those that are less than this as signed numbers, that is non-ASCII and what is below; -128: none
	bits  []uint64
}

// mark finds the signs of text. Behind the text everything is a sign, so that a search has an end.
func (s *signs) mark(text []byte) {
	whole, rest := len(text)>>6, len(text)&63
	if cap(s.bits) <= whole {
		s.bits = make([]uint64, whole+whole/8+16)
	}
	s.bits = s.bits[:whole+1]
	if whole > 0 {
		signBlocks(&s.bits[0], &text[0], whole, s.eq[0], s.eq[1], s.eq[2], s.below)
	}
	var last [64]byte
	copy(last[:], text[whole<<6:])
	signBlocks(&s.bits[whole], &last[0], 1, s.eq[0], s.eq[1], s.eq[2], s.below)
	s.bits[whole] = s.bits[whole]&(1<<rest-1) | ^uint64(0)<<rest
}

// from returns the place of the first sign at p or behind it. p is at most the length of the text, and so is the result.
func (s *signs) from(p int) int {
	if w := s.bits[p>>6] >> (p & 63); w != 0 {
		return p + bits.TrailingZeros64(w)
	}
	return s.beyond(p >> 6)
}

// count returns how many signs there are in the text, which has n bytes.
func (s *signs) count(n int) int {
	sum := -(64 - n&63) // those behind it
	for _, w := range s.bits {
		sum += bits.OnesCount64(w)
	}
	return sum
}

// beyond returns the place of the first sign in the words behind i.
func (s *signs) beyond(i int) int {
	for i++; ; i++ {
		if w := s.bits[i]; w != 0 {
			return i<<6 + bits.TrailingZeros64(w)
		}
	}
}

// signBlocksPortable is signBlocks in Go: eight bytes at a time, with the answers in their highest bits, which a product
// brings together.
func signBlocksPortable(to []uint64, text []byte, a, b, c byte, below int8) {
	const low7 = ^uint64(highBits)
	x, y, z := uint64(a)*lowBits, uint64(b)*lowBits, uint64(c)*lowBits
	least, always, ascii := uint64(0), ^uint64(0), ^uint64(0)
	if below > 0 {
		least, always, ascii = uint64(0x80-int(below))*lowBits, 0, low7
	}
	for i := range to {
		block, m := text[i<<6:i<<6+64], uint64(0)
		for k := 0; k < 64; k += 8 {
			w := binary.LittleEndian.Uint64(block[k:])
			// Of (u&low7+low7 | u) the highest bits are off where the bytes of u are 0.
			u, v, t := w^x, w^y, w^z
			plain := (w&low7 + least | always) & (^w | ascii) & (u&low7 + low7 | u) & (v&low7 + low7 | v) & (t&low7 + low7 | t)
			m |= ^plain & highBits >> 7 * 0x0102040810204080 >> 56 << k
		}
		to[i] = m
	}
}
