package checkpoint

import (
	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/zeebo/xxh3"
)

// tail is a segment that is written: what is on the disk, and behind it what waits in memory.
type tail struct {
	id      uint64
	path    string
	f       disk.File
	first   int64  // end of the catalog
	base    int64  // the bytes before are written
	buf     []byte // and these are the next ones
	spare   []byte // memory for the next buf
	flushed int64  // the bytes before are durable
	begun   int64  // the system was told to bring the bytes before to the disk, see disk.Begin
	room    int64  // the file has zeros, durable ones, up to here: a flush need not change its size
}

// end returns where the next record will stand.
func (t *tail) end() int64 { return t.base + int64(len(t.buf)) }

// add appends a record in memory.
func (t *tail) add(kind, sub uint8, flags uint16, id ID, data ...[]byte) record {
	r := t.record(kind, sub, flags, id, data...)
	t.buf = r.appendHeader(t.buf, t.id)
	for _, p := range data {
		t.buf = append(t.buf, p...)
	}
	t.buf = append(t.buf, zeros[:padded(r.length)-r.length]...)
	return r
}

func (t *tail) record(kind, sub uint8, flags uint16, id ID, data ...[]byte) record {
	sum := xxh3.New()
	n := int64(0)
	for _, p := range data {
		sum.Write(p)
		n += int64(len(p))
	}
	return record{off: t.end(), kind: kind, sub: sub, flags: flags, length: n, flushed: t.flushed, id: id, sum: sum.Sum64()}
}

// pad fills the last page.
func (t *tail) pad() {
	n := (page - t.end()%page) % page
	if n == 0 {
		return
	}
	if n < headerBytes {
		n += page
	}
	t.add(kindPad, 0, optional, 0, zeros[:n-headerBytes])
}

// take returns what waits in memory, to be written at off; it counts as written from now on.
func (t *tail) take() (p []byte, off int64) {
	p, off = t.buf, t.base
	t.base += int64(len(p))
	t.buf, t.spare = t.spare[:0], nil
	return p, off
}

// give returns the memory of take.
func (t *tail) give(p []byte, limit int) {
	if cap(p) <= 2*limit {
		t.spare = p[:0]
	}
}

// makeRoom writes zeros up to size. Nothing may be written at the same time.
func (t *tail) makeRoom(size int64) error {
	for off := max(t.room, t.base); off < size; off += int64(len(zeros)) {
		if _, err := t.f.WriteAt(zeros[:min(int64(len(zeros)), size-off)], off); err != nil {
			return err
		}
	}
	t.room = max(t.room, size)
	return nil
}

var zeros [64 << 10]byte
