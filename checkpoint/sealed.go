package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/zeebo/xxh3"
)

// CheckOutput returns what Options.CheckOutput wants for outputs that are files of a file system. dir is the directory of the
// run, to which their paths are relative; "": that of the process. One that is not there is an error.
func CheckOutput(fsys disk.FS, dir string) func(Sealed) (bool, error) {
	return func(x Sealed) (bool, error) {
		if dir != "" {
			if _, err := fsys.Stat(dir); err != nil {
				return false, fmt.Errorf("the outputs of the checkpoint cannot be looked at: %w", err)
			}
		}
		x.Path = Within(dir, x.Path)
		if _, err := fsys.Stat(x.Path); errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		f, err := fsys.Open(x.Path)
		if err != nil {
			return false, fmt.Errorf("opening an output of the checkpoint: %w", err)
		}
		defer f.Close()
		sum := xxh3.New()
		err = pieces(f, x, func(b []byte, _ int64) error { _, err := sum.Write(b); return err })
		switch {
		case errors.Is(err, errShort):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("checking %s, an output of the checkpoint: %w", x.Path, err)
		}
		return sum.Sum64() == x.Sum, nil
	}
}

// Within returns a path of a run in the directory dir.
func Within(dir, path string) string {
	if dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// KeepOutput returns what Options.KeepOutput wants for outputs that are files of a file system; dir as for CheckOutput.
func KeepOutput(fsys disk.FS, dir string) func(Sealed) error {
	return func(x Sealed) error {
		x.Path = Within(dir, x.Path)
		f, err := fsys.Edit(x.Path)
		if err != nil {
			return fmt.Errorf("opening an output of the checkpoint: %w", err)
		}
		err = pieces(f, x, func(b []byte, at int64) error { _, err := f.WriteAt(b, at); return err })
		if err == nil {
			err = f.Sync()
		}
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			return fmt.Errorf("flushing %s, an output of the checkpoint: %w", x.Path, err)
		}
		for d := filepath.Dir(x.Path); ; d = filepath.Dir(d) {
			if err := fsys.SyncDir(d); err != nil && d == filepath.Dir(x.Path) { // those above may be closed to us
				return fmt.Errorf("flushing the folder of an output of the checkpoint: %w", err)
			}
			if d == filepath.Dir(d) {
				return nil
			}
		}
	}
}

// pieces reads a range, a piece at a time.
func pieces(f disk.File, x Sealed, use func(b []byte, at int64) error) error {
	buf := make([]byte, min(max(x.Length, 0), 1<<20))
	for at := x.Offset; at < x.Offset+x.Length; at += int64(len(buf)) {
		b := buf[:min(int64(len(buf)), x.Offset+x.Length-at)]
		if n, err := f.ReadAt(b, at); n < len(b) {
			if err == io.EOF {
				return errShort
			}
			return err
		}
		if err := use(b, at); err != nil {
			return err
		}
	}
	return nil
}
