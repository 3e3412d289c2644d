package disk

import (
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Texts are files that lie in no file system, beside those of one: what a page of Markdown shows, what a test gives. They can
// only be read.
type Texts struct {
	FS
	Files map[string]string // by path, slashes between its parts
}

func (x *Texts) text(name string) (string, bool) {
	text, ok := x.Files[path.Clean(filepath.ToSlash(name))]
	return text, ok
}

// Open opens one of the texts, or a file.
func (x *Texts) Open(name string) (File, error) {
	if text, ok := x.text(name); ok {
		return textFile{strings.NewReader(text), name}, nil
	}
	return x.FS.Open(name)
}

// Stat describes one of the texts, or a file.
func (x *Texts) Stat(name string) (fs.FileInfo, error) {
	if text, ok := x.text(name); ok {
		return textInfo{path.Base(filepath.ToSlash(name)), int64(len(text))}, nil
	}
	return x.FS.Stat(name)
}

// Glob lists names of texts and of files.
func (x *Texts) Glob(pattern string) ([]string, error) {
	names, err := x.FS.Glob(pattern)
	for name := range x.Files {
		if ok, _ := path.Match(path.Clean(filepath.ToSlash(pattern)), name); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// textFile is a file that can only be read.
type textFile struct {
	*strings.Reader
	name string
}

func (f textFile) fail() error {
	return &fs.PathError{Op: "write", Path: f.name, Err: fs.ErrPermission}
}

func (f textFile) Write([]byte) (int, error)          { return 0, f.fail() }
func (f textFile) WriteAt([]byte, int64) (int, error) { return 0, f.fail() }
func (f textFile) Truncate(int64) error               { return f.fail() }
func (f textFile) Sync() error                        { return nil }
func (f textFile) Close() error                       { return nil }
func (f textFile) Stat() (fs.FileInfo, error)         { return textInfo{path.Base(f.name), f.Size()}, nil }

var _ io.ReaderAt = textFile{}

type textInfo struct {
	name string
	size int64
}

func (i textInfo) Name() string       { return i.name }
func (i textInfo) Size() int64        { return i.size }
func (i textInfo) Mode() fs.FileMode  { return 0o444 }
func (i textInfo) ModTime() time.Time { return time.Time{} }
func (i textInfo) IsDir() bool        { return false }
func (i textInfo) Sys() any           { return nil }
