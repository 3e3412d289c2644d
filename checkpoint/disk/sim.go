package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Sim is a file system in memory that knows what is durable. A crash may lose whatever was not flushed: of the content of
// a file any of its sectors, each in any state it had since the last Sync, and its change of size; of a folder the
// changes of names since the last SyncDir, from some point on. Its folders are made by MkdirAll as elsewhere; the root
// and the working folder are the same. It may be used by several goroutines.
type Sim struct {
	// Before is called before each call that changes something, with "create", "append", "edit", "write", "truncate",
	// "sync", "rename", "remove", "link", "mkdir" or "syncdir", and the name of the file or folder. If it returns an error,
	// the call fails with it and changes nothing, but: after a failed sync it is open whether what was written before
	// reached the disk, and a later sync does not try again (as Linux does); a failed write may be a *Partial one. Set it
	// before the Sim is used; it may call methods of the Sim.
	Before func(op, name string) error

	mu    sync.Mutex
	root  *node
	made  uint64 // nodes made, for their numbers
	tick  int64  // changes made: the time of the next one
	pair  int    // renames between folders
	locks map[*node]bool
}

var (
	_ FS     = (*Sim)(nil)
	_ Locker = (*Sim)(nil)
)

// Partial is an error for Before: a write that writes its first N bytes and then fails.
type Partial struct {
	N   int
	Err error
}

func (p *Partial) Error() string { return p.Err.Error() }
func (p *Partial) Unwrap() error { return p.Err }

// NewSim returns an empty file system.
func NewSim() *Sim {
	s := &Sim{locks: map[*node]bool{}}
	s.root = s.node(true)
	return s
}

// node is a file or a folder.
type node struct {
	number uint64
	dir    bool
	mod    int64
	content
	names
}

func (s *Sim) node(dir bool) *node {
	s.made++
	n := &node{number: s.made, dir: dir, mod: s.now()}
	if dir {
		n.cur, n.kept = map[string]*node{}, map[string]*node{}
	}
	return n
}

func (s *Sim) now() int64 {
	s.tick++
	return s.tick
}

// Crash returns what may be left after the machine failed now; rng decides what is lost. Locks are free. s stays as it is.
func (s *Sim) Crash(rng *rand.Rand) *Sim { return s.copy(rng) }

// Kill returns what is left after the process was killed now: everything, durable or not as before. Locks are free.
// s stays as it is.
func (s *Sim) Kill() *Sim { return s.copy(nil) }

func (s *Sim) copy(rng *rand.Rand) *Sim {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &Sim{made: s.made, tick: s.tick, pair: s.pair, locks: map[*node]bool{}}
	c := &copier{rng: rng, done: map[*node]*node{}, cuts: map[*node]int{}}
	if rng != nil {
		c.cut(s.root)
	}
	out.root = c.node(s.root)
	return out
}

// parts splits a name into the names on the way to it.
func parts(name string) []string {
	name = strings.Trim(filepath.ToSlash(filepath.Clean("/"+name)), "/")
	if name == "" {
		return nil
	}
	return strings.Split(name, "/")
}

// find returns the node of that name.
func (s *Sim) find(op, name string) (*node, error) {
	n := s.root
	for _, p := range parts(name) {
		if !n.dir {
			return nil, &fs.PathError{Op: op, Path: name, Err: syscall.ENOTDIR}
		}
		if n = n.cur[p]; n == nil {
			return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
		}
	}
	return n, nil
}

// folder returns the folder that holds name, and what it is called there.
func (s *Sim) folder(op, name string) (*node, string, error) {
	ps := parts(name)
	if len(ps) == 0 {
		return nil, "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	d, err := s.find(op, strings.Join(ps[:len(ps)-1], "/"))
	if err == nil && !d.dir {
		err = &fs.PathError{Op: op, Path: name, Err: syscall.ENOTDIR}
	}
	if err != nil {
		return nil, "", &fs.PathError{Op: op, Path: name, Err: errors.Unwrap(err)}
	}
	return d, ps[len(ps)-1], nil
}

func (s *Sim) before(op, name string) error {
	if s.Before == nil {
		return nil
	}
	if err := s.Before(op, name); err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

// Open opens a file to read.
func (s *Sim) Open(name string) (File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.find("open", name)
	if err != nil {
		return nil, err
	}
	return &simFile{s: s, n: n, name: name, read: true}, nil
}

// Create makes or empties a file, to write.
func (s *Sim) Create(name string) (File, error) {
	return s.write("create", name, true, &simFile{s: s, name: name, write: true, read: true})
}

// Append opens a file to write at its end.
func (s *Sim) Append(name string) (File, error) {
	return s.write("append", name, false, &simFile{s: s, name: name, write: true, append: true})
}

// Edit opens a file to read and write.
func (s *Sim) Edit(name string) (File, error) {
	return s.write("edit", name, false, &simFile{s: s, name: name, write: true, read: true})
}

func (s *Sim) write(op, name string, empty bool, f *simFile) (File, error) {
	if err := s.before(op, name); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d, base, err := s.folder("open", name)
	if err != nil {
		return nil, err
	}
	n := d.cur[base]
	switch {
	case n == nil:
		n = s.node(false)
		d.change(nameOp{set: base, to: n})
		d.mod = n.mod
	case n.dir:
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EISDIR}
	case empty:
		n.truncate(0)
		n.mod = s.now()
	}
	f.n = n
	return f, nil
}

// Rename gives a file or folder another name; a file of that name is replaced.
func (s *Sim) Rename(from, to string) error {
	if err := s.before("rename", from); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fail := func(err error) error { return &os.LinkError{Op: "rename", Old: from, New: to, Err: err} }
	d, base, err := s.folder("rename", from)
	if err != nil {
		return fail(errors.Unwrap(err))
	}
	n := d.cur[base]
	if n == nil {
		return fail(fs.ErrNotExist)
	}
	e, last, err := s.folder("rename", to)
	if err != nil {
		return fail(errors.Unwrap(err))
	}
	if n.dir && slices.Equal(parts(from), parts(to)[:min(len(parts(from)), len(parts(to)))]) {
		return fail(fs.ErrInvalid) // into itself
	}
	if old := e.cur[last]; old != nil {
		if old == n {
			return nil
		}
		if old.dir || n.dir {
			return fail(fs.ErrExist)
		}
	}
	if d == e {
		d.change(nameOp{set: last, to: n, gone: base})
	} else {
		s.pair++
		e.change(nameOp{set: last, to: n, pair: s.pair, other: d})
		d.change(nameOp{gone: base, pair: s.pair, other: e})
	}
	e.mod = s.now()
	d.mod = e.mod
	return nil
}

// Remove removes a file or an empty folder.
func (s *Sim) Remove(name string) error {
	if err := s.before("remove", name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d, base, err := s.folder("remove", name)
	if err != nil {
		return err
	}
	n := d.cur[base]
	if n == nil {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	if n.dir && len(n.cur) > 0 {
		return &fs.PathError{Op: "remove", Path: name, Err: syscall.ENOTEMPTY}
	}
	d.change(nameOp{gone: base})
	d.mod = s.now()
	return nil
}

// Link gives a file a second name.
func (s *Sim) Link(from, to string) error {
	if err := s.before("link", to); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fail := func(err error) error { return &os.LinkError{Op: "link", Old: from, New: to, Err: err} }
	n, err := s.find("link", from)
	if err != nil {
		return fail(errors.Unwrap(err))
	}
	d, base, err := s.folder("link", to)
	if err != nil {
		return fail(errors.Unwrap(err))
	}
	if n.dir {
		return fail(syscall.EPERM)
	}
	if d.cur[base] != nil {
		return fail(fs.ErrExist)
	}
	d.change(nameOp{set: base, to: n})
	d.mod = s.now()
	return nil
}

// MkdirAll makes a folder and those on the way to it.
func (s *Sim) MkdirAll(name string) error {
	if err := s.before("mkdir", name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.root
	for _, p := range parts(name) {
		n := d.cur[p]
		if n == nil {
			n = s.node(true)
			d.change(nameOp{set: p, to: n})
			d.mod = n.mod
		}
		if !n.dir {
			return &fs.PathError{Op: "mkdir", Path: name, Err: syscall.ENOTDIR}
		}
		d = n
	}
	return nil
}

// Stat describes a file or folder.
func (s *Sim) Stat(name string) (fs.FileInfo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.find("stat", name)
	if err != nil {
		return nil, err
	}
	return n.info(name), nil
}

// ReadDir lists a folder, sorted.
func (s *Sim) ReadDir(name string) ([]fs.DirEntry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.find("open", name)
	if err != nil {
		return nil, err
	}
	if !n.dir {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: syscall.ENOTDIR}
	}
	out := make([]fs.DirEntry, 0, len(n.cur))
	for _, k := range sorted(n.cur) {
		out = append(out, fs.FileInfoToDirEntry(n.cur[k].info(k)))
	}
	return out, nil
}

// Glob returns the names that match, sorted.
func (s *Sim) Glob(pattern string) ([]string, error) {
	if _, err := filepath.Match(pattern, ""); err != nil {
		return nil, err
	}
	clean := filepath.Clean(pattern)
	names, err := fs.Glob(simFS{s}, strings.TrimPrefix(clean, "/"))
	if strings.HasPrefix(clean, "/") {
		for i := range names {
			names[i] = "/" + names[i]
		}
	}
	slices.Sort(names)
	return names, err
}

// simFS is what fs.Glob needs.
type simFS struct{ s *Sim }

func (x simFS) Open(name string) (fs.File, error)          { return nil, fs.ErrInvalid }
func (x simFS) Stat(name string) (fs.FileInfo, error)      { return x.s.Stat(name) }
func (x simFS) ReadDir(name string) ([]fs.DirEntry, error) { return x.s.ReadDir(name) }

// SyncDir makes the names in a folder durable.
func (s *Sim) SyncDir(name string) error {
	if err := s.before("syncdir", name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.find("open", name)
	if err != nil {
		return err
	}
	if !n.dir {
		return &fs.PathError{Op: "sync", Path: name, Err: syscall.ENOTDIR}
	}
	n.settle(len(n.log))
	return nil
}

// Lock holds a file until unlock is called. A Sim that Crash or Kill returned holds none.
func (s *Sim) Lock(name string) (unlock func() error, err error) {
	f, err := s.Edit(name)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := f.(*simFile).n
	if s.locks[n] {
		return nil, ErrLocked
	}
	s.locks[n] = true
	return sync.OnceValue(func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.locks, n)
		return nil
	}), nil
}

// String lists all files with their sizes, for tests.
func (s *Sim) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	var walk func(at string, n *node)
	walk = func(at string, n *node) {
		for _, k := range sorted(n.cur) {
			c := n.cur[k]
			if c.dir {
				fmt.Fprintf(&b, "%s/%s/\n", at, k)
				walk(at+"/"+k, c)
			} else {
				fmt.Fprintf(&b, "%s/%s %d\n", at, k, len(c.data))
			}
		}
	}
	walk("", s.root)
	return b.String()
}

// simInfo is the FileInfo of a node at one moment.
type simInfo struct {
	name   string
	size   int64
	mod    int64
	number uint64
	dir    bool
}

func (n *node) info(name string) simInfo {
	return simInfo{name: filepath.Base(filepath.Clean("/" + name)), size: int64(len(n.data)), mod: n.mod, number: n.number, dir: n.dir}
}

func (i simInfo) Name() string       { return i.name }
func (i simInfo) Size() int64        { return i.size }
func (i simInfo) ModTime() time.Time { return time.Unix(i.mod, 0) }
func (i simInfo) IsDir() bool        { return i.dir }
func (i simInfo) Sys() any           { return nil }
func (i simInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o777
	}
	return 0o666
}

// SameFile reports whether two descriptions, of one FS of this package, are of one file, under whatever names.
func SameFile(a, b fs.FileInfo) bool {
	x, ok := a.(simInfo)
	y, also := b.(simInfo)
	if ok && also {
		return x.number == y.number
	}
	return os.SameFile(a, b)
}
