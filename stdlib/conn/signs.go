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
	n     int // length of the text
}

// mark finds the signs of text. Behind the text everything is a sign, so that a search has an end.
func (s *signs) mark(text []byte) {
	s.n = len(text)
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

// is reports whether c is a sign.
func (s *signs) is(c byte) bool {
	return c == s.eq[0] || c == s.eq[1] || c == s.eq[2] || int8(c) < s.below
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

// places lists where the signs of a text are, a piece of the text at a time.
type places struct {
	signs *signs
	word  int // of signs.bits: what is listed next
	list  []int32
	at, n int // of list: the place before the next one, and how many there are
	most  int // how many are listed at a time, about
}

// listWords is how many words are listed before one looks whether there are enough.
const listWords = 16

// start begins with the text that was marked last. Pieces hold several times as many signs as few.
func (x *places) start(s *signs, few int) {
	x.signs, x.word, x.at, x.n, x.most = s, 0, 0, 1, max(1024, 4*few)
	if len(x.list) < x.most+listWords<<6 {
		x.list = make([]int32, x.most+listWords<<6)
	}
}

// from returns p-1 and behind it the places of the signs from p on: at least as many as asked for, unless the text has
// fewer. p never falls. The result holds until the next call.
func (x *places) from(p, least int) []int32 {
	for {
		for x.at+1 < x.n && int(x.list[x.at+1]) < p {
			x.at++
		}
		if x.n-x.at > least || x.word == len(x.signs.bits) {
			x.list[x.at] = int32(p - 1)
			return x.list[x.at:x.n]
		}
		x.more(p)
	}
}

// more lists the signs of some words that do not end before p.
func (x *places) more(p int) {
	n, words := copy(x.list, x.list[x.at:x.n]), x.signs.bits
	x.at, x.word = 0, max(x.word, p>>6)
	for n < x.most && x.word < len(words) {
		k := min(len(words)-x.word, listWords)
		n += listBits(&x.list[n], &words[x.word], k, int32(x.word<<6))
		x.word += k
	}
	if x.word == len(words) {
		n -= 64 - x.signs.n&63 // those behind the text
	}
	x.n = n
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

// listBitsPortable is listBits in Go.
func listBitsPortable(to []int32, words []uint64, at int32) int {
	n := 0
	for _, w := range words {
		for ; w != 0; w &= w - 1 {
			to[n] = at + int32(bits.TrailingZeros64(w))
			n++
		}
		at += 64
	}
	return n
}
