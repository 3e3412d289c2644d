package state

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/ebb-lang/ebb/exec/vec"
)

// Large state is frozen: written while it goes on changing, and from then on only what has changed. For this memory is
// seen as blocks of units of a fixed size (rows of a table, granules of an arena), and whoever is about to change a unit
// touches it first. A bit a unit says that it was touched since the last freeze; and as long as a freeze has not come to
// a unit, the first touch keeps a copy of it.

// tracker knows what was touched of some memory. There is none before the first freeze.
type tracker struct {
	shift  uint       // a block has 1<<shift units
	size   int        // bytes of a unit
	dirty  vec.Bitmap // units touched since the last freeze
	noted  []uint32   // and these, while nothing is being written
	frozen []frozen   // oldest first
	scans  []*scan    // freezes that are being written
}

// frozen is a freeze that a delta may build on.
type frozen struct {
	id    checkpoint.ID
	dirty vec.Bitmap // units touched between the freeze before and this one
}

// mostFrozen is how many freezes are remembered: far more than checkpoints are open at a time.
const mostFrozen = 16

// touch tells that a unit is about to change, or is new.
func (k *tracker) touch(u uint32) {
	if int(u>>6) >= len(k.dirty) {
		k.grow(u)
	}
	word, bit := &k.dirty[u>>6], uint64(1)<<(u&63)
	if *word&bit != 0 { // all freezes have kept it
		return
	}
	*word |= bit
	if len(k.scans) > 0 && !fault.On("forget-undo") {
		k.keep(u)
	}
}

func (k *tracker) grow(u uint32) {
	for int(u>>6) >= len(k.dirty) {
		k.dirty = append(k.dirty, 0)
	}
}

// mostNoted is how many units are noted before their bits are set: so many that each part of the bits, which are not in the
// cache any more, is fetched for several of them.
const mostNoted = 64 << 10

func (k *tracker) touchAll(us []uint32) {
	if len(k.scans) > 0 {
		for _, u := range us {
			k.touch(u)
		}
		return
	}
	if k.noted = append(k.noted, us...); len(k.noted) >= mostNoted {
		k.settle()
	}
}

// settle sets the bits of the units that are noted.
func (k *tracker) settle() {
	for _, u := range k.noted {
		if int(u>>6) >= len(k.dirty) {
			k.grow(u)
		}
		k.dirty[u>>6] |= 1 << (u & 63)
	}
	k.noted = k.noted[:0]
}

// keep copies a unit for the freezes that have not come to it.
func (k *tracker) keep(u uint32) {
	for i := 0; i < len(k.scans); i++ {
		s := k.scans[i]
		if s.to.Aborted() {
			k.done(s)
			i--
			continue
		}
		s.keep(u)
	}
}

func (k *tracker) done(s *scan) {
	for i, x := range k.scans {
		if x == s {
			k.scans = append(k.scans[:i:i], k.scans[i+1:]...)
			return
		}
	}
}

// since returns the units that a delta on w.Parent consists of, of all units; ok is false if everything is to be written:
// where more than half has changed, to pick the units would take longer than to write the others as well.
func (k *tracker) since(w *checkpoint.Writer, units int) (set vec.Bitmap, ok bool) {
	k.settle()
	for i, f := range k.frozen {
		if w.Parent == 0 || f.id != w.Parent {
			continue
		}
		k.frozen = k.frozen[i:] // no later one builds on an older one
		set = vec.NewBitmap(units)
		for _, g := range k.frozen[1:] {
			if !fault.On("delta-of-newest") {
				union(set, g.dirty)
			}
		}
		union(set, k.dirty)
		if 2*set.Count() <= units || w.AtOnce < 0 {
			return set, true
		}
	}
	return nil, false
}

func union(set, more vec.Bitmap) {
	n := min(len(set), len(more))
	more = more[:n]
	for i, w := range more {
		set[i] |= w
	}
}

// freeze begins to write blocks, which hold units units, as they are now: those in set, or all. The blocks may be
// changed after it, unit by unit behind a touch, but not be used for something else.
func (k *tracker) freeze(w *checkpoint.Writer, blocks [][]byte, units int, set vec.Bitmap) {
	s := &scan{k: k, to: w, blocks: blocks, units: units, set: set, kept: vec.NewBitmap(units)}
	k.frozen = append(k.frozen, frozen{w.ID, k.dirty})
	if len(k.frozen) > mostFrozen {
		k.frozen = k.frozen[1:]
	}
	k.dirty = vec.NewBitmap(units)
	k.scans = append(k.scans, s)
	if set != nil {
		units = set.Count()
	}
	w.Later(units*k.size, s.write)
}

// scan is a freeze that is being written.
type scan struct {
	k      *tracker
	to     *checkpoint.Writer
	blocks [][]byte // as they were at the freeze
	units  int
	set    vec.Bitmap // nil: all
	next   int        // units before it are written
	kept   vec.Bitmap // touched before they were
	undo   [][]byte   // those, with their numbers
	last   int        // word written last of set, plus 1
	block  int        // of all: where to go on
	off    int
}

// undoChunk is the size of a piece of the copies.
const undoChunk = 64 << 10

func (s *scan) unit(u int) []byte {
	return unitOf(s.blocks[u>>s.k.shift], uint64(u), s.k.shift, s.k.size)
}

// unitOf returns the bytes of a unit of a block.
func unitOf(block []byte, u uint64, shift uint, size int) []byte {
	if len(block) == 0 {
		return []byte{}
	}
	size = unitSize(len(block), shift, size)
	from := min(int(u&(1<<shift-1))*size, len(block))
	return block[from:min(from+size, len(block))]
}

// unitSize returns the size of the units of a block of length bytes: in a large one they are larger.
func unitSize(length int, shift uint, size int) int {
	if length <= size<<shift {
		return size
	}
	return (length>>shift + 16) &^ 15 // a slot of a set lies in one unit
}

func (s *scan) keep(u uint32) {
	at := int(u)
	if at < s.next || at >= s.units || s.set != nil && !s.set.Get(at) || s.kept.Get(at) {
		return
	}
	s.kept.Set(at)
	p := s.unit(at)
	n := len(s.undo) - 1
	if n < 0 || len(s.undo[n])+len(p)+16 > cap(s.undo[n]) {
		s.undo = append(s.undo, make([]byte, 0, max(undoChunk, len(p)+16)))
		n++
	}
	s.undo[n] = appendUnit(s.undo[n], at+1, p)
}

// write writes a piece.
func (s *scan) write(w *checkpoint.Writer) bool {
	if s.to.Aborted() {
		s.k.done(s)
		return false
	}
	if s.next < s.units || s.set == nil && s.block < len(s.blocks) {
		if s.set != nil {
			s.writeSet(w)
		} else {
			s.writeAll(w)
		}
		return true
	}
	if s.next == s.units {
		s.next++ // all are written: nothing is kept any more
		s.k.done(s)
		if s.set != nil {
			w.Uint(0)
		}
	}
	for len(s.undo) > 0 && w.Len() < w.Piece {
		w.Append(func(p []byte) []byte { return append(p, s.undo[0]...) })
		s.undo = s.undo[1:]
	}
	if len(s.undo) == 0 {
		w.Uint(0)
	}
	return len(s.undo) > 0
}

// writeAll writes blocks as they are; what was kept is put right by what follows.
func (s *scan) writeAll(w *checkpoint.Writer) {
	left := max(w.Piece/s.k.size, 1) * s.k.size
	for left > 0 && s.block < len(s.blocks) {
		b := s.blocks[s.block]
		n := min(left, len(b)-s.off)
		w.Append(func(p []byte) []byte { return append(p, b[s.off:s.off+n]...) })
		left -= n
		if s.off += n; s.off == len(b) {
			s.block, s.off = s.block+1, 0
		}
	}
	if s.block == len(s.blocks) {
		s.next = s.units
	} else {
		s.next = s.block<<s.k.shift + s.off/unitSize(len(s.blocks[s.block]), s.k.shift, s.k.size)
	}
}

// unitsPerPiece bounds a piece of a set: units that lie far apart take longer than their bytes.
const unitsPerPiece = 8192

// writeSet writes those of the set that were not kept, by words of 64 units: how many words on, which of its units, and
// their bytes.
func (s *scan) writeSet(w *checkpoint.Writer) {
	most := w.Piece
	w.Append(func(p []byte) []byte {
		for n := 0; s.next < s.units; {
			at := s.next >> 6
			s.prefetch(at + wordsAhead)
			word := s.set[at] &^ s.kept[at] & (^uint64(0) << (s.next & 63))
			if word == 0 {
				s.next = min((at+1)<<6, s.units)
				continue
			}
			if n >= unitsPerPiece || len(p) >= most {
				return p
			}
			block := s.blocks[s.next>>s.k.shift]
			size := unitSize(len(block), s.k.shift, s.k.size)
			s.next = min((at+1)<<6, s.units)
			if fit := max((most-len(p))/size, 1); fit < 64 { // the rest of the word comes in another piece
				rest := word
				for range fit {
					rest &= rest - 1
				}
				if word &^= rest; rest != 0 {
					s.next = at<<6 | bits.TrailingZeros64(rest)
				}
			}
			n += bits.OnesCount64(word)
			p = binary.AppendUvarint(p, uint64(at-s.last+1))
			p = binary.LittleEndian.AppendUint64(p, word)
			p = appendUnits(p, block, (at<<6)&(1<<s.k.shift-1), word, size)
			s.last = at
		}
		return p
	})
}

// wordsAhead is how many words ahead of those that are written units are fetched. One unit in twelve of 16 bytes took 45 to
// 100 ns without and 20 to 30 with it, on a busy machine.
const wordsAhead = 8

// prefetch fetches the units of a word of the set, if all of them are there.
func (s *scan) prefetch(at int) {
	u := at << 6
	if u+64 > s.units {
		return
	}
	block := s.blocks[u>>s.k.shift]
	size := unitSize(len(block), s.k.shift, s.k.size)
	first := u & (1<<s.k.shift - 1) * size
	if first+64*size <= len(block) {
		prefetch(unsafe.Pointer(&block[first]), s.set[at], size)
	}
}

// appendUnits appends units of a block: those of word, whose first one is number first.
func appendUnits(p, block []byte, first int, word uint64, size int) []byte {
	from, end := min(first*size, len(block)), min((first+64)*size, len(block))
	block = block[from:end]
	if end-from < 64*size { // the last ones may be cut off
		for ; word != 0; word &= word - 1 {
			at := min(bits.TrailingZeros64(word)*size, len(block))
			p = append(p, block[at:min(at+size, len(block))]...)
		}
		return p
	}
	n := len(p)
	p = slices.Grow(p, bits.OnesCount64(word)*size)[:n+bits.OnesCount64(word)*size]
	if size == 16 { // a number that is counted
		for ; word != 0; word &= word - 1 {
			*(*[16]byte)(p[n:]) = *(*[16]byte)(block[bits.TrailingZeros64(word)*16:])
			n += 16
		}
		return p
	}
	for word != 0 {
		at := bits.TrailingZeros64(word)
		run := bits.TrailingZeros64(^(word >> at))
		n += copy(p[n:], block[at*size:(at+run)*size])
		word &^= (1<<run - 1) << at
	}
	return p
}

// appendUnit appends a number and bytes.
func appendUnit(p []byte, n int, unit []byte) []byte {
	p = binary.AppendUvarint(p, uint64(n))
	p = binary.AppendUvarint(p, uint64(len(unit)))
	return append(p, unit...)
}

func isDelta(how uint64) bool { return how == changed || how == changedUnits }

// loadChanged reads a set in the way in which it was written.
func loadChanged(c *checkpoint.Reader, how uint64, unit func(u uint64) []byte) {
	if how == changedUnits {
		loadUnits(c, unit)
		return
	}
	loadSet(c, unit)
}

// loadSet reads what writeSet wrote; unit returns the bytes to fill, nil if there is no such unit.
func loadSet(c *checkpoint.Reader, unit func(u uint64) []byte) {
	last := uint64(0)
	var b [8]byte
	for n := c.Uint(); n != 0 && c.Err() == nil; n = c.Uint() {
		last += n - 1
		c.Fill(b[:])
		for word := binary.LittleEndian.Uint64(b[:]); word != 0 && c.Err() == nil; word &= word - 1 {
			to := unit(last<<6 | uint64(bits.TrailingZeros64(word)))
			if to == nil {
				c.Fail("there is no such unit")
			}
			c.Fill(to)
		}
	}
}

// loadUnits reads a set as it was written once: unit by unit, with its length.
func loadUnits(c *checkpoint.Reader, unit func(u uint64) []byte) {
	last := ^uint64(0)
	for n := c.Uint(); n != 0 && c.Err() == nil; n = c.Uint() {
		last += n
		loadUnit(c, unit(last))
	}
}

// loadKept reads the units that were kept, which follow.
func loadKept(c *checkpoint.Reader, unit func(u uint64) []byte) {
	for n := c.Uint(); n != 0 && c.Err() == nil; n = c.Uint() {
		loadUnit(c, unit(n-1))
	}
}

// loadUnit fills to, which is nil if there is no such unit.
func loadUnit(c *checkpoint.Reader, to []byte) {
	p := c.Bytes()
	if len(p) != len(to) || to == nil {
		c.Fail("a unit of %d bytes does not fit", len(p))
	}
	copy(to, p)
}
