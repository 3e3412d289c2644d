package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"strconv"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/checkpoint/fault"
)

const lockName = "LOCK"

// Open takes a folder, which is made if it is missing, finds the newest complete checkpoint of its head branch and makes
// it durable. If something is damaged it goes on from Options.From, or from the head if what is damaged leaves no doubt about
// it. Errors: *LockedError if another process holds the folder, *FolderError if it cannot be made or written, *DamageError if
// what is damaged does leave doubt, *NeedsNewer.
func Open(fs disk.FS, dir string, o Options) (*Store, *Recovery, error) {
	o.defaults()
	s := &Store{fs: fs, dir: dir, o: o, blocks: newBlocks(fs, dir), idle: map[uint64]ID{}, cut: map[uint64]bool{}}
	if err := fs.MkdirAll(dir); err != nil {
		return nil, nil, &FolderError{"making the checkpoint folder", err}
	}
	if err := s.lock(); err != nil {
		return nil, nil, err
	}
	s.reached = readReached(fs, dir)
	r, err := s.recover(0)
	if _, damaged := errors.AsType[*DamageError](err); damaged {
		from := o.From
		if from == 0 {
			from = sure(fs, dir)
		}
		if from != 0 {
			r, err = s.recover(from)
		}
	}
	if err == nil && o.Accept != nil {
		err = o.Accept(s, r)
	}
	if err == nil && !o.Late {
		err = s.Secure()
	}
	if err != nil {
		s.release()
		return nil, nil, err
	}
	return s, r, nil
}

// lock takes the folder.
func (s *Store) lock() error {
	l, ok := s.fs.(disk.Locker)
	if !ok {
		return errors.New("checkpoint: the file system cannot lock files")
	}
	name := filepath.Join(s.dir, lockName)
	unlock, err := l.Lock(name)
	if errors.Is(err, disk.ErrLocked) {
		owner, _ := readOwner(s.fs, s.dir)
		return &LockedError{Dir: s.dir, Owner: owner}
	}
	if err != nil {
		return &FolderError{"locking the checkpoint folder", err}
	}
	s.unlock = unlock
	p, err := json.Marshal(s.o.Owner)
	if err == nil {
		var f disk.File
		if f, err = s.fs.Edit(name); err == nil {
			if err = f.Truncate(0); err == nil {
				_, err = f.WriteAt(append(p, '\n'), 0)
			}
			f.Close()
		}
	}
	if err != nil {
		s.unlock()
		return &FolderError{"locking the checkpoint folder", err}
	}
	return nil
}

// readOwner returns who has locked a folder, if that is known.
func readOwner(fs disk.FS, dir string) (o Owner, ok bool) {
	f, err := openPlain(fs, filepath.Join(dir, lockName))
	if err != nil {
		return o, false
	}
	defer f.Close()
	p, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil || json.Unmarshal(p, &o) != nil {
		return Owner{}, false
	}
	return o, o.PID != 0
}

// recover reads what is there and begins a segment of its own, with all that counts. from, if not 0, becomes the head of a
// folder that is damaged.
func (s *Store) recover(from ID) (*Recovery, error) {
	f, err := find(s.fs, s.dir, s.o.CheckOutput, from != 0)
	if err != nil {
		return nil, err
	}
	s.found, s.st, s.home, s.next = f, f.state, f.home, f.limit
	if fault.On("reuse-id") {
		s.next = f.last
	}
	if f.home != 0 {
		f.extents[f.home] = f.end
	}
	r := &Recovery{LeftOut: f.leftOut, Damage: f.damage, Fresh: len(s.st.entries) == 0}
	if from != 0 {
		if err := s.from(from); err != nil {
			return nil, err
		}
	}
	if e := s.st.entries[s.st.head]; e != nil {
		r.Info = s.st.info(s.st.head)
		if r.Newest, err = readManifest(s.blocks.read, e.manifest, e.info.ID, e.info.Name); err != nil {
			return nil, err
		}
		if err := s.whole(r.Newest, false); err != nil {
			return nil, err
		}
	}
	s.used = from != 0 || len(f.leftOut) > 0 || len(f.damage) > 0
	return r, nil
}

// secure makes durable what was found, and begins a segment with all that counts. io is held.
func (s *Store) secure(f *found) error {
	if fault.On("not-secured") {
		f.home, f.outputs = 0, nil
	}
	if e := s.st.entries[s.st.head]; len(f.segments) == 0 || e != nil && e.info.Foreign && !fault.On("fork-unrooted") { // the folder may have been made just now
		if err := syncPath(s.fs, s.dir); err != nil {
			return s.fail("making the checkpoint folder", err)
		}
	}
	if err := s.keepAll(f); err != nil {
		return s.fail("making the newest checkpoint durable", err)
	}
	epoch := uint64(0)
	if n := len(f.segments); n > 0 {
		epoch = f.segments[n-1] >> 20
	}
	if err := s.start(epoch + 1); err != nil {
		return err
	}
	s.sweep(f.segments)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found = nil
	return nil
}

// start begins the first segment of an epoch, with all that counts, and makes it durable.
func (s *Store) start(epoch uint64) (err error) {
	copies, err := s.copies()
	if err != nil {
		return err
	}
	s.mu.Lock()
	needed := s.st.needed()
	maps.DeleteFunc(s.st.extents, func(id uint64, _ int64) bool { return !needed[id] && id != s.home })
	s.st.limit += idBlock
	s.mu.Unlock()
	t, err := s.makeTail(segmentID(epoch, 0))
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.addCatalog(t, copies)
	s.seg = t
	s.mu.Unlock()
	if s.o.RoomBytes > 0 {
		if err := s.seg.makeRoom(s.seg.end() + s.o.RoomBytes); err != nil {
			s.fs.Remove(s.seg.path) // nothing is in it yet; on a full disk each attempt would leave one
			return s.fail("beginning a segment of checkpoints", err)
		}
	}
	if err := s.flush(); err != nil {
		return err
	}
	if fault.On("no-folder-fsync") {
		s.seg.add(kindProof, 0, optional, 0, nil)
		return s.write()
	}
	if err := s.fs.SyncDir(s.dir); err != nil {
		return s.fail("beginning a segment of checkpoints", err)
	}
	s.seg.add(kindProof, 0, optional, 0, nil)
	return s.write()
}

// syncPath makes the names of a folder and of those on the way to it durable.
func syncPath(x disk.FS, dir string) error {
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if err := x.SyncDir(d); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
		if d == filepath.Dir(d) {
			return nil
		}
	}
}

// keepAll makes durable what was found, and the outputs that belong to it. As when it was published, the checkpoint may
// come to the disk before its outputs do: nothing is written in the knowledge of it before all have returned.
func (s *Store) keepAll(f *found) error {
	errs := make([]error, 1+len(f.outputs))
	all := []func(){func() { errs[0] = s.keep(f) }}
	if s.o.KeepOutput != nil {
		for i, x := range f.outputs {
			all = append(all, func() { errs[1+i] = s.o.KeepOutput(x) })
		}
	}
	s.o.Together(all)
	return errors.Join(errs...)
}

// keep makes durable what was found: a process that was killed may have left it in the cache of the system only. It is
// written once more, for the system gives up pages that it failed to write, and a flush does not try them again.
func (s *Store) keep(f *found) error {
	if f.home == 0 {
		return nil
	}
	path := s.blocks.path(f.home)
	file, err := s.fs.Edit(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if f.loose { // else the flush would write it, and there may be much
		err = file.Truncate(f.end)
	}
	off := f.flushed / page * page
	buf := make([]byte, min(1<<20, max(f.end-off, 0)))
	for off < f.end && err == nil {
		var n int
		n, err = file.ReadAt(buf[:min(int64(len(buf)), f.end-off)], off)
		if n > 0 {
			_, err = file.WriteAt(buf[:n], off)
		}
		off += int64(n)
	}
	if err == nil {
		err = file.Sync()
	}
	return err
}

// from makes a checkpoint the head, of a folder that may be damaged elsewhere.
func (s *Store) from(id ID) error {
	e := s.st.entries[id]
	if e == nil {
		return noCheckpoint(s.dir, id)
	}
	m, err := readManifest(s.blocks.read, e.manifest, id, e.info.Name)
	if err != nil {
		return err
	}
	if err := s.whole(m, true); err != nil {
		return err
	}
	if s.st.head != id {
		b := s.st.fork(id)
		s.st.begin(b)
	}
	return nil
}

// whole checks that the segments of a checkpoint are there, or all of its blocks.
func (s *Store) whole(m *Manifest, read bool) error {
	sizes := map[uint64]int64{}
	var failed error
	m.Refs(func(r Ref) {
		if failed != nil {
			return
		}
		if read {
			_, failed = s.blocks.read(r)
			return
		}
		size, known := sizes[r.Segment]
		if !known {
			if info, err := s.fs.Stat(s.blocks.path(r.Segment)); err == nil {
				size = info.Size()
			} else if !errors.Is(err, fs.ErrNotExist) {
				failed = fmt.Errorf("looking for a segment of checkpoint %d: %w", m.ID, err)
				return
			}
			sizes[r.Segment] = size
		}
		if int64(r.Offset+headerBytes+r.Length) > size {
			why := "the file is too short"
			if size == 0 {
				why = "the file is missing"
			}
			failed = &DamageError{Damage: Damage{File: s.blocks.path(r.Segment), Offset: int64(r.Offset), Why: why, Checkpoints: []ID{m.ID}}}
		}
	})
	return failed
}

// sweep removes what nothing needs of what was in the folder before.
func (s *Store) sweep(segments []uint64) {
	needed := s.st.needed()
	for _, id := range segments {
		if !needed[id] && id != s.home {
			s.remove(id)
		}
	}
	entries, err := s.fs.ReadDir(filepath.Join(s.dir, asideDir))
	if err != nil {
		return // there is none
	}
	for _, e := range entries {
		if n, err := strconv.ParseUint(e.Name(), 10, 64); err == nil {
			s.cut[n] = true
		}
	}
}
