package state

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
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
	atOnce   = iota // as it is
	inPieces        // frozen, all of it
	changed         // frozen, what has changed
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
	case how == changed:
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
	if how == changed {
		loadSet(c, r.unit)
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
	for b := max(blocksOf(old)-1, 0); b < blocksOf(int(r.n)); b++ {
		size := rowsPerBlock
		if b == 0 && r.n < rowsPerBlock {
			for size = firstRows; size < int(r.n); size *= 2 {
			}
		}
		if b == len(r.blocks) {
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
	if how != changed {
		old.chunks = nil
	}
	a.open, a.at = int(open), int(at)
	copy(a.free[:], free)
	sizes := make([]uint64, n)
	for i := range sizes {
		sizes[i] = c.Uint()
	}
	fresh := uint64(0) // bytes that must follow
	for i, size := range sizes {
		if !a.known(&old, i, size) {
			fresh += size
			if size > uint64(c.Left()) || fresh > uint64(c.Left())*(1+chunkBytes/granule) {
				c.Fail("the chunks of an arena cannot be that large")
				break
			}
		}
		if c.Err() == nil && !a.addChunk(&old, i, int(size)) {
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

// addChunk adds chunk i, in which there are size bytes, and reports whether that can be.
func (a *Arena) addChunk(old *Arena, i, size int) bool {
	var own []byte
	switch {
	case size == 0 && i != a.open-1:
		a.spare = append(a.spare, i)
	case i == a.open-1 && size == min(a.at, chunkBytes), size == chunkBytes && i < a.open:
		own = make([]byte, 0, chunkBytes)
	case size > chunkBytes:
		own = make([]byte, 0, size)
	default:
		return false
	}
	if i < len(old.chunks) && cap(own) > 0 && len(old.chunks[i]) == cap(own) {
		own = old.chunks[i]
	}
	own = own[:cap(own)]
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
	if how == changed {
		loadSet(c, unit)
	} else {
		for i := range a.chunks {
			p := a.content(i)
			c.Rest(func(q []byte) ([]byte, error) {
				if len(q) < len(p) {
					return nil, errors.New("the data ends too early")
				}
				return q[copy(p, q):], nil
			})
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

// indexed makes the index if it is not there: after Load.
func (t *Table) indexed() {
	if t.index.parts == nil {
		t.makeIndex()
	}
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

// makeIndex makes the index of the rows anew. A large one is made part by part, so that the memory at hand stays small.
func (t *Table) makeIndex() {
	x := &t.index
	x.init()
	if t.Len() <= splitRows {
		t.eachHash(x.insert)
		return
	}
	var many [Groups]int
	t.eachHash(func(hash uint64, _ uint32) { many[Group(hash)]++ })
	var ends [Groups]int
	end := 0
	for g, n := range many {
		ends[g] = end
		end += n
	}
	all := make([]uint64, end) // what goes into the slots, by part
	t.eachHash(func(hash uint64, id uint32) {
		at := &ends[Group(hash)]
		all[*at] = uint64(tagOf(hash))<<32 | uint64(id+1)
		*at++
	})
	x.parts, x.shift, x.n = make([]part, Groups), 64-groupBits, len(all)
	for g, n := range many {
		p := &x.parts[g]
		p.slots = make([]uint64, max(firstSlots, 1<<bits.Len(uint(2*n))))
		for _, s := range all[:n] {
			p.put(uint32(s>>32), uint32(s)-1)
		}
		all = all[n:]
	}
}

func (t *Table) eachHash(f func(hash uint64, id uint32)) {
	for id := range t.rows.n {
		if t.rows.Live(id) {
			f(t.Hash(id), id)
		}
	}
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
		t.Set(at, uint32(id))
	}
	return c.Err()
}

// Save writes the rows in the order in which they came, those of a batch in order of time.
func (u *Buffer) Save(w *checkpoint.Writer) {
	runs := u.inOrder()
	batches := make([]*vec.Batch, len(runs))
	for i, r := range runs {
		batches[i] = r.rest()
	}
	SaveBatches(w, batches)
}

// SaveBatches writes batches, what does not fit at once in pieces.
func SaveBatches(w *checkpoint.Writer, batches []*vec.Batch) {
	w.Uint(uint64(len(batches)))
	size := 0
	for _, b := range batches {
		size += b.Bytes()
	}
	write := func(w *checkpoint.Writer) bool {
		if len(batches) > 0 {
			w.Append(func(p []byte) []byte { return vec.AppendBlock(p, batches[0]) })
			batches = batches[1:]
		}
		return len(batches) > 0
	}
	if !w.Fits(size) {
		batches = slices.Clone(batches) // the caller goes on with its own
		w.Later(write)
		return
	}
	for write(w) {
	}
}

// LoadBatches reads what SaveBatches wrote; see LoadBatch.
func LoadBatches(c *checkpoint.Reader, ts []types.Type) []*vec.Batch {
	var out []*vec.Batch
	for range c.Count(4) {
		b := LoadBatch(c, ts)
		if b == nil {
			return nil
		}
		out = append(out, b)
	}
	return out
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
	for _, b := range LoadBatches(c, ts) {
		if b.Time == nil {
			c.Fail("kept rows have no event time")
			*u = Buffer{}
			break
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
