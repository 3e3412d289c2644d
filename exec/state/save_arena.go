package state

import (
	"encoding/binary"

	"github.com/ebb-lang/ebb/checkpoint"
)

// Save writes the pieces at once.
func (a *Arena) Save(w *checkpoint.Writer) {
	for _, p := range a.saveHead(w, atOnce) {
		w.Append(func(q []byte) []byte { return append(q, p...) })
	}
}

// saveHead writes all but what is in the chunks, and returns that.
func (a *Arena) saveHead(w *checkpoint.Writer, how uint64) [][]byte {
	content := make([][]byte, a.saved())
	w.Uint(how)
	w.Uint(uint64(len(content)))
	w.Uint(uint64(a.open))
	w.Uint(uint64(a.at))
	w.Words(a.free[:])
	for c := range content {
		content[c] = a.content(c)
		w.Uint(uint64(len(content[c])))
	}
	return content
}

// saved returns how many chunks are written: what follows the open one holds nothing, large pieces aside.
func (a *Arena) saved() int {
	n := len(a.chunks)
	for n > a.open && len(a.chunks[n-1]) <= chunkBytes {
		n--
	}
	return n
}

// content returns what there is in a chunk.
func (a *Arena) content(c int) []byte {
	p := a.chunks[c]
	switch {
	case len(p) > chunkBytes:
		return p
	case c == a.open-1:
		return p[:min(a.at, len(p))]
	case c >= a.open:
		return nil
	}
	return p
}

// Load reads what Save or Freeze wrote.
func (a *Arena) Load(c *checkpoint.Reader) error {
	how := c.Uint()
	n := c.Count(1)
	open, at := c.Uint(), c.Uint()
	free := c.Words()
	old := *a
	*a = Arena{}
	if how > changed || open > uint64(n) || at > chunkBytes || open > 0 && at == 0 || len(free) != len(a.free) {
		c.Fail("the sizes of an arena make no sense")
	}
	if c.Err() != nil {
		return c.Err()
	}
	if !isDelta(how) {
		old.chunks = nil
	}
	a.open, a.at = int(open), int(at)
	copy(a.free[:], free)
	sizes := make([]uint64, n)
	for i := range sizes {
		sizes[i] = c.Uint()
	}
	fresh := uint64(0) // bytes that must follow
	full := 0          // fresh chunks that are full
	for i, size := range sizes {
		if !a.known(&old, i, size) {
			fresh += size
			if size > uint64(c.Left()) || fresh > uint64(c.Left())*(1+chunkBytes/granule) {
				c.Fail("the chunks of an arena cannot be that large")
				break
			}
			if size == chunkBytes {
				full++
			}
		}
	}
	if c.Err() != nil {
		full = 0
	}
	room := checkpoint.Memory[byte](full * chunkBytes)
	for i, size := range sizes {
		if c.Err() == nil && !a.addChunk(&old, i, int(size), &room) {
			c.Fail("chunk %d of an arena cannot be of %d bytes", i, size)
			break
		}
	}
	if c.Err() == nil {
		a.loadChunks(c, how)
	}
	if c.Err() == nil && !a.sound() {
		c.Fail("the pieces of an arena make no sense")
	}
	if c.Err() != nil {
		*a = Arena{}
	}
	return c.Err()
}

// known reports whether chunk i is one of old.
func (a *Arena) known(old *Arena, i int, size uint64) bool {
	if i >= len(old.chunks) {
		return false
	}
	was := len(old.chunks[i])
	return was == int(size) || was == chunkBytes && size <= chunkBytes && size > 0
}

// addChunk adds chunk i, in which there are size bytes, from room or fresh memory, and reports whether that can be.
func (a *Arena) addChunk(old *Arena, i, size int, room *[]byte) bool {
	length := 0
	switch {
	case size == 0 && i != a.open-1:
		a.spare = append(a.spare, i)
	case i == a.open-1 && size == min(a.at, chunkBytes), size == chunkBytes && i < a.open:
		length = chunkBytes
	case size > chunkBytes:
		length = size
	default:
		return false
	}
	var own []byte
	switch {
	case length == 0:
	case i < len(old.chunks) && len(old.chunks[i]) == length:
		own = old.chunks[i]
	case length == chunkBytes && len(*room) > 0:
		own, *room = (*room)[:chunkBytes:chunkBytes], (*room)[chunkBytes:]
	default:
		own = make([]byte, length)
	}
	a.chunks = append(a.chunks, own)
	a.bytes += len(own)
	return true
}

// loadChunks reads what is in the chunks.
func (a *Arena) loadChunks(c *checkpoint.Reader, how uint64) {
	unit := func(u uint64) []byte {
		if u>>granuleShift >= uint64(len(a.chunks)) {
			return nil
		}
		return unitOf(a.content(int(u>>granuleShift)), u, granuleShift, granule)
	}
	if isDelta(how) {
		loadChanged(c, how, unit)
	} else {
		for i := range a.chunks {
			c.Fill(a.content(i))
		}
	}
	if how != atOnce {
		loadKept(c, unit)
	}
}

// sound follows the chains of free pieces.
func (a *Arena) sound() bool {
	left := a.bytes/16 + 1
	for k, f := range a.free {
		for ; f != 0; left-- {
			if left == 0 || !a.has(f-1, classSize(k)) {
				return false
			}
			f = binary.LittleEndian.Uint64(a.piece(f-1, 8))
		}
	}
	return true
}

// classSize returns the size of the pieces of a class.
func classSize(k int) int {
	switch {
	case k == 0:
		return 16
	case k&1 == 1:
		return 3 << (k/2 + 3)
	}
	return 1 << (k/2 + 4)
}

// has reports whether there are n bytes at ref.
func (a *Arena) has(ref uint64, n int) bool {
	c, at := ref>>16, int(ref&0xffff)*8
	return c < uint64(len(a.chunks)) && at+n <= len(a.chunks[c])
}
