package checkpoint

import (
	"errors"
	"path/filepath"
	"sync"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/zeebo/xxh3"
)

// Options say how a store works. The zero value is fine.
type Options struct {
	Owner Owner // written into the lock, for the message of those who find it taken

	Keep   int  // newest checkpoints of each branch that are kept; 0: 10
	Pinned []ID // kept in any case, like named ones

	SegmentBytes int64 // a segment that is larger is followed by a new one; 0: 128 MiB
	BufferBytes  int   // appended blocks are written when they are more; 0: 256 KiB
	// RoomBytes is how many zeros at least are made durable ahead of what is written, so that the flush of a checkpoint has to
	// write data only: where a file grows, the file system writes its journal, too, and with it what others have written
	// (measured beside busy neighbours, 16 KiB a checkpoint: 1.2 instead of 1.8 ms, on average 2.9 instead of 5.2; 2 MB, while
	// all cores are busy: 3.8 instead of 6.7). Checkpoints of up to mostRoomed times as many bytes have room. 0: 1 MiB;
	// negative: none.
	RoomBytes int64

	// Late leaves it to Secure to make durable what Open finds: who calls it changes nothing outside the store before.
	Late bool
	// From is the checkpoint to go on from if something in the folder is damaged: it becomes the head, as by Rollback. 0: the
	// head, if there is no doubt about it.
	From ID
	// Accept is asked before anything is changed, with what was found: its error ends Open. nil: everything is accepted.
	Accept func(*Store, *Recovery) error
	// CheckOutput reports whether a range of an output holds the bytes that were sealed. It is asked for the newest checkpoint
	// only if it is not known that its publishing ended; if a range does not fit, it did not, and the checkpoint is left
	// out. An error ends Open: it tells nothing about that. A missing file is no error but does not fit. nil: nothing is checked.
	CheckOutput func(Sealed) (fits bool, err error)
	// KeepOutput makes a range durable that fits, for which it writes it once more before it flushes: the system gives up
	// pages that it could not write, and no later flush tries them again. All ranges and the checkpoint are kept at the same
	// time, see Together. nil: CheckOutput has done so.
	KeepOutput func(Sealed) error
	// Together runs functions at the same time and returns when all have returned. nil: each on a goroutine of its own.
	// The simulator gives one that runs them in an order of its own.
	Together func(fs []func())
}

// Store keeps the checkpoints of a job in a folder, which it holds alone. Its methods may be called from several
// goroutines; those that flush (Publish, Commit, Name, Delete, Rollback, Fresh, Tidy) wait for each other, Append waits
// for them only when its buffer is full. After an error of the disk every call returns that error: nothing is known any
// more about what was written, and the job has to end. What had been published before is not harmed.
type Store struct {
	fs     disk.FS
	dir    string
	o      Options
	unlock func() error
	blocks *blocks
	noted  disk.File // see NoteReached; nil until then

	// io is held by those who write, flush or change what the store knows; it is taken before mu.
	io sync.Mutex
	mu sync.Mutex // guards what follows

	err     error
	reached reached // the last note, of this run or the one before
	found   *found  // what Open has read; nil once it is durable and a segment was begun, which is seg
	st      *state
	next    ID // the id that is given next
	seg     *tail
	ahead   *tail           // made ahead of need, with nothing but its header
	home    uint64          // where the state was read from
	idle    map[uint64]ID   // segments that nothing needs: unless a checkpoint with a smaller id is still to come
	cut     map[uint64]bool // branches for which there may be a folder of Aside
	size    int64           // bytes of the newest checkpoint
	used    bool            // something was noted that must not be lost
}

var errClosed = errors.New("checkpoint: the store is closed")

func (o *Options) defaults() {
	if o.Keep <= 0 {
		o.Keep = 10
	}
	if o.SegmentBytes <= 0 {
		o.SegmentBytes = 128 << 20
	}
	if o.BufferBytes <= 0 {
		o.BufferBytes = 256 << 10
	}
	if o.RoomBytes == 0 {
		o.RoomBytes = 1 << 20
	}
	if o.Together == nil {
		o.Together = disk.Together
	}
}

// fail ends the use of a folder that cannot be written. io is held.
func (s *Store) fail(what string, err error) error { return s.failed(&FolderError{what, err}) }

// failed makes err the error of every later call. io is held.
func (s *Store) failed(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	return s.err
}

// begin takes io, makes sure that there is a segment to write to, and tells the error of the store; the caller lets io go.
func (s *Store) begin() error {
	s.io.Lock()
	s.mu.Lock()
	found, err := s.found, s.err
	s.mu.Unlock()
	if found == nil || err != nil {
		return err
	}
	return s.secure(found)
}

// Secure makes durable what Open has found, see Options.Late. Whatever writes to the store does so first.
func (s *Store) Secure() error {
	defer s.io.Unlock()
	return s.begin()
}

// write writes what waits in memory. io is held.
func (s *Store) write() error {
	s.mu.Lock()
	t := s.seg
	if len(t.buf) == 0 { // its memory stays
		s.mu.Unlock()
		return nil
	}
	p, off := t.take()
	s.mu.Unlock()
	if _, err := t.f.WriteAt(p, off); err != nil {
		return s.fail("writing a checkpoint", err)
	}
	s.mu.Lock()
	t.give(p, s.o.BufferBytes)
	s.mu.Unlock()
	return nil
}

// flush writes what waits in memory and makes it durable. io is held.
func (s *Store) flush() error {
	if err := s.sync(); err != nil {
		return err
	}
	s.flushed()
	return nil
}

// sync is flush, but what is made durable does not count as known yet.
func (s *Store) sync() error {
	if err := s.write(); err != nil {
		return err
	}
	if fault.On("no-fsync") {
		return nil
	}
	err := s.seg.f.Sync()
	if err != nil && fault.On("flush-again") {
		err = s.seg.f.Sync()
	}
	if err != nil && !fault.On("fsync-error-ignored") {
		return s.fail("flushing a checkpoint", err)
	}
	return nil
}

// flushed notes that all that is written is durable.
func (s *Store) flushed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seg.flushed = s.seg.base
}

// note appends a record in memory. io is held.
func (s *Store) note(kind uint8, id ID, v any) record {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = true
	return s.seg.add(kind, 0, 0, id, encodeRecord(v))
}

// Next returns the smallest id that NextID may return.
func (s *Store) Next() ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next
}

// NextID returns an id that was never returned before, whatever happened to the store in between.
func (s *Store) NextID() (ID, error) {
	for {
		s.mu.Lock()
		id, granted, err := s.next, s.next < s.st.limit, s.err
		if granted && err == nil {
			s.next, s.used = id+1, true
		}
		s.mu.Unlock()
		if granted || err != nil {
			return id, err
		}
		if _, err := s.Grant(id); err != nil {
			return 0, err
		}
	}
}

// Use notes that the ids up to id, which are granted, have been given by someone else: NextID returns larger ones.
func (s *Store) Use(id ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id >= s.next {
		s.next, s.used = id+1, true
	}
}

// Grant makes it certain that no later store returns id from NextID, nor some ids that follow; the first that a later one may
// return is returned.
func (s *Store) Grant(id ID) (limit ID, err error) {
	defer s.io.Unlock()
	if err := s.begin(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	limit = s.st.limit
	s.mu.Unlock()
	if id < limit {
		return limit, nil
	}
	limit = id + idBlock
	s.note(kindIDs, 0, limitRecord{Limit: limit})
	if err := s.flush(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.st.limit = max(s.st.limit, limit)
	return s.st.limit, nil
}

// Append adds a block and returns its name for a manifest. data, in pieces that follow each other, is copied or written
// before it returns. The block is
// durable when a checkpoint that was published after it is; if none comes to name it, it goes with its segment.
func (s *Store) Append(kind uint8, data ...[]byte) (Ref, error) {
	n := 0
	for _, p := range data {
		n += len(p)
	}
	if n > s.o.BufferBytes {
		return s.appendLarge(kind, n, data)
	}
	s.mu.Lock()
	if s.found != nil {
		s.mu.Unlock()
		if err := s.Secure(); err != nil {
			return Ref{}, err
		}
		s.mu.Lock()
	}
	if s.err != nil {
		defer s.mu.Unlock()
		return Ref{}, s.err
	}
	s.used = true
	r := s.seg.add(kindBlock, kind, 0, 0, data...).ref(s.seg.id)
	full := len(s.seg.buf) > s.o.BufferBytes
	s.mu.Unlock()
	if full {
		defer s.io.Unlock()
		if err := s.begin(); err != nil {
			return Ref{}, err
		}
		if err := s.write(); err != nil {
			return Ref{}, err
		}
	}
	return r, nil
}

// appendLarge writes a block of n bytes without copying it. Each piece is summed up just before it is written, while it is
// in the cache anyway; so the header, which stands before them, is written once more at the end.
func (s *Store) appendLarge(kind uint8, n int, data [][]byte) (Ref, error) {
	defer s.io.Unlock()
	if err := s.begin(); err != nil {
		return Ref{}, err
	}
	s.mu.Lock()
	t := s.seg
	s.used = true
	r := record{off: t.end(), kind: kindBlock, sub: kind, length: int64(n), flushed: t.flushed}
	t.buf = r.appendHeader(t.buf, t.id)
	p, off := t.take()
	t.base = r.end()
	s.mu.Unlock()
	_, err := t.f.WriteAt(p, off)
	sum := xxh3.New()
	off = r.off + headerBytes
	for i := 0; i < len(data) && err == nil; i++ {
		sum.Write(data[i])
		_, err = t.f.WriteAt(data[i], off)
		off += int64(len(data[i]))
	}
	if n := r.end() - off; err == nil && n > 0 {
		_, err = t.f.WriteAt(zeros[:n], off)
	}
	if r.sum = sum.Sum64(); err == nil {
		_, err = t.f.WriteAt(r.appendHeader(p[:0], t.id), r.off)
	}
	if err != nil {
		return Ref{}, s.fail("writing a checkpoint", err)
	}
	t.begun = disk.Begin(t.f, max(t.begun, t.flushed), r.end())
	s.mu.Lock()
	t.give(p, s.o.BufferBytes)
	s.mu.Unlock()
	return r.ref(t.id), nil
}

// Close flushes what was noted and gives the folder up.
func (s *Store) Close() error {
	s.io.Lock()
	defer s.io.Unlock()
	s.mu.Lock()
	err := s.err
	s.mu.Unlock()
	if err == errClosed {
		return nil
	}
	if err == nil {
		err = s.finish()
	}
	s.release()
	s.mu.Lock()
	s.err = errClosed
	s.mu.Unlock()
	return err
}

// finish ends the segment.
func (s *Store) finish() error {
	if s.found != nil {
		if !s.used { // as if it had never been opened
			return nil
		}
		if err := s.secure(s.found); err != nil {
			return err
		}
	}
	if s.ahead != nil {
		s.ahead.f.Close()
		s.fs.Remove(s.ahead.path)
	}
	if !s.used && s.home != 0 {
		return s.fs.Remove(s.seg.path)
	}
	s.mu.Lock()
	next := s.next
	s.mu.Unlock()
	s.note(kindEnd, 0, limitRecord{Limit: next})
	if err := s.write(); err != nil {
		return err
	}
	if err := s.seg.f.Truncate(s.seg.base); err != nil {
		return s.fail("closing the checkpoint folder", err)
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.collect(true)
	return nil
}

// release closes the files and gives the lock up.
func (s *Store) release() {
	s.blocks.close()
	if s.seg != nil {
		s.seg.f.Close()
	}
	if s.noted != nil {
		s.noted.Close()
	}
	if f, err := s.fs.Edit(filepath.Join(s.dir, lockName)); err == nil {
		f.Truncate(0)
		f.Close()
	}
	s.unlock()
}
