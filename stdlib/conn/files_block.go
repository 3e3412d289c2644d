package conn

import (
	"sync"
	"unsafe"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// blocks lends the memory of encoded rows to an encoder. A file that has written a batch gives it back, mostly from
// another task; whoever keeps such a batch takes its Free away first.
type blocks struct {
	mu    sync.Mutex
	spare []*vec.Batch
	free  func(*vec.Batch) // put, made once
	ends  []int            // of the rows of the block at hand
}

// mostBlocks is how many blocks are kept; what is on its way to the file is not among them.
const mostBlocks = 16

// get returns an empty block with room for n rows in size bytes.
func (p *blocks) get(n, size int) *vec.Batch {
	if p.free == nil {
		p.free = p.put
	}
	p.ends = p.ends[:0]
	var b *vec.Batch
	p.mu.Lock()
	if k := len(p.spare) - 1; k >= 0 {
		b = p.spare[k]
		p.spare = p.spare[:k]
	}
	p.mu.Unlock()
	if b == nil {
		b = &vec.Batch{Block: make([]byte, 0, size), Cols: []*vec.Column{{Type: types.T(types.String)}}}
	}
	if lines := b.Cols[0]; cap(lines.Strs) < n {
		lines.Strs = make([]string, n, n+n/8)
	}
	return b
}

// done makes the rows of the block, which end at ends.
func (p *blocks) done(b *vec.Batch, block []byte) *vec.Batch {
	lines := b.Cols[0].Strs[:len(p.ends)]
	from := 0
	for i, end := range p.ends {
		lines[i] = unsafe.String(unsafe.SliceData(block[from:end:end]), end-from)
		from = end
	}
	b.Cols[0].Strs = lines
	b.N, b.Block, b.Free = len(p.ends), block, p.free
	return b
}

// put takes the memory of b back.
func (p *blocks) put(b *vec.Batch) {
	lines := b.Cols[0]
	p.mu.Lock()
	if len(p.spare) < mostBlocks {
		p.spare = append(p.spare, &vec.Batch{Block: b.Block[:0], Cols: []*vec.Column{{Type: lines.Type, Strs: lines.Strs[:0]}}})
	}
	p.mu.Unlock()
}
