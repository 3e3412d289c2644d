// Package disk is the seam through which files enter the engine: the machine's (OS), or ones in memory that lose what
// was not flushed, tear writes and fail on demand (Sim). It knows files and nothing of what they hold.
package disk

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// File is an open file.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	// Sync makes the content and the size of the file durable (fdatasync), not its name: see FS.SyncDir. After an error
	// nothing is known about what was written since the Sync before.
	Sync() error
	Truncate(size int64) error
}

// FS is the few file calls that the engine needs.
type FS interface {
	Open(name string) (File, error)
	Create(name string) (File, error) // truncates
	Append(name string) (File, error) // creates, writes go to the end
	Edit(name string) (File, error)   // creates, keeps what is there, writes go to any place; for WriteAt and Truncate
	Rename(from, to string) error
	Remove(name string) error
	Link(from, to string) error // a second name for the same file; fails where the system has none
	Stat(name string) (fs.FileInfo, error)
	MkdirAll(name string) error
	Glob(pattern string) ([]string, error) // sorted
	ReadDir(name string) ([]fs.DirEntry, error)
	// SyncDir makes the names in a folder durable.
	SyncDir(name string) error
}

// OS is the file system of the machine.
type OS struct{}

var _ FS = OS{}

func (OS) Open(name string) (File, error)   { return wrap(os.Open(name)) }
func (OS) Create(name string) (File, error) { return wrap(os.Create(name)) }
func (OS) Append(name string) (File, error) {
	return wrap(os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666))
}
func (OS) Edit(name string) (File, error) {
	return wrap(os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o666))
}
func (OS) Rename(from, to string) error               { return os.Rename(from, to) }
func (OS) Remove(name string) error                   { return os.Remove(name) }
func (OS) Link(from, to string) error                 { return os.Link(from, to) }
func (OS) Stat(name string) (fs.FileInfo, error)      { return os.Stat(name) }
func (OS) MkdirAll(name string) error                 { return os.MkdirAll(name, 0o777) }
func (OS) Glob(pattern string) ([]string, error)      { return filepath.Glob(pattern) }
func (OS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// SyncDir makes the names in a folder durable.
func (OS) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func wrap(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err // not f: a nil *os.File in an interface is not nil
	}
	return osFile{f}, nil
}

// Together runs functions at the same time, each on a goroutine of its own, and returns when all have returned.
func Together(fs []func()) {
	var wg sync.WaitGroup
	for _, f := range fs[1:] {
		wg.Go(f)
	}
	fs[0]()
	wg.Wait()
}
