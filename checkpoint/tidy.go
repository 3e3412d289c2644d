package checkpoint

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/checkpoint/fault"
)

// Tidy does what is not urgent: it makes the next segment ahead of need, changes to it, removes segments that nothing
// needs and carries out requests of other processes (see RequestDelete). Call it after each Commit.
func (s *Store) Tidy() error {
	defer s.io.Unlock()
	if err := s.begin(); err != nil {
		return err
	}
	if err := s.requests(); err != nil {
		return err
	}
	s.collect(false)
	s.mu.Lock()
	end := s.seg.end() - s.seg.first
	s.mu.Unlock()
	if end > s.o.SegmentBytes/2 && s.ahead == nil {
		if err := s.makeAhead(); err != nil {
			return err
		}
	}
	if end > s.o.SegmentBytes {
		if err := s.rotate(); err != nil {
			return err
		}
	}
	return s.room()
}

// requests carries out what other processes have asked for.
func (s *Store) requests() error {
	entries, err := s.fs.ReadDir(s.dir)
	if err != nil {
		return nil // not worth to end a run
	}
	for _, e := range entries {
		var err error
		if number, ok := strings.CutPrefix(e.Name(), deletePrefix); ok {
			if id, bad := strconv.ParseUint(number, 10, 64); bad == nil && s.st.entries[ID(id)] != nil && s.st.head != ID(id) {
				err = s.delete(ID(id))
			}
		} else if text, ok := strings.CutPrefix(e.Name(), namePrefix); ok {
			number, name, _ := strings.Cut(text, "-")
			if id, bad := strconv.ParseUint(number, 10, 64); bad == nil && s.nameable(ID(id), name) == nil {
				err = s.name(ID(id), name)
			}
		} else {
			continue
		}
		if err != nil {
			return err
		}
		s.fs.Remove(filepath.Join(s.dir, e.Name()))
	}
	return nil
}

// Requests are empty files whose names say it all, so that none is read half written.
const (
	deletePrefix = "delete-"
	namePrefix   = "name-"
)

// RequestDelete asks the owner of a folder to delete a checkpoint; it does so at its next Tidy.
func RequestDelete(fs disk.FS, dir string, id ID) error {
	return request(fs, dir, deletePrefix+strconv.FormatUint(uint64(id), 10))
}

// RequestName asks the owner of a folder to name a checkpoint, see Store.Name; it does so at its next Tidy, unless the name
// will not do, see Folder.Nameable.
func RequestName(fs disk.FS, dir string, id ID, name string) error {
	return request(fs, dir, namePrefix+strconv.FormatUint(uint64(id), 10)+"-"+name)
}

func request(fs disk.FS, dir, name string) error {
	f, err := fs.Create(filepath.Join(dir, name))
	if err != nil {
		return fmt.Errorf("asking the job on %s: %w", dir, err)
	}
	return f.Close()
}

// makeTail makes a segment; its header waits in memory.
func (s *Store) makeTail(id uint64) (*tail, error) {
	t := &tail{id: id, path: s.blocks.path(id)}
	f, err := s.fs.Create(t.path)
	if err != nil {
		return nil, s.fail("making a segment of checkpoints", err)
	}
	t.f = f
	t.add(kindHeader, 0, 0, 0, encodeRecord(headerRecord{Format: Version, MinReader: Version, Limit: s.st.limit}))
	return t, nil
}

// makeAhead makes the next segment, durable but for what is still to come.
func (s *Store) makeAhead() error {
	t, err := s.makeTail(s.seg.id + 1)
	if err != nil {
		return err
	}
	p, off := t.take()
	_, err = t.f.WriteAt(p, off)
	if err == nil && s.o.RoomBytes > 0 {
		err = t.makeRoom(t.base + s.o.RoomBytes)
	}
	if err == nil {
		err = t.f.Sync()
	}
	if err == nil {
		err = s.fs.SyncDir(s.dir)
	}
	if err != nil {
		t.f.Close()
		s.fs.Remove(t.path)
		return s.fail("making a segment of checkpoints", err)
	}
	t.flushed = t.base
	s.ahead = t
	return nil
}

// rotate goes over to the next segment. What waits for the old one is written and flushed before anything is written to
// the new one, whose catalog says that it is durable.
func (s *Store) rotate() error {
	if err := s.write(); err != nil {
		return err
	}
	copies, err := s.copies()
	if err != nil {
		return err
	}
	s.mu.Lock()
	old := s.seg
	s.st.extents[old.id] = old.end()
	s.seg, s.ahead = s.ahead, nil
	s.addCatalog(s.seg, copies)
	s.mu.Unlock()
	p, off := old.take()
	_, err = old.f.WriteAt(p, off)
	if err == nil && !fault.On("rotate-unflushed") {
		err = old.f.Sync()
	}
	if err != nil {
		return s.fail("flushing a segment of checkpoints", err)
	}
	old.f.Close() // the zeros at its end do no harm
	return nil
}

// copies reads the manifests of all checkpoints as they stand.
func (s *Store) copies() (map[ID][]byte, error) {
	out := map[ID][]byte{}
	for id, e := range s.st.entries {
		p, err := s.blocks.read(e.manifest)
		if err != nil {
			return nil, s.fail("copying a manifest", err)
		}
		out[id] = p
	}
	return out, nil
}

// addCatalog adds copies of all manifests and the catalog. mu is held, or the store is not in use yet.
func (s *Store) addCatalog(t *tail, copies map[ID][]byte) {
	at := map[ID]int64{}
	for _, id := range s.st.ids() {
		r := t.add(kindCopy, 0, 0, id, copies[id])
		at[id] = r.off
		s.st.entries[id].manifest = r.ref(t.id)
	}
	t.add(kindCatalog, 0, 0, 0, encodeRecord(s.st.catalog(at)))
	t.pad()
	t.first = t.end()
}

// collect removes segments and folders that nothing needs any more, or with all: but for checkpoints to come.
func (s *Store) collect(all bool) {
	s.mu.Lock()
	needed := s.st.needed()
	var gone []uint64
	for id := range s.st.extents {
		// A checkpoint that is not published yet may name blocks of it: those it appended before the segment changed, and those
		// of a parent that was dropped since then. So it goes when one is published that was begun after nothing needed it any
		// more; with that, what says so is durable, too.
		idle, known := s.idle[id]
		switch {
		case needed[id] && !fault.On("delete-needed"):
			delete(s.idle, id)
		case all || known && s.st.last >= idle || fault.On("collect-early"):
			gone = append(gone, id)
		case !known:
			s.idle[id] = s.next
		}
	}
	asides := s.st.asides()
	var cut []uint64
	for n := range s.cut {
		if !slices.Contains(asides, n) {
			cut = append(cut, n)
		}
	}
	s.mu.Unlock()
	slices.Sort(gone)
	for _, id := range gone {
		s.remove(id)
	}
	slices.Sort(cut)
	for _, n := range cut {
		Remove(s.fs, s.aside(n))
		if _, err := s.fs.Stat(s.aside(n)); err != nil {
			delete(s.cut, n)
		}
	}
}

// remove removes a segment. One that cannot be removed now is tried again later.
func (s *Store) remove(id uint64) {
	s.blocks.forget(id)
	s.fs.Remove(s.blocks.path(id))
	if _, err := s.fs.Stat(s.blocks.path(id)); err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.st.extents, id)
	delete(s.idle, id)
	if s.home == id {
		s.home = 0
	}
}

// Remove removes a folder that nobody holds, with all that is in it.
func Remove(fs disk.FS, dir string) error {
	entries, err := fs.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if e.IsDir() {
			err = Remove(fs, name)
		} else {
			err = fs.Remove(name)
		}
		if err != nil {
			return err
		}
	}
	return fs.Remove(dir)
}

// Checkpoints of up to mostRoomed times Options.RoomBytes find room for them, which is made for roomFor of the size of the
// last one at a time.
const (
	mostRoomed = 4
	roomFor    = 4
)

// room makes zeros ahead of the next checkpoints. For large ones it is not worth it: they would be written twice, and writing
// the journal is little beside them.
func (s *Store) room() error {
	if s.o.RoomBytes < 0 || s.size > mostRoomed*s.o.RoomBytes || s.seg.room >= s.seg.base+2*s.size+page {
		return nil
	}
	if err := s.write(); err != nil {
		return err
	}
	if err := s.seg.makeRoom(s.seg.base + max(s.o.RoomBytes, roomFor*s.size)); err != nil {
		return s.fail("making room for checkpoints", err)
	}
	return s.flush()
}
