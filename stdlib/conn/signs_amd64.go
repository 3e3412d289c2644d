package conn

// signBlocks sets a bit in to for each byte of text, blocks times 64 bytes, that is a, b or c, or less than below as a
// signed number.
//
//go:noescape
func signBlocks(to *uint64, text *byte, blocks int, a, b, c byte, below int8)
