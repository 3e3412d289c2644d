package checkpoint

import (
	"errors"
	"io/fs"

	"github.com/ebb-lang/ebb/checkpoint/disk"
)

var errNotRegular = errors.New("it is not a regular file")

// openPlain opens a file of a checkpoint folder for reading, if it is a regular one: to open a named pipe waits for somebody
// who writes to it.
func openPlain(x disk.FS, path string) (disk.File, error) {
	info, err := x.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	return x.Open(path)
}
