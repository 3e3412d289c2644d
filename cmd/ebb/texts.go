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
		info, err := os.Stat(arg)
		switch {
		case arg == "-":
			add(stdinName, func() ([]byte, error) { return io.ReadAll(os.Stdin) })
		case arg == "":
			wrong = append(wrong, &unread{"", errors.New("cannot read \"\": the name is empty")})
		case err == nil && info.IsDir():
			wrong = append(wrong, below(arg, file)...)
		default:
			file(arg)
		}
	}
	return wrong
}

// below takes the scripts and pages below a folder, and returns what could not be read. What is neither a file nor a link to one,
// such as a named pipe, is left out: reading it might never end.
func below(dir string, file func(path string)) (wrong []error) {
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		dir += string(filepath.Separator) // walk what it leads to
	}
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			wrong = append(wrong, &unread{path, fmt.Errorf("cannot read %s: %w", path, reason(err))})
			return nil
		}
		name := d.Name()
		if d.IsDir() {
			if path != dir && (strings.HasPrefix(name, ".") || name == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) == ".ebb" || isPage(name) {
			if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
				file(path)
			}
		}
		return nil
	})
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

// unified is what changes a text into another one, as `patch -p0` and `git apply -p0` take it.
func unified(name, before, after string) string {
	_, hunks, changed := strings.Cut(string(diff.Diff(name, []byte(before), name, []byte(after))), "\n@@")
	if !changed {
		return ""
	}
	if strings.ContainsAny(name, " \t") {
		name += "\t" // ends a name with blanks
	}
	return "--- " + name + "\n+++ " + name + "\n@@" + hunks
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
