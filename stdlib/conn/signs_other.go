//go:build !amd64

package conn

import "unsafe"

func signBlocks(to *uint64, text *byte, blocks int, a, b, c byte, below int8) {
	signBlocksPortable(unsafe.Slice(to, blocks), unsafe.Slice(text, blocks<<6), a, b, c, below)
}

func listBits(to *int32, words *uint64, n int, at int32) int {
	return listBitsPortable(unsafe.Slice(to, n<<6), unsafe.Slice(words, n), at)
}
