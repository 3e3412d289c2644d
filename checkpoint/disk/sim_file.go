package disk

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"syscall"
)

// sector is what a disk writes whole or not at all.
const sector = 512

// content is the bytes of a file: as they are seen, and as they may be found after a crash.
type content struct {
	data []byte // what is read
	disk []byte // what is durable for certain
	// dirty holds, for each sector that differs or may differ from disk, the states it had since the last Sync, the present
	// one not among them.
	dirty map[int]*sectorLog
	sizes []int // sizes since the last Sync, the present one not among them
}

// sectorLog is what may be found in a sector besides what is durable and what is read.
type sectorLog struct {
	states [][]byte
	// given says that a Sync failed and that no later one writes the sector, until it changes again.
	given bool
}

// states bounds how many of a sector are remembered between two Syncs.
const states = 4

// touch notes that bytes from..to are about to change.
func (c *content) touch(from, to int) {
	if c.dirty == nil {
		c.dirty = map[int]*sectorLog{}
	}
	for i := from / sector; i*sector < to; i++ {
		l := c.dirty[i]
		if l == nil {
			l = &sectorLog{}
			c.dirty[i] = l
		} else if len(l.states) < states {
			l.states = append(l.states, c.sector(c.data, i))
		}
		l.given = false
	}
}

// sector returns a copy of sector i of p, zeros behind its end.
func (c *content) sector(p []byte, i int) []byte {
	out := make([]byte, sector)
	if i*sector < len(p) {
		copy(out, p[i*sector:])
	}
	return out
}

func (c *content) writeAt(p []byte, off int) {
	if len(p) == 0 {
		return
	}
	if end := off + len(p); end > len(c.data) {
		c.resize(end)
	}
	c.touch(off, off+len(p))
	copy(c.data[off:], p)
}

func (c *content) resize(size int) {
	if len(c.sizes) < 2*states {
		c.sizes = append(c.sizes, len(c.data))
	}
	if n := len(c.data); size > n {
		c.data = append(c.data, make([]byte, size-n)...)
	} else {
		c.data = c.data[:size]
	}
}

// truncate changes the size. What lay behind a smaller size reads as zeros if the file grows again.
func (c *content) truncate(size int) {
	if size < len(c.data) {
		c.touch(size, len(c.data))
	}
	if size != len(c.data) {
		c.resize(size)
	}
}

// sync makes the content durable, but for what an earlier, failed one gave up.
func (c *content) sync() {
	if n := len(c.disk); n < len(c.data) {
		c.disk = append(c.disk, make([]byte, len(c.data)-n)...)
	}
	c.disk = c.disk[:len(c.data)]
	for i, l := range c.dirty {
		if l.given {
			continue
		}
		if i*sector < len(c.data) {
			copy(c.disk[i*sector:], c.data[i*sector:min((i+1)*sector, len(c.data))])
		}
		delete(c.dirty, i)
	}
	c.sizes = nil
}

// giveUp is a sync that fails.
func (c *content) giveUp() {
	for _, l := range c.dirty {
		l.given = true
	}
}

// crash returns what may be found after a crash.
func (c *content) crash(rng *rand.Rand) content {
	sizes := append([]int{len(c.disk), len(c.data)}, c.sizes...)
	out := make([]byte, sizes[rng.IntN(len(sizes))])
	copy(out, c.disk)
	dirty := make([]int, 0, len(c.dirty))
	for i := range c.dirty {
		dirty = append(dirty, i)
	}
	slices.Sort(dirty)
	// Most crashes lose most or little; losing a half everywhere would seldom leave a long run whole.
	lose := []int{0, 1, 5, 9, 10}[rng.IntN(5)]
	for _, i := range dirty {
		if rng.IntN(10) < lose || i*sector >= len(out) {
			continue
		}
		found := c.sector(c.data, i)
		if old := c.dirty[i].states; len(old) > 0 && rng.IntN(3) == 0 {
			found = old[rng.IntN(len(old))]
		}
		copy(out[i*sector:min((i+1)*sector, len(out))], found)
	}
	return content{data: out, disk: slices.Clone(out)}
}

func (c *content) clone() content {
	out := content{data: slices.Clone(c.data), disk: slices.Clone(c.disk), sizes: slices.Clone(c.sizes), dirty: map[int]*sectorLog{}}
	for i, l := range c.dirty {
		out.dirty[i] = &sectorLog{states: slices.Clone(l.states), given: l.given}
	}
	return out
}

// simFile is an open file of a Sim.
type simFile struct {
	s                   *Sim
	n                   *node
	name                string
	at                  int64
	read, write, append bool
	closed              bool
}

func (f *simFile) check(op string, may bool) error {
	switch {
	case f.closed:
		return &fs.PathError{Op: op, Path: f.name, Err: fs.ErrClosed}
	case !may:
		return &fs.PathError{Op: op, Path: f.name, Err: syscall.EBADF}
	case f.n.dir:
		return &fs.PathError{Op: op, Path: f.name, Err: syscall.EISDIR}
	}
	return nil
}

func (f *simFile) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.at)
	f.at += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (f *simFile) ReadAt(p []byte, off int64) (int, error) {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	if err := f.check("read", f.read); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: fs.ErrInvalid}
	}
	if len(p) == 0 {
		return 0, nil
	}
	if off >= int64(len(f.n.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.n.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *simFile) Write(p []byte) (int, error) {
	n, err := f.writeAt(p, f.at, f.append)
	f.at += int64(n)
	return n, err
}

func (f *simFile) WriteAt(p []byte, off int64) (int, error) {
	if f.append {
		return 0, errors.New("disk: WriteAt on a file opened to append")
	}
	return f.writeAt(p, off, false)
}

func (f *simFile) writeAt(p []byte, off int64, end bool) (int, error) {
	failed := f.s.before("write", f.name)
	var part *Partial
	if errors.As(failed, &part) {
		p = p[:min(part.N, len(p))]
	} else if failed != nil {
		return 0, failed
	}
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	if err := f.check("write", f.write); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, &fs.PathError{Op: "write", Path: f.name, Err: fs.ErrInvalid}
	}
	if end {
		off = int64(len(f.n.data))
	}
	f.n.writeAt(p, int(off))
	f.n.mod = f.s.now()
	return len(p), failed
}

func (f *simFile) Truncate(size int64) error {
	if err := f.s.before("truncate", f.name); err != nil {
		return err
	}
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	if err := f.check("truncate", f.write); err != nil {
		return err
	}
	if size < 0 {
		return &fs.PathError{Op: "truncate", Path: f.name, Err: fs.ErrInvalid}
	}
	f.n.truncate(int(size))
	f.n.mod = f.s.now()
	return nil
}

func (f *simFile) Sync() error {
	failed := f.s.before("sync", f.name)
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	if f.closed {
		return &fs.PathError{Op: "sync", Path: f.name, Err: fs.ErrClosed}
	}
	if failed != nil {
		f.n.giveUp()
		return failed
	}
	f.n.sync()
	return nil
}

func (f *simFile) Stat() (fs.FileInfo, error) {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	if f.closed {
		return nil, &fs.PathError{Op: "stat", Path: f.name, Err: fs.ErrClosed}
	}
	return f.n.info(f.name), nil
}

func (f *simFile) Close() error {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	if f.closed {
		return &fs.PathError{Op: "close", Path: f.name, Err: fs.ErrClosed}
	}
	f.closed = true
	return nil
}
