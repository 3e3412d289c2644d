package state

import (
	"unsafe"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/ebb-lang/ebb/exec/vec"
)

// What is here writes state as it lies in memory: there are no pointers in it, so places and references stay what they
// are, and owners keep theirs in the words of their rows. An index is not written but made again. Load replaces what
// there is, by what may be damaged: sizes and places are checked, values are not.

// Save writes the rows at once.
func (r *Rows) Save(w *checkpoint.Writer) {
	r.saveHead(w, atOnce)
	for b, left := 0, int(r.n); left > 0; b, left = b+1, left-rowsPerBlock {
		w.RawWords(r.blocks[b][:min(left, rowsPerBlock)*r.width])
	}
}

// How something was saved.
const (
	atOnce       = iota // as it is
	inPieces            // frozen, all of it
	changedUnits        // frozen, what has changed, by units: no longer written
	changed             // frozen, what has changed
)

func (r *Rows) saveHead(w *checkpoint.Writer, how uint64) {
	w.Uint(how)
	w.Uint(uint64(r.width))
	w.Uint(uint64(r.n))
	w.Uint(uint64(r.nDead))
	if r.nDead > 0 {
		w.Uint(uint64(r.free))
		w.Words(r.dead[:min(len(r.dead), int(r.n+63)/64)])
	}
}

// Load reads what Save or Freeze wrote.
func (r *Rows) Load(c *checkpoint.Reader) error {
	how := c.Uint()
	if w := c.Uint(); w != uint64(r.width) {
		c.Fail("rows are %d words wide, not %d", w, r.width)
	}
	n := c.Uint()
	dead, free, nDead := r.loadDead(c, n)
	old := 0
	switch {
	case how > changed:
		c.Fail("rows are saved in a way that is not known")
	case isDelta(how):
		old = int(r.n)
	}
	if n < uint64(old) || n-uint64(old) > uint64(c.Left()/8/r.width) || n >= uint64(None) {
		c.Fail("there cannot be %d rows", n)
	}
	if c.Err() != nil {
		*r = Rows{width: r.width}
		return c.Err()
	}
	*r = Rows{width: r.width, blocks: r.blocks[:blocksOf(old)], n: uint32(n), dead: dead, free: free, nDead: nDead}
	r.makeBlocks(old)
	if isDelta(how) {
		loadChanged(c, how, r.unit)
	} else {
		for b, left := 0, int(n); left > 0; b, left = b+1, left-rowsPerBlock {
			c.RawWords(r.blocks[b][:min(left, rowsPerBlock)*r.width])
		}
	}
	if how != atOnce {
		loadKept(c, r.unit)
	}
	if r.checkDead(c); c.Err() != nil {
		*r = Rows{width: r.width}
	}
	return c.Err()
}

// unit returns the bytes of a row.
func (r *Rows) unit(id uint64) []byte {
	if id >= uint64(r.n) {
		return nil
	}
	return bytesOf(r.At(uint32(id)))
}

// bytesOf returns the bytes of words.
func bytesOf(w []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), 8*len(w))
}

func blocksOf(rows int) int { return (rows + rowsPerBlock - 1) / rowsPerBlock }

// makeBlocks makes the blocks that are missing, where there are those of old rows.
func (r *Rows) makeBlocks(old int) {
	full := rowsPerBlock * r.width
	room := checkpoint.Memory[uint64](max(blocksOf(int(r.n))-max(len(r.blocks), 1), 0) * full) // of all but the first
	for b := max(blocksOf(old)-1, 0); b < blocksOf(int(r.n)); b++ {
		size := rowsPerBlock
		if b == 0 && r.n < rowsPerBlock {
			for size = firstRows; size < int(r.n); size *= 2 {
			}
		}
		if b == len(r.blocks) && b > 0 {
			r.blocks, room = append(r.blocks, room[:full:full]), room[full:]
		} else if b == len(r.blocks) {
			r.blocks = append(r.blocks, make([]uint64, size*r.width))
		} else if len(r.blocks[b]) < size*r.width {
			r.blocks[b] = append(make([]uint64, 0, size*r.width), r.blocks[b]...)[:size*r.width]
		}
	}
}

func (r *Rows) loadDead(c *checkpoint.Reader, n uint64) (dead vec.Bitmap, free uint32, nDead int) {
	many := c.Uint()
	if many == 0 {
		return nil, 0, 0
	}
	first := c.Uint()
	dead = c.Words()
	if uint64(len(dead)) > (n+63)/64 || many > n || first > n {
		c.Fail("%d dead rows of %d", many, n)
		return nil, 0, 0
	}
	return dead, uint32(first), int(many)
}

// checkDead follows the chain of dead rows.
func (r *Rows) checkDead(c *checkpoint.Reader) {
	at := r.free
	n := 0
	for ; at != 0 && n <= r.nDead; n++ {
		if at > r.n || r.Live(at-1) {
			break
		}
		at = uint32(r.At(at - 1)[0])
	}
	if at != 0 || n != r.nDead || r.dead.Count() != n {
		c.Fail("the chain of dead rows is broken")
	}
}

// Save writes the rows and the texts of their keys at once.
func (t *Table) Save(w *checkpoint.Writer) {
	t.rows.Save(w)
	t.arena.Save(w)
}

// Load reads what Save or Freeze wrote. The owner's words are as they were.
func (t *Table) Load(c *checkpoint.Reader) error {
	t.rows.Load(c)
	t.arena.Load(c)
	if c.Err() == nil && !t.textsSound() {
		c.Fail("the keys of a table make no sense")
	}
	if c.Err() != nil {
		t.Reset()
		return c.Err()
	}
	t.index = index{}
	return nil
}

// textsSound checks that the texts of all keys are there.
func (t *Table) textsSound() bool {
	for k := range t.keys {
		if t.keys[k].Words != 2 {
			continue
		}
		for id := range t.rows.n {
			if t.rows.Live(id) && !textSound(t.rows.At(id)[t.keyAt[k]:], &t.arena) {
				return false
			}
		}
	}
	return true
}

// textSound checks that a text is there, with the room that it was given.
func textSound(w []uint64, a *Arena) bool {
	n := int(uint32(w[0]))
	if n <= inlineBytes {
		return true
	}
	if _, size := class(n); size <= chunkBytes {
		return a.has(w[1], size)
	}
	return a.has(w[1], n) && w[1]&0xffff == 0
}

// Load reads what Freeze wrote.
func (s *Sets) Load(c *checkpoint.Reader) error {
	if s.dict != nil {
		s.dict.Load(c)
	}
	return s.arena.Load(c)
}

// Save writes the lists at once; the owners save their words.
func (l *Lists) Save(w *checkpoint.Writer) { l.nodes.Save(w) }

// Load reads what Save or Freeze wrote.
func (l *Lists) Load(c *checkpoint.Reader) error { return l.nodes.Load(c) }

// Save writes the due times.
func (t *Timers) Save(w *checkpoint.Writer) {
	w.Uint(uint64(len(t.heap)))
	for _, x := range t.heap {
		w.Int(x.At)
		w.Uint(uint64(x.ID))
	}
}

// Load reads what Save wrote, of owners with numbers below end.
func (t *Timers) Load(c *checkpoint.Reader, end uint32) error {
	t.heap = t.heap[:0]
	for range c.Count(2) {
		at, id := c.Int(), c.Uint()
		if id >= uint64(end) {
			c.Fail("a timer of something that there is not")
		}
		if c.Err() != nil {
			t.heap = nil
			return c.Err()
		}
		if !fault.On("forget-timers") {
			t.Set(at, uint32(id))
		}
	}
	return c.Err()
}
