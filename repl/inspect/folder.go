// Package inspect looks into the checkpoints of a job: it lists them, prints their rows and states, compares and checks
// them. The commands of `ebb checkpoint` and those of the session are made of it.
package inspect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/planner"
)

// Folder is an open checkpoint folder. It is read only and may belong to a job that runs. The caller closes it.
type Folder struct {
	*checkpoint.Folder
	Dir string            // as it was given
	All []checkpoint.Info // the checkpoints when it was opened, by id
	// Stay keeps the process in its directory: other things run in it. A checkpoint of a run in another directory cannot
	// be looked into then.
	Stay bool

	abs string // Dir, wherever the process goes
}

// A UsageError is a question that cannot be asked in this way.
type UsageError struct{ Text string }

func (e *UsageError) Error() string { return e.Text }

func misuse(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// Open opens a checkpoint folder. What is damaged in it is no error; Damage tells it.
func Open(dir string) (*Folder, error) {
	failed := func(err error) (*Folder, error) {
		return nil, fmt.Errorf("cannot read the checkpoints in %s: %w", dir, err)
	}
	if info, err := os.Stat(dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return failed(fmt.Errorf("there is no such folder%s", FoldersHere(dir)))
		}
		return failed(reason(err))
	} else if !info.IsDir() {
		return failed(fmt.Errorf("it is a file; give the folder%s", FoldersHere(dir)))
	}
	abs, err := filepath.Abs(dir)
	var r *checkpoint.Folder
	if err == nil {
		r, err = checkpoint.OpenReader(fixed{dir: dir, abs: abs}, dir)
	}
	if err != nil {
		return failed(fmt.Errorf("%w%s", err, FoldersHere(dir)))
	}
	return &Folder{Folder: r, Dir: dir, All: r.List(), abs: abs}, nil
}

// fixed finds the files of a folder by the names that they have, in messages too, also when the process goes elsewhere: to
// where the run was.
type fixed struct {
	disk.OS
	dir, abs string
}

func (x fixed) path(name string) string {
	if rel, err := filepath.Rel(x.dir, name); err == nil {
		return filepath.Join(x.abs, rel)
	}
	return name
}

func (x fixed) Open(name string) (disk.File, error)        { return x.OS.Open(x.path(name)) }
func (x fixed) Stat(name string) (fs.FileInfo, error)      { return x.OS.Stat(x.path(name)) }
func (x fixed) ReadDir(name string) ([]fs.DirEntry, error) { return x.OS.ReadDir(x.path(name)) }
func (x fixed) Lock(name string) (func() error, error)     { return x.OS.Lock(x.path(name)) }

// Home returns the directory in which the last run on the folder was, to which its outputs are relative; "" if there was none.
func (f *Folder) Home() (string, error) {
	m := f.Last()
	if m == nil {
		return "", nil
	}
	return m.Home(disk.OS{}, f.abs)
}

// FoldersHere names the folders that hold checkpoints below .ebb in the working directory, and in a folder that was given in
// place of one of them, as the end of a message; "" if there are none.
func FoldersHere(given string) string {
	patterns := []string{filepath.Join(".ebb", "*")}
	if filepath.Base(given) == ".ebb" {
		patterns = append(patterns, filepath.Join(given, "*"))
	} else if given != "" {
		patterns = append(patterns, filepath.Join(given, ".ebb", "*"))
	}
	var dirs []string
	abs, _ := filepath.Abs(given)
	told := map[string]bool{abs: true}
	for _, p := range patterns {
		files, _ := filepath.Glob(filepath.Join(p, "*.seg"))
		for _, f := range files {
			dir := filepath.Dir(f)
			if abs, _ := filepath.Abs(dir); !told[abs] {
				told[abs] = true
				dirs = append(dirs, dir)
			}
		}
	}
	if len(dirs) == 0 {
		return ""
	}
	return "; here there is " + strings.Join(dirs, ", ")
}

// Find returns the checkpoint that people mean by a number, a name or -N; "" is the newest.
func (f *Folder) Find(word string) (checkpoint.Info, error) {
	i, err := checkpoint.Find(f.All, word)
	if err == nil {
		return i, nil
	}
	hint := ""
	if len(f.All) == 0 {
		hint = FoldersHere(f.Dir)
	}
	return i, fmt.Errorf("%s: %w%s", f.Dir, err, hint)
}

// Get is Find, and the manifest.
func (f *Folder) Get(word string) (checkpoint.Info, *checkpoint.Manifest, error) {
	i, err := f.Find(word)
	if err != nil {
		return i, nil, err
	}
	m, err := f.Manifest(i.ID)
	if err != nil {
		err = fmt.Errorf("cannot read checkpoint %d in %s: %w", i.ID, f.Dir, err)
	}
	return i, m, err
}

// reason takes the operation and the path off an error of a file.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

func didYouMean(word string, words []string) string {
	if s := syntax.Suggest(word, words); s != "" {
		return "; did you mean `" + s + "`?"
	}
	return ""
}

// Script returns the script that a checkpoint was taken of, where its paths are right.
func (f *Folder) Script(word string) (checkpoint.Info, string, error) {
	i, m, err := f.Get(word)
	if err == nil {
		err = f.enter(m)
	}
	if err != nil {
		return i, "", err
	}
	data, err := f.Read(m.Script)
	if err != nil {
		return i, "", fmt.Errorf("cannot read the script of checkpoint %d in %s: %w", i.ID, f.Dir, err)
	}
	s, err := planner.DecodeScript(data)
	if err != nil {
		return i, "", err
	}
	return i, s.Text, nil
}
