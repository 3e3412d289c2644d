package main

import (
	"path"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/syntax"
)

// pageFiles are the files of a page of Markdown: blocks whose fence names a file, beside those of a file system. So scripts
// of a page can use each other, and read the data that the page shows.
func pageFiles(src *syntax.Source, fs exec.FS) exec.FS {
	p := &disk.Texts{FS: fs, Files: map[string]string{}}
	for _, b := range syntax.AllBlocks(src) {
		if b.Info != "" {
			p.Files[path.Clean(b.Info)] = b.Text
			p.Files[path.Join(path.Dir(src.Name), b.Info)] = b.Text // `use` is relative to the page
		}
	}
	return p
}
