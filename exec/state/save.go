package state

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// What is here writes state as it lies in memory: there are no pointers in it, so places and references stay what they
// are, and owners keep theirs in the words of their rows. An index is not written but made again. Load replaces what
// there is, by what may be damaged: sizes and places are checked, values are not.

// Save writes the rows.
func (r *Rows) Save(w *checkpoint.Writer) {
	w.Uint(uint64(r.width))
	w.Uint(uint64(r.n))
	r.saveDead(w)
	for b, left := 0, int(r.n); left > 0; b, left = b+1, left-rowsPerBlock {
		w.RawWords(r.blocks[b][:min(left, rowsPerBlock)*r.width])
	}
}

// saveDead writes which rows are dead, and the first of them in their chain.
func (r *Rows) saveDead(w *checkpoint.Writer) {
	w.Uint(uint64(r.nDead))
	if r.nDead > 0 {
		w.Uint(uint64(r.free))
		w.Words(r.dead[:min(len(r.dead), int(r.n+63)/64)])
	}
}

// Load reads what Save wrote.
func (r *Rows) Load(c *checkpoint.Reader) error {
	*r = Rows{width: r.width}
	if w := c.Uint(); w != uint64(r.width) {
		c.Fail("rows are %d words wide, not %d", w, r.width)
	}
	n := c.Uint()
	dead, free, nDead := r.loadDead(c, n)
	if n > uint64(c.Left()/8/r.width) || n >= uint64(None) {
		c.Fail("there are fewer than %d rows", n)
	}
	if c.Err() != nil {
		return c.Err()
	}
	r.makeBlocks(int(n))
	for b, left := 0, int(n); left > 0; b, left = b+1, left-rowsPerBlock {
		c.RawWords(r.blocks[b][:min(left, rowsPerBlock)*r.width])
	}
	r.n, r.dead, r.free, r.nDead = uint32(n), dead, free, nDead
	r.checkDead(c)
	return c.Err()
}

// makeBlocks makes the blocks of n rows anew.
func (r *Rows) makeBlocks(n int) {
	r.blocks = nil
	for left := n; left > 0; left -= rowsPerBlock {
		size := rowsPerBlock
		if len(r.blocks) == 0 && left < rowsPerBlock {
			for size = firstRows; size < left; size *= 2 {
			}
		}
		r.blocks = append(r.blocks, make([]uint64, size*r.width))
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
		*r = Rows{width: r.width}
	}
}

// Save writes the pieces.
func (a *Arena) Save(w *checkpoint.Writer) {
	n := a.saved()
	w.Uint(uint64(n))
	w.Uint(uint64(a.open))
	w.Uint(uint64(a.at))
	w.Words(a.free[:])
	for c := range n {
		w.Bytes(a.content(c))
	}
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

// Load reads what Save wrote.
func (a *Arena) Load(c *checkpoint.Reader) error {
	*a = Arena{}
	n := c.Count(1)
	open, at := c.Uint(), c.Uint()
	free := c.Words()
	if open > uint64(n) || at > chunkBytes || open > 0 && at == 0 || len(free) != len(a.free) {
		c.Fail("the sizes of an arena make no sense")
	}
	if c.Err() != nil {
		return c.Err()
	}
	a.open, a.at = int(open), int(at)
	copy(a.free[:], free)
	ok := true
	for i := 0; i < n && ok; i++ {
		ok = a.loadChunk(i, c.Bytes())
	}
	if c.Err() == nil && (!ok || !a.sound()) {
		c.Fail("the pieces of an arena make no sense")
	}
	if c.Err() != nil {
		*a = Arena{}
	}
	return c.Err()
}

// loadChunk adds chunk i, in which there is p, and reports whether that can be.
func (a *Arena) loadChunk(i int, p []byte) bool {
	var own []byte
	switch {
	case i == a.open-1 && len(p) <= chunkBytes:
		if len(p) != a.at {
			return false
		}
		own = make([]byte, chunkBytes)
	case len(p) > chunkBytes, len(p) == chunkBytes && i < a.open:
		own = make([]byte, len(p))
	case len(p) > 0:
		return false
	default:
		a.spare = append(a.spare, i)
	}
	copy(own, p)
	a.chunks = append(a.chunks, own)
	a.bytes += len(own)
	return true
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

// Save writes the rows and the texts of their keys.
func (t *Table) Save(w *checkpoint.Writer) {
	t.rows.Save(w)
	t.arena.Save(w)
}

// Load reads what Save wrote. The owner's words are as they were.
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
	t.makeIndex()
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

// textSound checks that a text is there.
func textSound(w []uint64, a *Arena) bool {
	n := int(uint32(w[0]))
	return n <= inlineBytes || a.has(w[1], n)
}

// makeIndex makes the index of the rows anew.
func (t *Table) makeIndex() {
	t.index = index{}
	t.index.init()
	if t.Len() > splitRows {
		t.index.makeParts(t.eachHash)
	}
	t.eachHash(t.index.insert)
}

func (t *Table) eachHash(f func(hash uint64, id uint32)) {
	for id := range t.rows.n {
		if t.rows.Live(id) {
			f(t.Hash(id), id)
		}
	}
}

// makeParts makes a part for each key group, with room for the rows that each calls its function for.
func (x *index) makeParts(each func(func(hash uint64, id uint32))) {
	x.parts, x.shift = make([]part, Groups), 64-groupBits
	var many [Groups]int
	each(func(hash uint64, _ uint32) { many[Group(hash)]++ })
	for i, n := range many {
		x.parts[i].slots = make([]uint64, max(firstSlots, 1<<bits.Len(uint(2*n))))
	}
}

// Save writes the sets; the owners save their words.
func (s *Sets) Save(w *checkpoint.Writer) {
	if s.dict != nil {
		s.dict.Save(w)
	}
	s.arena.Save(w)
}

// Load reads what Save wrote.
func (s *Sets) Load(c *checkpoint.Reader) error {
	if s.dict != nil {
		s.dict.Load(c)
	}
	return s.arena.Load(c)
}

// Save writes the lists; the owners save their words.
func (l *Lists) Save(w *checkpoint.Writer) { l.nodes.Save(w) }

// Load reads what Save wrote.
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
		t.Set(at, uint32(id))
	}
	return c.Err()
}

// Save writes the rows in the order in which they came, those of a batch in order of time.
func (u *Buffer) Save(w *checkpoint.Writer) {
	runs := u.inOrder()
	w.Uint(uint64(len(runs)))
	for _, r := range runs {
		w.Append(func(p []byte) []byte { return vec.AppendBlock(p, r.rest()) })
	}
}

// inOrder returns the runs in the order in which they came.
func (u *Buffer) inOrder() []*run {
	runs := slices.Clone(u.runs)
	slices.SortFunc(runs, func(a, b *run) int { return a.seq - b.seq })
	return runs
}

// rest returns the rows that are left of a run.
func (r *run) rest() *vec.Batch { return r.b.Select(r.sel[r.at:]) }

// Load reads what Save wrote. The rows have columns of the types.
func (u *Buffer) Load(c *checkpoint.Reader, ts []types.Type) error {
	*u = Buffer{}
	for range c.Count(2) {
		b := LoadBatch(c, ts)
		if c.Err() == nil && b.Time == nil {
			c.Fail("kept rows have no event time")
		}
		if c.Err() != nil {
			*u = Buffer{}
			return c.Err()
		}
		u.Add(b)
	}
	return c.Err()
}

// LoadBatch reads a block of vec.AppendBlock whose columns must have the types; nil after an error.
func LoadBatch(c *checkpoint.Reader, ts []types.Type) *vec.Batch {
	var b *vec.Batch
	c.Rest(func(p []byte) (rest []byte, err error) {
		b, rest, err = vec.DecodeBlock(p)
		return rest, err
	})
	if c.Err() != nil {
		return nil
	}
	same := len(b.Cols) == len(ts)
	for i := 0; same && i < len(ts); i++ {
		same = b.Cols[i].Type.Same(ts[i])
	}
	if !same {
		c.Fail("saved rows have other columns")
		return nil
	}
	return b
}
