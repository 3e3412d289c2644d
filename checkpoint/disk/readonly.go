package disk

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// ReadOnly looks at the files of another file system and changes none: what is written is forgotten, and locks are not taken,
// so that one may look while a run writes.
type ReadOnly struct{ FS FS }

var _ FS = ReadOnly{}

// Passes reports whether a file is neither a regular one nor a folder, but a pipe, a device or a socket: what is read of it is
// gone, what is written to it passes on.
func Passes(info fs.FileInfo) bool { return !info.Mode().IsRegular() && !info.IsDir() }

// ErrPipe says that a file was not opened because to look at it is to take away what it gives.
var ErrPipe = errors.New("what is read of a pipe is gone, so it is not read before the script runs; write `schema {…}`")

// Open opens a file to read, but no pipe or device that others may read: what it gives would be taken away from them, and to
// open one may block. Those that this process was given by number are for nobody else.
func (x ReadOnly) Open(name string) (File, error) {
	info, err := x.FS.Stat(name)
	if err == nil && Passes(info) && name != os.DevNull && !strings.HasPrefix(name, "/dev/fd/") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrPipe}
	}
	return x.FS.Open(name)
}

// Create returns a file that forgets.
func (x ReadOnly) Create(string) (File, error) { return nowhere{}, nil }

// Append returns a file that forgets.
func (x ReadOnly) Append(string) (File, error) { return nowhere{}, nil }

// Edit returns the file, such that writes are forgotten.
func (x ReadOnly) Edit(name string) (File, error) {
	f, err := x.FS.Open(name)
	if err != nil {
		return nowhere{}, nil
	}
	return readOnlyFile{f}, nil
}

// Rename does nothing.
func (x ReadOnly) Rename(string, string) error { return nil }

// Remove does nothing.
func (x ReadOnly) Remove(string) error { return nil }

// Link does nothing.
func (x ReadOnly) Link(string, string) error { return nil }

// Stat describes a file.
func (x ReadOnly) Stat(name string) (fs.FileInfo, error) { return x.FS.Stat(name) }

// MkdirAll does nothing.
func (x ReadOnly) MkdirAll(string) error { return nil }

// Glob lists names.
func (x ReadOnly) Glob(pattern string) ([]string, error) { return x.FS.Glob(pattern) }

// ReadDir lists a folder.
func (x ReadOnly) ReadDir(name string) ([]fs.DirEntry, error) { return x.FS.ReadDir(name) }

// SyncDir does nothing.
func (x ReadOnly) SyncDir(string) error { return nil }

type readOnlyFile struct{ File }

func (readOnlyFile) Write(p []byte) (int, error)            { return len(p), nil }
func (readOnlyFile) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
func (readOnlyFile) Sync() error                            { return nil }
func (readOnlyFile) Truncate(int64) error                   { return nil }

// nowhere is a file that is not there.
type nowhere struct{}

func (nowhere) Read([]byte) (int, error)               { return 0, fs.ErrNotExist }
func (nowhere) ReadAt([]byte, int64) (int, error)      { return 0, fs.ErrNotExist }
func (nowhere) Write(p []byte) (int, error)            { return len(p), nil }
func (nowhere) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
func (nowhere) Close() error                           { return nil }
func (nowhere) Stat() (fs.FileInfo, error)             { return nil, fs.ErrNotExist }
func (nowhere) Sync() error                            { return nil }
func (nowhere) Truncate(int64) error                   { return nil }
