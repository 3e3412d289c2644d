package checkpoint

import (
	"path/filepath"
	"sync"

	"github.com/ebb-lang/ebb/checkpoint/disk"
)

// openFiles bounds how many segments stay open to be read.
const openFiles = 16

// blocks reads blocks of segments, each by its Ref.
type blocks struct {
	fs  disk.FS
	dir string

	use   sync.RWMutex // held to close files, and shared to read them; taken before mu
	mu    sync.Mutex
	files map[uint64]disk.File
}

func newBlocks(fs disk.FS, dir string) *blocks {
	return &blocks{fs: fs, dir: dir, files: map[uint64]disk.File{}}
}

func (b *blocks) path(segment uint64) string { return filepath.Join(b.dir, segmentName(segment)) }

// read returns the data of a block, checked. Several may be read at the same time.
func (b *blocks) read(r Ref) ([]byte, error) {
	s, err := b.stream(r)
	if err != nil {
		return nil, err
	}
	p := Memory[byte](int(r.Length))
	return p, s.read(p)
}

// reader returns a reader of blocks that reads them piece by piece, as if they were one.
func (b *blocks) reader(id ID, refs []Ref) (*Reader, error) {
	s, err := b.stream(refs...)
	if err != nil {
		return nil, err
	}
	return &Reader{ID: id, more: s}, nil
}

// file returns the file of a segment, to be used while use is shared.
func (b *blocks) file(segment uint64) (disk.File, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f := b.files[segment]; f != nil {
		return f, nil
	}
	f, err := openPlain(b.fs, b.path(segment))
	if err == nil {
		b.files[segment] = f
	}
	return f, err
}

// forget closes the file of a segment.
func (b *blocks) forget(segment uint64) {
	b.use.Lock()
	defer b.use.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	if f := b.files[segment]; f != nil {
		f.Close()
		delete(b.files, segment)
	}
}

// close closes all files; what is read later opens them again.
func (b *blocks) close() {
	b.use.Lock()
	defer b.use.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.files {
		f.Close()
	}
	clear(b.files)
}
