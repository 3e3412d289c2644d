package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/zeebo/xxh3"
)

// stream reads blocks that follow each other from front to end. What is read of a block is not checked before its end was
// read.
type stream struct {
	b    *blocks
	ref  Ref
	at   uint64 // bytes of its data that were read
	rest []Ref  // the blocks behind it
	size int64  // of those
	sum  *xxh3.Hasher
	err  error

	room []byte // memory of the bytes at hand of a Reader
	lent bool   // somebody may hold a part of it
}

const (
	streamBytes = 256 << 10 // that a Reader reads at a time
	fillBytes   = 16 << 10  // so many and more go straight to where they belong
)

// stream begins to read blocks.
func (b *blocks) stream(refs ...Ref) (*stream, error) {
	s := &stream{b: b, rest: refs, size: Bytes(refs), sum: xxh3.New()}
	b.mu.Lock()
	many := len(b.files) >= openFiles
	b.mu.Unlock()
	if many {
		b.close()
	}
	return s, s.next()
}

// next goes on to the next block, if there is one; one that is empty is read at once.
func (s *stream) next() error {
	for s.at == s.ref.Length && len(s.rest) > 0 && s.err == nil {
		s.ref, s.rest, s.at = s.rest[0], s.rest[1:], 0
		s.size -= int64(s.ref.Length)
		s.sum.Reset()
		var head [headerBytes]byte
		if s.err = s.from(0, head[:]); s.err != nil {
			break
		}
		if h, ok := parseHeader(head[:], s.ref.Segment, int64(s.ref.Offset)); !ok || h.ref(s.ref.Segment) != s.ref {
			s.err = s.damage(errors.New("there is another record or none"))
			break
		}
		s.check()
	}
	return s.err
}

func (s *stream) left() int { return int(s.ref.Length-s.at) + int(s.size) }

// read fills p, for which there are bytes enough, and with the last of a block checks that.
func (s *stream) read(p []byte) error {
	for len(p) > 0 && s.err == nil {
		q := p[:min(uint64(len(p)), s.ref.Length-s.at)]
		if s.err = s.from(headerBytes+s.at, q); s.err != nil {
			break
		}
		s.sum.Write(q)
		s.at += uint64(len(q))
		p = p[len(q):]
		s.check()
		s.next()
	}
	return s.err
}

// check checks a block of which all was read.
func (s *stream) check() {
	if s.at == s.ref.Length && s.sum.Sum64() != s.ref.Sum {
		s.err = s.damage(errSum)
	}
}

// from fills p from a place of the record.
func (s *stream) from(at uint64, p []byte) error {
	s.b.use.RLock()
	defer s.b.use.RUnlock()
	f, err := s.b.file(s.ref.Segment)
	if errors.Is(err, fs.ErrNotExist) {
		return s.damage(fmt.Errorf("the file is missing: %w", fs.ErrNotExist))
	}
	if err == nil && at == 0 {
		err = s.fits(f)
	}
	if err == nil {
		_, err = f.ReadAt(p, int64(s.ref.Offset+at))
	}
	var damage *DamageError
	if err == nil || errors.As(err, &damage) {
		return err
	}
	return fmt.Errorf("reading a block of a checkpoint: %w", err)
}

// fits checks that the file is long enough.
func (s *stream) fits(f disk.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := uint64(info.Size())
	if r := s.ref; r.Offset > size || r.Length > size || r.Offset+headerBytes+r.Length > size {
		return s.damage(errors.New("the file is too short"))
	}
	return nil
}

func (s *stream) damage(err error) error {
	return &DamageError{Damage: Damage{File: s.b.path(s.ref.Segment), Offset: int64(s.ref.Offset), Why: err.Error()}, Err: err}
}

// need sees to it that n bytes are at hand, or all that are left.
func (r *Reader) need(n int) {
	if n <= len(r.buf) || r.more == nil || r.err != nil {
		return
	}
	s := r.more
	size := min(max(n, streamBytes), r.Left())
	room := s.room
	if s.lent || cap(room) < size {
		room, s.lent = Memory[byte](size), false
	}
	room = room[:size]
	have := copy(room, r.buf)
	r.buf, s.room = room, room
	if have < size {
		if err := s.read(room[have:]); err != nil {
			r.fail(err)
		}
	}
}

// lend tells that the bytes at hand are not to be written over.
func (r *Reader) lend() {
	if r.more != nil {
		r.more.lent = true
	}
}

// Check returns err, with which reading has ended, unless it comes of damage: then that. What a Reader of a stream has
// given out may be anything until Done returns nil.
func (r *Reader) Check(err error) error {
	if err == nil || r.more == nil {
		return err
	}
	var room [4 << 10]byte
	for r.more.err == nil && r.more.left() > 0 {
		r.more.read(room[:min(len(room), r.more.left())])
	}
	if r.more.err != nil {
		return r.more.err
	}
	return err
}
