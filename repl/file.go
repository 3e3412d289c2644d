package repl

import (
	"errors"
	"os"
	"path/filepath"
)

// replaceFile writes a file whole or not at all.
func replaceFile(path, text string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, []byte(text), 0o666)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".ebb-save-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails when all went well
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
