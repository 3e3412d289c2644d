package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// stdinName is how messages call what was read from standard input.
const stdinName = "<stdin>"

// readTexts reads scripts and pages of Markdown: the files that are named, what lies below folders that are named, and
// standard input for `-`. It returns what could not be read; the others are taken all the same.
func readTexts(args []string, take func(name, text string)) (wrong []error) {
	seen := map[string]bool{}
	add := func(name string, read func() ([]byte, error)) {
		if seen[name] {
			return
		}
		seen[name] = true
		text, err := read()
		if err != nil {
			wrong = append(wrong, &unread{name, fmt.Errorf("cannot read %s: %w%s", name, reason(err), otherScript(name, err))})
			return
		}
		take(name, string(text))
	}
	file := func(path string) {
		path = filepath.ToSlash(filepath.Clean(path))
		add(path, func() ([]byte, error) { return os.ReadFile(path) })
	}
	for _, arg := range args {
		if arg == "-" {
			add(stdinName, func() ([]byte, error) { return io.ReadAll(os.Stdin) })
			continue
		}
		if info, err := os.Stat(arg); err != nil || !info.IsDir() {
			file(arg)
			continue
		}
		filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			switch name := d.Name(); {
			case err != nil:
				wrong = append(wrong, &unread{path, fmt.Errorf("cannot read %s: %w", path, reason(err))})
			case d.IsDir() && path != arg && (strings.HasPrefix(name, ".") || name == "node_modules"):
				return fs.SkipDir
			case !d.IsDir() && (filepath.Ext(name) == ".ebb" || isPage(name)):
				file(path)
			}
			return nil
		})
	}
	return wrong
}

// unread is a file that cannot be read, and why.
type unread struct {
	name string
	error
}

func (u *unread) Unwrap() error { return u.error }

// isPage reports whether a file is Markdown, by its name.
func isPage(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".md" || ext == ".markdown"
}

// unified is what changes a text into another one; made says of the second what was done to it.
func unified(name, made, before, after string) string {
	return string(diff.Diff(name, []byte(before), name+" ("+made+")", []byte(after)))
}

// replaceFile puts a text in the place of a file, whole or not at all, with the same mode.
func replaceFile(path, text string) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is not a regular file")
	}
	if info.Mode().Perm()&0o200 == 0 {
		return &fs.PathError{Op: "write", Path: path, Err: fs.ErrPermission}
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.WriteString(text)
	if e := tmp.Chmod(info.Mode().Perm()); err == nil {
		err = e
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
