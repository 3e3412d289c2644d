package state

import "github.com/ebb-lang/ebb/checkpoint"

// Touch tells that a row is about to change. Rows that are frozen must be touched before each change; Add and Delete do
// so by themselves.
func (r *Rows) Touch(id uint32) {
	if r.track != nil {
		r.track.touch(id)
	}
}

// TouchAll touches rows.
func (r *Rows) TouchAll(ids []uint32) {
	if r.track != nil {
		r.track.touchAll(ids)
	}
}

// Freeze writes the rows as they are now, what does not fit at once in pieces: all, or those that have changed since
// w.Parent.
func (r *Rows) Freeze(w *checkpoint.Writer) {
	size := 8 * r.width
	if w.Fits(int(r.n)*size) && r.track == nil {
		r.Save(w)
		return
	}
	if r.track == nil {
		r.track = &tracker{shift: blockBits, size: size}
	}
	how := uint64(inPieces)
	set, ok := r.track.since(w, int(r.n))
	if ok {
		how = changed
		w.Delta()
	}
	r.saveHead(w, how)
	blocks := make([][]byte, 0, len(r.blocks))
	for left := int(r.n); left > 0; left -= rowsPerBlock {
		blocks = append(blocks, bytesOf(r.blocks[len(blocks)][:min(left, rowsPerBlock)*r.width]))
	}
	r.track.freeze(w, blocks, int(r.n), set)
}

// release makes the memory free for other use: what is being written keeps it.
func (r *Rows) release() {
	if r.track != nil && len(r.track.scans) > 0 {
		r.blocks, r.n, r.used = nil, 0, 0
	}
	r.track = nil
}

// An arena is tracked in granules.
const (
	granuleShift = 8
	granule      = chunkBytes >> granuleShift
)

// touch tells that n bytes at ref are about to change, all of a large chunk.
func (a *Arena) touch(ref uint64, n int) {
	if a.track == nil {
		return
	}
	if c := ref >> 16; len(a.chunks[c]) > chunkBytes {
		for g := range uint32(1 << granuleShift) {
			a.track.touch(uint32(c)<<granuleShift | g)
		}
		return
	}
	first := int(ref&0xffff) * 8
	for g := first / granule; g <= (first+n-1)/granule; g++ {
		a.track.touch(uint32(ref>>16)<<granuleShift | uint32(g))
	}
}

// touchAt tells that the slot that begins at at of the piece ref is about to change.
func (a *Arena) touchAt(ref uint64, at int) {
	c := ref >> 16
	at += int(ref&0xffff) * 8
	a.track.touch(uint32(c)<<granuleShift | uint32(at/unitSize(len(a.chunks[c]), granuleShift, granule)))
}

// Freeze writes the pieces as they are now, what does not fit at once in pieces of its own: all, or what has changed
// since w.Parent. Pieces that change while they are kept must be touched before.
func (a *Arena) Freeze(w *checkpoint.Writer) {
	if a.track == nil && w.Fits(a.bytes) {
		a.Save(w)
		return
	}
	if a.track == nil {
		a.track = &tracker{shift: granuleShift, size: granule}
	}
	units := a.saved() << granuleShift
	how := uint64(inPieces)
	set, ok := a.track.since(w, units)
	if ok {
		how = changed
		w.Delta()
	}
	a.track.freeze(w, a.saveHead(w, how), units, set)
}

func (a *Arena) release() {
	if a.track != nil && len(a.track.scans) > 0 {
		a.chunks = nil
	}
	a.track = nil
}

// Freeze writes the rows and the texts of their keys as they are now, what does not fit at once in pieces: all, or what
// has changed since w.Parent. Rows that the owner changes later without a Lookup or Find that touches them it must touch
// itself.
func (t *Table) Freeze(w *checkpoint.Writer) {
	t.rows.Freeze(w)
	t.arena.Freeze(w)
}

// FreezeAll is Freeze without a parent.
func (t *Table) FreezeAll(w *checkpoint.Writer) {
	t.rows.track.forget()
	t.arena.track.forget()
	t.Freeze(w)
}

func (k *tracker) forget() {
	if k != nil {
		k.frozen = nil
	}
}

// Freeze writes the lists as they are now; see Table.Freeze. The owners save their words.
func (l *Lists) Freeze(w *checkpoint.Writer) { l.nodes.Freeze(w) }

// Freeze writes the sets as they are now; see Table.Freeze. The owners save their words.
func (s *Sets) Freeze(w *checkpoint.Writer) {
	if s.dict != nil {
		s.dict.Freeze(w)
	}
	s.arena.Freeze(w)
}
