package main

import (
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/syntax"
)

// page are the files of a page of Markdown: blocks whose fence names a file, beside those of the disk. So scripts of a page
// can use each other, and read the data that the page shows.
type page struct {
	exec.FS
	files map[string]string
}

func pageFiles(src *syntax.Source, disk exec.FS) exec.FS {
	p := &page{disk, map[string]string{}}
	for _, b := range syntax.AllBlocks(src) {
		if b.Info != "" {
			p.files[path.Clean(b.Info)] = b.Text
		}
	}
	return p
}

func (p *page) text(name string) (string, bool) {
	text, ok := p.files[path.Clean(filepath.ToSlash(name))]
	return text, ok
}

// Open opens a file of the page, or one of the disk.
func (p *page) Open(name string) (exec.File, error) {
	if text, ok := p.text(name); ok {
		return pageFile{strings.NewReader(text), name}, nil
	}
	return p.FS.Open(name)
}

// Stat describes a file of the page, or one of the disk.
func (p *page) Stat(name string) (fs.FileInfo, error) {
	if text, ok := p.text(name); ok {
		return pageInfo{path.Base(name), int64(len(text))}, nil
	}
	return p.FS.Stat(name)
}

// Glob lists names of the page and of the disk.
func (p *page) Glob(pattern string) ([]string, error) {
	names, err := p.FS.Glob(pattern)
	for name := range p.files {
		if ok, _ := path.Match(path.Clean(filepath.ToSlash(pattern)), name); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// pageFile is a file that can only be read.
type pageFile struct {
	*strings.Reader
	name string
}

func (f pageFile) fail() error {
	return &fs.PathError{Op: "write", Path: f.name, Err: fs.ErrPermission}
}

func (f pageFile) Write([]byte) (int, error)          { return 0, f.fail() }
func (f pageFile) WriteAt([]byte, int64) (int, error) { return 0, f.fail() }
func (f pageFile) Truncate(int64) error               { return f.fail() }
func (f pageFile) Sync() error                        { return nil }
func (f pageFile) Close() error                       { return nil }
func (f pageFile) Stat() (fs.FileInfo, error)         { return pageInfo{path.Base(f.name), f.Size()}, nil }

var _ io.ReaderAt = pageFile{}

type pageInfo struct {
	name string
	size int64
}

func (i pageInfo) Name() string       { return i.name }
func (i pageInfo) Size() int64        { return i.size }
func (i pageInfo) Mode() fs.FileMode  { return 0o444 }
func (i pageInfo) ModTime() time.Time { return time.Time{} }
func (i pageInfo) IsDir() bool        { return false }
func (i pageInfo) Sys() any           { return nil }
