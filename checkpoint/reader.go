package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/checkpoint/fault"
)

// Folder reads a folder: it takes no lock, so it works while a job runs, and reads what it can of a damaged folder.
// What it shows is the state of when it was opened; blocks that the owner removes after that are gone (fs.ErrNotExist).
type Folder struct {
	found  *found
	fs     disk.FS
	dir    string
	blocks *blocks
}

// OpenReader reads a folder. Damage is no error: see Damage.
func OpenReader(fs disk.FS, dir string) (*Folder, error) {
	f, err := look(fs, dir)
	if err != nil {
		return nil, err
	}
	if len(f.segments) == 0 {
		return nil, fmt.Errorf("%s holds no checkpoints", dir)
	}
	return &Folder{found: f, fs: fs, dir: dir, blocks: newBlocks(fs, dir)}, nil
}

// look reads the state of a folder that someone else may be writing.
func look(x disk.FS, dir string) (f *found, err error) {
	for range 10 {
		f, err = find(x, dir, nil, true)
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
		if _, gone := x.Stat(dir); gone != nil {
			return nil, fmt.Errorf("there is no checkpoint folder %s", dir)
		}
		// A segment went between the list and the reading.
	}
	return f, err
}

// Damage lists what is damaged, as far as it was seen by opening the folder.
func (f *Folder) Damage() []Damage { return f.found.damage }

// Lost is the error with which a run refuses a folder that no longer tells what checkpoints it held; nil if it tells.
func (f *Folder) Lost() error {
	if lost := f.found.lost(f.dir); lost != nil {
		return lost
	}
	return nil
}

// LeftOut lists what lies at the end of the log and belongs to no published checkpoint; while a job runs, that is what
// it is writing.
func (f *Folder) LeftOut() []LeftOut { return f.found.leftOut }

// Owner returns who holds the folder, if it says so. One that was killed still says so.
func (f *Folder) Owner() (Owner, bool) { return readOwner(f.fs, f.dir) }

// Held reports whether a process has the folder. For a moment it takes it.
func (f *Folder) Held() bool {
	l, ok := f.fs.(disk.Locker)
	if !ok {
		return false
	}
	unlock, err := l.Lock(filepath.Join(f.dir, lockName))
	if err == nil {
		unlock()
	}
	return errors.Is(err, disk.ErrLocked)
}

// List lists the checkpoints that are kept, of all branches, by id.
func (f *Folder) List() []Info { return f.found.list() }

// Head returns the checkpoint that a run goes on from; 0: none.
func (f *Folder) Head() ID { return f.found.head }

// Manifest returns the manifest of a checkpoint; an error if there is none.
func (f *Folder) Manifest(id ID) (*Manifest, error) {
	e := f.found.entries[id]
	if e == nil {
		return nil, noCheckpoint(f.dir, id)
	}
	return readManifest(f.Read, e.manifest, id, e.info.Name)
}

// Nameable checks that a checkpoint may have a name.
func (f *Folder) Nameable(id ID, name string) error { return f.found.nameable(name, id) }

// Read returns the data of a block. A block that is not what was appended is a *DamageError.
func (f *Folder) Read(r Ref) ([]byte, error) { return f.blocks.read(r) }

// Stream returns a reader of blocks that follow each other, for checkpoint id, that reads them while they are loaded: see
// Reader.Check.
func (f *Folder) Stream(id ID, refs []Ref) (*Reader, error) { return f.blocks.reader(id, refs) }

// Close closes the files.
func (f *Folder) Close() error {
	f.blocks.close()
	return nil
}

// Verify reads every byte that a checkpoint needs and returns what is damaged. progress may be nil; it gets bytes read and
// to read.
func (f *Folder) Verify(progress func(done, total int64)) []Damage {
	damage := slices.Clone(f.found.damage)
	add := func(d Damage) {
		if !slices.ContainsFunc(damage, func(o Damage) bool { return o.File == d.File && o.Offset == d.Offset }) {
			damage = append(damage, d)
		}
	}
	var all []*segment
	defer func() {
		for _, s := range all {
			s.close()
		}
	}()
	needed := f.found.needed()
	needed[f.found.home] = true
	delete(needed, 0)
	total := int64(0)
	for id := range needed {
		s, err := openSegment(f.fs, f.dir, id, true)
		if errors.Is(err, fs.ErrNotExist) {
			if now, err := look(f.fs, f.dir); err == nil && (now.needed()[id] || now.home == id) {
				add(Damage{File: f.blocks.path(id), Why: "the file is missing"})
			}
			continue
		}
		if err != nil {
			add(Damage{File: f.blocks.path(id), Why: err.Error()})
			continue
		}
		all = append(all, s)
		total += s.end
	}
	slices.SortFunc(all, func(a, b *segment) int { return int(int64(a.id) - int64(b.id)) })
	done := int64(0)
	for _, s := range all {
		durable := max(s.flushed, f.found.extents[s.id]) // what is behind may be torn, or just being written
		for _, g := range s.gaps {
			if g.off < durable {
				add(s.damage(g.off, g.why).Damage)
			}
		}
		for _, r := range s.recs {
			if err := s.check(r); err != nil && r.off < durable {
				why := err.Error()
				if errors.Is(err, io.ErrUnexpectedEOF) {
					why = "the file is too short"
				}
				add(s.damage(r.off, why).Damage)
			}
			done += headerBytes + padded(r.length)
			if progress != nil {
				progress(min(done, total), total)
			}
		}
	}
	home := f.blocks.path(f.found.home)
	return slices.DeleteFunc(f.blame(damage, all), func(d Damage) bool { // what no checkpoint needs may be as it is
		return d.File != home && len(d.Checkpoints) == 0
	})
}

// sure returns the head of a damaged folder if what is damaged leaves no doubt that it is the head and that it is whole; 0
// if it does.
func sure(x disk.FS, dir string) ID {
	f, err := OpenReader(x, dir)
	if err != nil {
		return 0
	}
	defer f.Close()
	return f.sure()
}

func (f *Folder) sure() ID {
	head := f.found.entries[f.found.head]
	if head == nil {
		return 0
	}
	if _, known := f.found.branches[head.info.Branch]; !known {
		return 0
	}
	home := f.blocks.path(f.found.home)
	for _, d := range f.Verify(nil) {
		switch {
		case slices.Contains(d.Checkpoints, f.found.head):
			return 0
		case d.File == home && (head.manifest.Segment != f.found.home || d.Offset > int64(head.manifest.Offset)):
			return 0 // a later checkpoint, or a rollback, may have stood there
		}
	}
	return f.found.head
}

// blame finds the checkpoints that need what is damaged.
func (f *Folder) blame(damage []Damage, all []*segment) []Damage {
	for _, id := range f.found.ids() {
		e := f.found.entries[id]
		refs := []Ref{e.manifest}
		if m, err := f.Manifest(id); err == nil {
			m.Refs(func(r Ref) { refs = append(refs, r) })
		}
		for i := range damage {
			d := &damage[i]
			end := f.extent(d, all)
			for _, r := range refs {
				if f.blocks.path(r.Segment) == d.File && int64(r.Offset) < end && int64(r.Offset+headerBytes)+padded(int64(r.Length)) > d.Offset {
					d.Checkpoints = append(d.Checkpoints, id)
					break
				}
			}
		}
	}
	return damage
}

// extent returns where damage ends.
func (f *Folder) extent(d *Damage, all []*segment) int64 {
	for _, s := range all {
		if s.path != d.File {
			continue
		}
		for _, g := range s.gaps {
			if g.off == d.Offset {
				return g.end
			}
		}
		return d.Offset + 1
	}
	return 1 << 62 // the file is missing
}

// Fork makes the checkpoint id of folder from the head of folder to, which must not hold one yet, by second names for its
// segments, or copies where the system has no such. The new folder stands by itself; the checkpoint is Info.Foreign in it.
func Fork(x disk.FS, from string, id ID, to string, o Options) error {
	f, err := OpenReader(x, from)
	if err != nil {
		return err
	}
	defer f.Close()
	m, err := f.Manifest(id)
	if err != nil {
		return err
	}
	part := partOf(to)
	o.defaults()
	s := &Store{fs: x, dir: part, o: o, blocks: newBlocks(x, part), idle: map[uint64]ID{}, cut: map[uint64]bool{}, used: true}
	if _, err := x.Stat(to); err == nil {
		if err := x.Remove(to); err != nil {
			return fmt.Errorf("%s is there already and not empty; choose another folder: %w", to, err)
		}
	}
	Remove(x, part)
	if err := x.MkdirAll(part); err != nil {
		return &FolderError{"making the checkpoint folder", err}
	}
	if err := s.lock(); err != nil {
		return err
	}
	if err := f.fork(s, id, m); err != nil {
		s.release()
		return err
	}
	s.release()
	if err := x.Rename(part, to); err != nil {
		return &FolderError{"making the checkpoint folder", err}
	}
	return syncPath(x, to)
}

// partOf names the folder of a fork that is being made or taken back: one that is broken off is none.
func partOf(to string) string { return filepath.Clean(to) + ".part" }

// Unfork takes back what Fork made, which nobody holds.
func Unfork(x disk.FS, to string) error {
	part := partOf(to)
	if err := x.Rename(to, part); err != nil {
		return err
	}
	if err := x.SyncDir(filepath.Dir(part)); err != nil {
		return err
	}
	return Remove(x, part)
}

func (f *Folder) fork(s *Store, id ID, m *Manifest) error {
	e := newEntry(m, f.found.entries[id].manifest)
	e.info = f.found.entries[id].info
	e.info.Foreign, e.info.Finished = !fault.On("own-foreign"), false
	from := e.manifest.Segment // of the manifest; a copy goes to the new segment
	for _, n := range append([]uint64{from}, e.needs...) {
		if err := share(f.fs, f.blocks.path(n), s.blocks.path(n)); err != nil {
			return err
		}
	}
	s.st = newState()
	s.st.branches, s.st.branch = map[uint64]branchRecord{m.Branch: {Number: m.Branch}}, m.Branch
	s.st.publish(e)
	s.st.limit, s.next = f.found.limit, f.found.limit
	for _, n := range e.needs {
		s.st.extents[n] = f.found.extents[n]
		if n == f.found.home {
			s.st.extents[n] = f.found.end
		}
	}
	if err := s.start(f.found.segments[len(f.found.segments)-1]>>20 + 1); err != nil {
		return err
	}
	if !slices.Contains(e.needs, from) {
		s.remove(from)
	}
	return s.finish()
}

// share gives a file a second name, or copies it, and makes its content durable.
func share(x disk.FS, from, to string) (err error) {
	if _, err := x.Stat(to); err == nil {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("sharing %s with a new checkpoint folder: %w", filepath.Base(from), err)
		}
	}()
	if x.Link(from, to) != nil {
		in, err := openPlain(x, from)
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := x.Create(to)
		if err != nil {
			return err
		}
		defer out.Close()
		if _, err := io.Copy(out, in); err != nil {
			return err
		}
		return out.Sync()
	}
	f, err := x.Edit(to)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
