package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/checkpoint/disk"
)

// A folder may be copied or moved, with its job or without it. Paths of outputs are relative to the directory of the run, which
// the manifests tell, and so are those of the job that the copy was made of.

// Last returns the newest checkpoint that can be read, on whatever branch: its run was the last to write outputs. nil: there is
// none, or only that of another job.
func (f *Folder) Last() *Manifest { return last(f.List(), f.Manifest) }

// Last is Folder.Last.
func (s *Store) Last() *Manifest { return last(s.List(), s.Manifest) }

func last(list []Info, manifest func(ID) (*Manifest, error)) *Manifest {
	for _, i := range slices.Backward(list) {
		if m, err := manifest(i.ID); err == nil && !i.Foreign {
			return m
		}
	}
	return nil
}

// Home returns the directory that the paths of a checkpoint's run are relative to, if its folder is now dir: that in which the
// run was, or the one to which that was moved with the folder in it; "" if the manifest tells of none. It is an *ElsewhereError
// if the folder is not that of the run, or if nobody can tell.
func (m *Manifest) Home(x disk.FS, dir string) (string, error) {
	if m.Dir == "" {
		return "", nil
	}
	here, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	folder := m.Folder
	if folder == "" { // of an engine that did not note it: where it is, unless the script said otherwise
		if folder = filepath.Join(".ebb", m.Job); !strings.HasSuffix(here, string(filepath.Separator)+folder) {
			return m.Dir, nil
		}
	}
	was := Within(m.Dir, folder)
	elsewhere := &ElsewhereError{Dir: here, Was: was, Run: m.Dir}
	if was == here {
		return m.Dir, nil
	}
	if same, err := same(x, was, here); err == nil && same {
		return m.Dir, nil
	} else if err == nil {
		elsewhere.Copy = true
		return "", elsewhere
	}
	if _, err := x.Stat(m.Dir); !errors.Is(err, fs.ErrNotExist) { // the folder alone was moved
		if rel, err := filepath.Rel(m.Dir, here); err == nil && filepath.IsLocal(rel) {
			return m.Dir, nil
		}
		return "", elsewhere
	}
	home, ok := strings.CutSuffix(here, string(filepath.Separator)+folder)
	if !ok {
		return "", elsewhere
	}
	up := strings.Repeat("/..", strings.Count(folder, string(filepath.Separator))+1) // as the system goes: not back along a link
	if same, err := same(x, here+up, home); err != nil || !same {
		return "", elsewhere
	}
	return home, nil
}

// same reports whether two paths lead to the same file.
func same(x disk.FS, a, b string) (bool, error) {
	i, err := x.Stat(a)
	if err != nil {
		return false, err
	}
	j, err := x.Stat(b)
	return err == nil && disk.SameFile(i, j), err
}

// SamePath reports whether two paths are of the same file or folder, also of one that is not there.
func SamePath(x disk.FS, a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	if is, err := same(x, a, b); err == nil {
		return is
	}
	is, err := same(x, filepath.Dir(a), filepath.Dir(b))
	return err == nil && is && filepath.Base(a) == filepath.Base(b)
}

// FolderOf returns what Manifest.Folder says of the folder dir and a run in the directory run.
func FolderOf(run, dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	if rel, err := filepath.Rel(run, abs); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return abs
}

// ElsewhereError says that a folder is not the one that the run of its newest checkpoint had, so that its outputs need not be
// those of the folder.
type ElsewhereError struct {
	Dir  string // the folder
	Was  string // where the run had it
	Run  string // the directory of the run
	Copy bool   // Was is still there; else it is not known where the outputs are now
}

func (e *ElsewhereError) Error() string {
	if e.Copy {
		return fmt.Sprintf("%s is a copy of %s, whose run was in %s", e.Dir, e.Was, e.Run)
	}
	return fmt.Sprintf("%s was %s when its run was in %s, and it cannot be told where the outputs are now", e.Dir, e.Was, e.Run)
}
