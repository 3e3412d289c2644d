package state

import (
	"encoding/binary"
	"math/bits"
)

// chunkBytes is the size of a chunk of an Arena; larger pieces have a chunk of their own.
const chunkBytes = 64 << 10

// Arena keeps byte strings outside the collector's view. A piece is found by its reference and length; the memory of
// a freed piece is used again for pieces of about its size. The zero Arena is empty.
type Arena struct {
	chunks [][]byte
	open   int        // chunks[open-1] has room from at on; 0: none
	at     int        // bytes used of it
	free   [32]uint64 // by size class: reference+1 of the last freed piece, which leads to the one before
	spare  []int      // numbers of chunks that held a large piece
	bytes  int
	track  *tracker // see freeze.go; nil until the first freeze
}

// class returns the size class of a piece of n bytes and the bytes that it takes: powers of two and the steps half way
// between them.
func class(n int) (k, size int) {
	if n <= 16 {
		return 0, 16
	}
	b := bits.Len(uint(n - 1)) // 2^(b-1) < n <= 2^b
	if mid := 3 << (b - 2); n <= mid {
		return 2*(b-5) + 1, mid
	}
	return 2*(b-5) + 2, 1 << b
}

// Put keeps a copy of p and returns its reference.
func (a *Arena) Put(p []byte) uint64 {
	if _, size := class(len(p)); size > chunkBytes {
		return a.large(append([]byte(nil), p...))
	}
	ref := a.take(len(p))
	copy(a.piece(ref, len(p)), p)
	return ref
}

// zeros keeps n zero bytes, aligned for words.
func (a *Arena) zeros(n int) uint64 {
	if _, size := class(n); size > chunkBytes {
		return a.large(fresh[byte](n))
	}
	ref := a.take(n)
	clear(a.piece(ref, n))
	return ref
}

// take returns a piece of an ordinary chunk for n bytes, with anything in it.
func (a *Arena) take(n int) uint64 {
	k, size := class(n)
	if f := a.free[k]; f != 0 {
		a.touch(f-1, size)
		a.free[k] = binary.LittleEndian.Uint64(a.piece(f-1, size))
		return f - 1
	}
	if a.open == 0 || a.at+size > chunkBytes {
		a.nextChunk()
	}
	ref := uint64(a.open-1)<<16 | uint64(a.at)/8
	a.at += size
	a.touch(ref, size)
	return ref
}

// nextChunk opens another chunk; the rest of the old one is given up (less than a piece).
func (a *Arena) nextChunk() {
	for a.open < len(a.chunks) { // after Reset
		if a.open++; len(a.chunks[a.open-1]) == chunkBytes {
			a.at = 0
			return
		}
	}
	a.chunks = append(a.chunks, make([]byte, chunkBytes))
	a.bytes += chunkBytes
	a.open, a.at = len(a.chunks), 0
}

// large makes own, which is larger than ordinary chunks, a chunk.
func (a *Arena) large(own []byte) uint64 {
	a.bytes += len(own)
	if n := len(a.spare); n > 0 {
		c := a.spare[n-1]
		a.spare = a.spare[:n-1]
		a.chunks[c] = own
		a.touch(uint64(c)<<16, 1)
		return uint64(c) << 16
	}
	a.chunks = append(a.chunks, own)
	a.touch(uint64(len(a.chunks)-1)<<16, 1)
	return uint64(len(a.chunks)-1) << 16
}

func (a *Arena) piece(ref uint64, n int) []byte {
	at := int(ref&0xffff) * 8
	return a.chunks[ref>>16][at : at+n]
}

// Get returns the piece; it must not be changed and is good until it is freed.
func (a *Arena) Get(ref uint64, n int) []byte { return a.piece(ref, n) }

// Free forgets a piece of n bytes.
func (a *Arena) Free(ref uint64, n int) {
	k, size := class(n)
	if size > chunkBytes {
		c := int(ref >> 16)
		a.bytes -= len(a.chunks[c])
		a.chunks[c] = nil
		a.spare = append(a.spare, c)
		return
	}
	a.touch(ref, size)
	binary.LittleEndian.PutUint64(a.piece(ref, size), a.free[k])
	a.free[k] = ref + 1
}

// Reset forgets all pieces and keeps the memory of ordinary chunks.
func (a *Arena) Reset() {
	a.release()
	kept := a.chunks[:0]
	for _, c := range a.chunks {
		if len(c) == chunkBytes {
			kept = append(kept, c)
		}
	}
	*a = Arena{chunks: kept, bytes: len(kept) * chunkBytes}
}

// Bytes returns how much memory the arena holds.
func (a *Arena) Bytes() int { return a.bytes + 24*cap(a.chunks) }
