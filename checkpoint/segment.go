package checkpoint

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/zeebo/xxh3"
)

// A segment is a file of records, only ever appended to, by one process: EPOCH-NNN.seg. Each start of a process is an
// epoch. A record is a header of headerBytes, data, and zeros up to a multiple of 8:
//
//	 0 magic    4 bytes
//	 4 kind     1   see the constants
//	 5 sub      1   kind of a block, given by the one who appended it
//	 6 flags    2
//	 8 length   8   of the data
//	16 flushed  8   the segment was known to be durable up to here when the record was made
//	24 id       8   checkpoint, 0 if it belongs to none
//	32 sum      8   xxh3 of the data
//	40 head     8   xxh3 of the 40 bytes before, seeded by segment and offset
//
// All numbers are little endian. Behind the last record there may be zeros.
const (
	headerBytes = 48
	magic       = 0x52626245 // "EbbR"
)

// Kinds of records.
const (
	kindHeader   = 1 + iota // first of a segment
	kindCatalog             // the state of the store as a whole; what stands before it no longer counts
	kindBlock               // data
	kindManifest            // a checkpoint is published
	kindCopy                // manifest of an older checkpoint, named by the catalog behind it
	kindCommit
	kindBranch
	kindName
	kindDrop
	kindIDs   // more ids may be given
	kindEnd   // the segment was closed
	kindPad   // makes room up to a page
	kindProof // nothing but its flushed
)

// optional marks a record that a reader may skip if it does not know its kind.
const optional = 1

// page is the unit in which disks and caches write. What is published ends on a page of its own, so that no later write
// touches it.
const page = 4096

// segmentID makes the number of a segment, by which they are in order.
func segmentID(epoch, number uint64) uint64 { return epoch<<20 | number }

func segmentName(id uint64) string { return fmt.Sprintf("%04d-%03d.seg", id>>20, id&(1<<20-1)) }

func parseSegment(name string) (uint64, bool) {
	var epoch, number uint64
	if n, err := fmt.Sscanf(name, "%d-%d.seg", &epoch, &number); n != 2 || err != nil || epoch >= 1<<43 || number >= 1<<20 {
		return 0, false
	}
	id := segmentID(epoch, number)
	return id, name == segmentName(id)
}

// listSegments returns the numbers of the segments of a folder, in order.
func listSegments(fs disk.FS, dir string) ([]uint64, error) {
	entries, err := fs.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("listing checkpoint folder: %w", err)
	}
	var out []uint64
	for _, e := range entries {
		if id, ok := parseSegment(e.Name()); ok && !e.IsDir() {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out, nil
}

// record is a header, and where it stands.
type record struct {
	off     int64
	kind    uint8
	sub     uint8
	flags   uint16
	length  int64
	flushed int64
	id      ID
	sum     uint64
}

func padded(n int64) int64 { return (n + 7) &^ 7 }

// end returns where the record behind it begins.
func (r record) end() int64 { return r.off + headerBytes + padded(r.length) }

// ref names the record's data.
func (r record) ref(segment uint64) Ref {
	return Ref{Segment: segment, Offset: uint64(r.off), Length: uint64(r.length), Sum: r.sum, Kind: r.sub}
}

// appendHeader appends the header as it stands in the segment.
func (r record) appendHeader(p []byte, segment uint64) []byte {
	at := len(p)
	p = binary.LittleEndian.AppendUint32(p, magic)
	p = append(p, r.kind, r.sub)
	p = binary.LittleEndian.AppendUint16(p, r.flags)
	p = binary.LittleEndian.AppendUint64(p, uint64(r.length))
	p = binary.LittleEndian.AppendUint64(p, uint64(r.flushed))
	p = binary.LittleEndian.AppendUint64(p, uint64(r.id))
	p = binary.LittleEndian.AppendUint64(p, r.sum)
	return binary.LittleEndian.AppendUint64(p, headSum(p[at:], segment, r.off))
}

func headSum(p []byte, segment uint64, off int64) uint64 {
	return xxh3.HashSeed(p, segment*0x9e3779b97f4a7c15^uint64(off))
}

// parseHeader reads a header. ok is false if there is none at this place of this segment.
func parseHeader(p []byte, segment uint64, off int64) (r record, ok bool) {
	if len(p) < headerBytes || binary.LittleEndian.Uint32(p) != magic || binary.LittleEndian.Uint64(p[40:]) != headSum(p[:40], segment, off) {
		return r, false
	}
	length, flushed := binary.LittleEndian.Uint64(p[8:]), binary.LittleEndian.Uint64(p[16:])
	if length > 1<<48 || flushed > 1<<48 {
		return r, false
	}
	return record{off: off, kind: p[4], sub: p[5], flags: binary.LittleEndian.Uint16(p[6:]), length: int64(length), flushed: int64(flushed),
		id: ID(binary.LittleEndian.Uint64(p[24:])), sum: binary.LittleEndian.Uint64(p[32:])}, true
}

// gap is a run of bytes of a segment that are no records.
type gap struct {
	off, end int64
	why      string
}

// segment is what a file holds, as far as its headers tell.
type segment struct {
	id   uint64
	path string
	f    disk.File
	size int64

	recs    []record // in order; blocks only where it is not known that they are durable, unless all were asked for
	gaps    []gap    // runs that are no records; zeros at the end are none
	end     int64    // of the last record
	flushed int64    // the segment is known to be durable up to here
}

// openSegment reads the headers of a segment. Bytes that make no sense are no error but gaps.
func openSegment(fs disk.FS, dir string, id uint64, all bool) (*segment, error) {
	s := &segment{id: id, path: filepath.Join(dir, segmentName(id))}
	f, err := openPlain(fs, s.path)
	if err != nil {
		return nil, fmt.Errorf("opening a segment of checkpoints: %w", err)
	}
	s.f = f
	info, err := f.Stat()
	if err == nil {
		s.size = info.Size()
		err = s.scan(all)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("reading a segment of checkpoints: %w", err)
	}
	return s, nil
}

func (s *segment) close() { s.f.Close() }

// scan goes from header to header; where there is none it looks for the next one.
func (s *segment) scan(all bool) error {
	w := &window{f: s.f, size: s.size, room: make([]byte, max(min(s.size, 256<<10), headerBytes))}
	var blocks []record
	for off := int64(0); off < s.size; {
		p, err := w.at(off, headerBytes)
		if err != nil {
			return err
		}
		r, ok := parseHeader(p, s.id, off)
		if ok && r.end() <= s.size {
			if r.flushed > s.flushed {
				s.flushed = r.flushed
				if !all {
					blocks = slices.DeleteFunc(blocks, func(r record) bool { return r.end() <= s.flushed })
				}
			}
			if r.kind == kindBlock {
				blocks = append(blocks, r)
			} else {
				s.recs = append(s.recs, r)
			}
			off = r.end()
			s.end = off
			continue
		}
		g := gap{off: off, why: "there is no record"}
		if ok {
			g.why = "the record ends behind the end of the file"
		}
		zero := false
		if g.end, zero, err = w.next(s.id, off); err != nil {
			return err
		}
		if !zero || g.end < s.size {
			s.gaps = append(s.gaps, g)
		}
		off = g.end
	}
	s.recs = append(s.recs, blocks...)
	slices.SortFunc(s.recs, func(a, b record) int { return cmp.Compare(a.off, b.off) })
	return nil
}

// named returns where the last record before off ends that is no block: blocks behind it are of a checkpoint that was
// never published, so nobody names them. What is durable is not looked at.
func (s *segment) named(off int64) int64 {
	at := s.flushed
	for _, r := range s.recs {
		if r.off < off && r.kind != kindBlock {
			at = max(at, r.end())
		}
	}
	return at
}

// data reads the data of a record and checks it; errSum if it is not what was written.
func (s *segment) data(r record) ([]byte, error) {
	p := make([]byte, r.length) // at most the size of the file
	if _, err := s.f.ReadAt(p, r.off+headerBytes); err != nil && (err != io.EOF || r.length > 0) {
		return nil, fmt.Errorf("reading a segment of checkpoints: %w", err)
	}
	if xxh3.Hash(p) != r.sum {
		return nil, errSum
	}
	return p, nil
}

// check reads and checks the data of a record without keeping it.
func (s *segment) check(r record) error {
	h := xxh3.New()
	if _, err := io.Copy(h, io.NewSectionReader(s.f, r.off+headerBytes, r.length)); err != nil {
		return fmt.Errorf("reading a segment of checkpoints: %w", err)
	}
	if h.Sum64() != r.sum {
		return errSum
	}
	return nil
}

var errSum = errors.New("the checksum does not fit")

// window reads a file forward, a piece at a time.
type window struct {
	f    io.ReaderAt
	size int64
	off  int64
	buf  []byte
	room []byte
}

// at returns up to n bytes at off, fewer only at the end of the file.
func (w *window) at(off int64, n int) ([]byte, error) {
	if off < w.off || off+int64(n) > w.off+int64(len(w.buf)) {
		k := min(int64(len(w.room)), w.size-off)
		got, err := w.f.ReadAt(w.room[:k], off)
		if err != nil && err != io.EOF {
			return nil, err
		}
		w.off, w.buf = off, w.room[:got]
	}
	p := w.buf[off-w.off:]
	return p[:min(n, len(p))], nil
}

// next returns the offset of the first header behind off, else the size of the file, and whether all bytes up to there
// are zero.
func (w *window) next(segment uint64, off int64) (at int64, zero bool, err error) {
	zero = true
	for from := off; from < w.size; {
		p, err := w.at(from, len(w.room))
		if err != nil {
			return 0, false, err
		}
		if len(p) < 8 {
			return w.size, zero && len(bytes.Trim(p, "\x00")) == 0, nil
		}
		i := 0
		for ; i+8 <= len(p); i += 8 {
			v := binary.LittleEndian.Uint64(p[i:])
			zero = zero && v == 0
			if uint32(v) != magic || from+int64(i) == off {
				continue
			}
			if len(p)-i < headerBytes && i > 0 {
				break // read on from here
			}
			if _, ok := parseHeader(p[i:], segment, from+int64(i)); ok {
				return from + int64(i), zero, nil
			}
		}
		from += int64(i)
	}
	return w.size, zero, nil
}

// damage returns the error for a misfit at off.
func (s *segment) damage(off int64, why string) *DamageError {
	return &DamageError{Damage: Damage{File: s.path, Offset: off, Why: why}}
}

// misfit returns the error for a record that cannot be read because of err.
func (s *segment) misfit(r record, err error) error {
	var newer *NeedsNewer
	if errors.As(err, &newer) {
		return fmt.Errorf("checkpoint folder: %s cannot be read: %w", s.path, err)
	}
	return s.damage(r.off, err.Error())
}
