package testrun

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Find returns the scripts that paths name: files as they are, of folders all files that end in .ebb, in the order of
// their names. Hidden folders are left out.
func Find(paths []string) ([]string, error) {
	var out []string
	add := func(path string) {
		if !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			if p, ok := err.(*fs.PathError); ok {
				err = p.Err
			}
			return nil, fmt.Errorf("cannot read %s: %w", path, err)
		}
		if !info.IsDir() {
			add(path)
			continue
		}
		err = filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir() && at != path && strings.HasPrefix(e.Name(), "."):
				return filepath.SkipDir
			case !e.IsDir() && strings.HasSuffix(at, ".ebb"):
				add(at)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", path, err)
		}
	}
	return out, nil
}
