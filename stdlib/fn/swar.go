package fn

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Eight bytes of a text at a time, in one word.

const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// load returns the bytes of s from k, the first lowest; past the end there are zeros.
func load(s string, k int) uint64 {
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	if k+8 <= len(b) {
		return binary.LittleEndian.Uint64(b[k:])
	}
	if len(b) >= 8 { // the last eight bytes, without those before k
		return binary.LittleEndian.Uint64(b[len(b)-8:]) >> (8 * uint(k+8-len(b)))
	}
	var w uint64
	for i := len(b) - 1; i >= k; i-- {
		w = w<<8 | uint64(b[i])
	}
	return w
}

// zeros marks the bytes of w that are zero by their top bit.
func zeros(w uint64) uint64 { return ^((w&^tops + ^uint64(tops)) | w | ^uint64(tops)) }

// lowest returns the number of the first byte that is marked.
func lowest(marks uint64) int { return bits.TrailingZeros64(marks) >> 3 }
