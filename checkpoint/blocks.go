package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/zeebo/xxh3"
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
	b.mu.Lock()
	many := len(b.files) >= openFiles
	b.mu.Unlock()
	if many {
		b.close()
	}
	b.use.RLock()
	defer b.use.RUnlock()
	damage := func(err error) error {
		return &DamageError{Damage: Damage{File: b.path(r.Segment), Offset: int64(r.Offset), Why: err.Error()}, Err: err}
	}
	f, err := b.file(r.Segment)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, damage(fmt.Errorf("the file is missing: %w", fs.ErrNotExist))
	}
	if err != nil {
		return nil, fmt.Errorf("reading a block of a checkpoint: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading a block of a checkpoint: %w", err)
	}
	size := uint64(info.Size())
	if r.Offset > size || r.Length > size || r.Offset+headerBytes+r.Length > size {
		return nil, damage(errors.New("the file is too short"))
	}
	p := Memory[byte](int(headerBytes + r.Length))
	if _, err := f.ReadAt(p, int64(r.Offset)); err != nil {
		return nil, fmt.Errorf("reading a block of a checkpoint: %w", err)
	}
	h, ok := parseHeader(p, r.Segment, int64(r.Offset))
	if !ok || h.ref(r.Segment) != r {
		return nil, damage(errors.New("there is another record or none"))
	}
	if p = p[headerBytes:]; xxh3.Hash(p) != r.Sum {
		return nil, damage(errSum)
	}
	return p, nil
}

// file returns the file of a segment, to be used while use is shared.
func (b *blocks) file(segment uint64) (disk.File, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f := b.files[segment]; f != nil {
		return f, nil
	}
	f, err := b.fs.Open(b.path(segment))
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
