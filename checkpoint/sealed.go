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

// CheckOutput returns what Options.CheckOutput wants for outputs that are files of a file system.
func CheckOutput(fsys disk.FS) func(Sealed) (bool, error) {
	return func(x Sealed) (bool, error) {
		if _, err := fsys.Stat(x.Path); errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		f, err := fsys.Edit(x.Path)
		if err != nil {
			return false, fmt.Errorf("opening an output of the checkpoint: %w", err)
		}
		fits, err := rewrite(f, x)
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			return false, fmt.Errorf("checking %s, an output of the checkpoint: %w", x.Path, err)
		}
		for d := filepath.Dir(x.Path); fits; d = filepath.Dir(d) {
			if err := fsys.SyncDir(d); err != nil && d == filepath.Dir(x.Path) { // those above may be closed to us
				return false, fmt.Errorf("flushing the folder of an output of the checkpoint: %w", err)
			}
			if d == filepath.Dir(d) {
				break
			}
		}
		return fits, nil
	}
}

// rewrite reads a range and, if it is what it was, writes it again and flushes it.
func rewrite(f disk.File, x Sealed) (bool, error) {
	sum, buf := xxh3.New(), make([]byte, min(max(x.Length, 0), 1<<20))
	run := func(use func(b []byte, at int64) error) error {
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
	err := run(func(b []byte, _ int64) error { _, err := sum.Write(b); return err })
	if errors.Is(err, errShort) || err == nil && sum.Sum64() != x.Sum {
		return false, nil
	}
	if err == nil {
		err = run(func(b []byte, at int64) error { _, err := f.WriteAt(b, at); return err })
	}
	if err == nil {
		err = f.Sync()
	}
	return err == nil, err
}
