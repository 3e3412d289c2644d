package langserver

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
)

// world answers what the checker asks about one document: files that are open in the editor are as they stand there, and
// inputs are looked at once.
type world struct {
	*planner.World
	doc     *document
	reads   map[string]bool
	waiting bool
}

func (d *document) world() *world {
	return &world{World: &planner.World{Catalog: d.s.lib, Env: d.s.env(d.path, nil)}, doc: d, reads: map[string]bool{}}
}

// env is an environment that only looks. Files that scripts name are searched in the folder of the workspace, then beside
// the script. What is looked at is noted in seen, which may be nil.
func (s *Server) env(script string, seen *stamps) *exec.Env {
	env := exec.OS().ReadOnly()
	env.FS = &lookup{FS: env.FS, dir: filepath.Dir(script), seen: seen}
	env.Stdin, env.Stderr = noInput{}, io.Discard
	return env
}

// noInput is the standard input of scripts in an editor.
type noInput struct{}

func (noInput) Read([]byte) (int, error) {
	return 0, errors.New("an editor has no standard input to look at; write the schema: `schema { … }`")
}

// ReadScript reads a file of `use`.
func (w *world) ReadScript(path string) (string, error) {
	w.reads[path] = true
	return w.doc.s.readScript(path)
}

// readScript reads a script, as the editor has it or from disk.
func (s *Server) readScript(path string) (string, error) {
	s.mu.Lock()
	d := s.open[path]
	s.mu.Unlock()
	if d != nil {
		return d.text.raw, nil
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular() || info.Size() > mostText:
		return "", fmt.Errorf("%s is no script", path)
	}
	b, err := os.ReadFile(path)
	return string(b), err
}

// Source describes an input from what was seen of it, or looks at it for a moment.
func (w *world) Source(a *types.ConnArgs, declared *types.Schema) (types.SourceInfo, error) {
	def := w.ConnDef(a.Name)
	key := fmt.Sprintf("%s %v %s", a.Name, a.Args, w.doc.path)
	if declared != nil {
		key += declared.String()
	}
	info, err, known := w.doc.s.sources.look(key, w.doc.path, func(seen *stamps) (types.SourceInfo, error) {
		return def.Info(a, declared, w.doc.s.env(w.doc.path, seen))
	})
	if !known {
		w.waiting = true
	}
	return info, err
}

// sources remembers what inputs look like, so that typing waits for no file.
type sources struct {
	late func(script string) // is called when an input is known that somebody did not wait for

	mu    sync.Mutex
	known map[string]*lookedAt
	busy  int // that are being looked at
}

// lookedAt is what was seen of an input.
type lookedAt struct {
	done  chan struct{}
	info  types.SourceInfo
	err   error
	seen  *stamps
	asked time.Time // the files were last compared
}

const (
	patience    = 200 * time.Millisecond // for an input that is looked at the first time
	mostSources = 256
	mostLooking = 8
	fresh       = time.Second // how long files are believed not to change
)

var errLooking = errors.New("the input is still being looked at")

// look returns what is known of an input, and looks at it if nothing is, or if its files have changed since. known is false
// as long as it takes.
func (s *sources) look(key, script string, see func(*stamps) (types.SourceInfo, error)) (info types.SourceInfo, err error, known bool) {
	s.mu.Lock()
	x := s.known[key]
	if x != nil && x.ended() && time.Since(x.asked) > fresh {
		if x.seen.changed() {
			x = nil
		} else {
			x.asked = time.Now()
		}
	}
	if x == nil {
		if s.busy >= mostLooking {
			s.mu.Unlock()
			return info, errLooking, false
		}
		if len(s.known) >= mostSources {
			for k, old := range s.known {
				if old.ended() {
					delete(s.known, k)
				}
			}
		}
		x = &lookedAt{done: make(chan struct{}), seen: &stamps{}, asked: time.Now()}
		s.known[key] = x
		s.busy++
		go s.see(x, script, see)
	}
	s.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-x.done:
		return x.info, x.err, true
	case <-timer.C:
		return info, errLooking, false
	}
}

func (s *sources) see(x *lookedAt, script string, see func(*stamps) (types.SourceInfo, error)) {
	start := time.Now()
	defer func() {
		if r := recover(); r != nil {
			x.err = fmt.Errorf("the input cannot be looked at: %v", r)
		}
		s.mu.Lock()
		s.busy--
		s.mu.Unlock()
		close(x.done)
		if time.Since(start) > patience/2 {
			s.late(script)
		}
	}()
	x.info, x.err = see(x.seen)
}

func (x *lookedAt) ended() bool {
	select {
	case <-x.done:
		return true
	default:
		return false
	}
}

// sourceKnown looks at a document again.
func (s *Server) sourceKnown(script string) {
	s.mu.Lock()
	d := s.open[script]
	s.mu.Unlock()
	if d == nil {
		return
	}
	d.mu.Lock()
	if d.seen != nil {
		if a := d.seen.made.Load(); a == nil || a.waiting {
			d.seen = nil
		}
	}
	d.mu.Unlock()
	s.renew(d, pause)
}

// stamps is which files were looked at, and what they were then.
type stamps struct {
	mu   sync.Mutex
	list map[string]string
	fs   exec.FS
}

func (s *stamps) note(fs exec.FS, key string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list == nil {
		s.list, s.fs = map[string]string{}, fs
	}
	if _, ok := s.list[key]; !ok {
		s.list[key] = stamp(fs, key)
	}
}

// stamp tells whether a file, or the files of a pattern, have changed.
func stamp(fs exec.FS, key string) string {
	if pattern, ok := strings.CutPrefix(key, "glob "); ok {
		names, _ := fs.Glob(pattern)
		return strings.Join(names, "\x00")
	}
	info, err := fs.Stat(key)
	if err != nil {
		return "none"
	}
	return fmt.Sprint(info.ModTime().UnixNano(), info.Size(), info.Mode())
}

func (s *stamps) changed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, was := range s.list {
		if stamp(s.fs, key) != was {
			return true
		}
	}
	return false
}

// lookup finds the files of a script, and notes what was looked at.
type lookup struct {
	exec.FS
	dir  string
	seen *stamps
}

// find is where a file lies.
func (l *lookup) find(name string) string {
	if filepath.IsAbs(name) || !filepath.IsAbs(l.dir) {
		return name
	}
	if _, err := l.FS.Stat(name); err == nil {
		return name
	}
	if beside := filepath.Join(l.dir, name); exists(l.FS, beside) {
		return beside
	}
	return name
}

func exists(fs exec.FS, name string) bool {
	_, err := fs.Stat(name)
	return err == nil
}

// Open opens regular files only: a named pipe would take somebody's rows.
func (l *lookup) Open(name string) (disk.File, error) {
	at := l.find(name)
	l.seen.note(l.FS, at)
	if info, err := l.FS.Stat(at); err == nil && disk.Passes(info) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("an editor looks at regular files only; write the schema: `schema { … }`")}
	}
	return l.FS.Open(at)
}

func (l *lookup) Stat(name string) (fs.FileInfo, error) {
	at := l.find(name)
	l.seen.note(l.FS, at)
	return l.FS.Stat(at)
}

func (l *lookup) ReadDir(name string) ([]fs.DirEntry, error) {
	at := l.find(name)
	l.seen.note(l.FS, at)
	return l.FS.ReadDir(at)
}

func (l *lookup) Glob(pattern string) ([]string, error) {
	l.seen.note(l.FS, "glob "+pattern)
	names, err := l.FS.Glob(pattern)
	if err == nil && len(names) == 0 && !filepath.IsAbs(pattern) && filepath.IsAbs(l.dir) {
		l.seen.note(l.FS, "glob "+filepath.Join(l.dir, pattern))
		return l.FS.Glob(filepath.Join(l.dir, pattern))
	}
	return names, err
}
