package conn

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// machine tells that the processor has what the assembly needs: AVX2 and, as old as that, BMI1 and POPCNT.
var machine = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasPOPCNT

// signBlocks sets a bit in to for each byte of text, blocks times 64 bytes, that is a, b or c, or less than below as a
// signed number.
func signBlocks(to *uint64, text *byte, blocks int, a, b, c byte, below int8) {
	if machine {
		signBlocksMachine(to, text, blocks, a, b, c, below)
	} else {
		signBlocksPortable(unsafe.Slice(to, blocks), unsafe.Slice(text, blocks<<6), a, b, c, below)
	}
}

// listBits writes the numbers of the bits that are set in words, n of them, to to, the first bit being number at, and
// returns how many there are. There must be room for all bits.
func listBits(to *int32, words *uint64, n int, at int32) int {
	if machine {
		return listBitsMachine(to, words, n, at)
	}
	return listBitsPortable(unsafe.Slice(to, n<<6), unsafe.Slice(words, n), at)
}

//go:noescape
func signBlocksMachine(to *uint64, text *byte, blocks int, a, b, c byte, below int8)

//go:noescape
func listBitsMachine(to *int32, words *uint64, n int, at int32) int
