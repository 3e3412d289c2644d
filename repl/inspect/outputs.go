package inspect

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/stdlib"
)

// OutputSizes returns how many bytes each output had at a checkpoint, by absolute path. The job may run: then the files are
// looked at again until one look has found them at rest.
func (f *Folder) OutputSizes(m *checkpoint.Manifest) (map[string]int64, error) {
	l, err := f.look(m)
	if err != nil {
		return nil, err
	}
	for range 200 {
		sizes, still, err := l.outputSizes()
		if err != nil || still {
			return sizes, err
		}
		time.Sleep(2 * time.Millisecond)
	}
	return nil, errors.New("the outputs change too quickly to be looked at; .pause the job first")
}

func (l *look) outputSizes() (sizes map[string]int64, still bool, err error) {
	size := func(path string) int64 {
		if info, err := os.Stat(path); err == nil {
			return info.Size()
		}
		return 0
	}
	env := exec.OS().ReadOnly()
	g := l.c.Graph(stdlib.New(), env)
	before, err := g.UndoSinks(l.m, l.read, "", nil)
	if err != nil {
		return nil, false, err
	}
	sizes, had := map[string]int64{}, map[string]int64{}
	for _, o := range before {
		had[o.Output] = size(o.Output)
	}
	done, err := g.UndoSinks(l.m, l.read, "", nil)
	if err != nil {
		return nil, false, err
	}
	still = true
	for _, o := range done {
		n := size(o.Output)
		still = still && n == had[o.Output]
		path, err := filepath.Abs(o.Output)
		if err != nil {
			return nil, false, err
		}
		sizes[path] = n - o.Cut
	}
	return sizes, still, nil
}

// outputAt is how many bytes an output had at two checkpoints.
type outputAt struct {
	path  string // as the script's folder sees it
	sizes [2]int64
}

// outputsOf returns the outputs of two checkpoints by path; those that are not there any more are left out.
func (f *Folder) outputsOf(ms [2]*checkpoint.Manifest) (out []outputAt) {
	at := map[string]*outputAt{}
	for k, m := range ms {
		sizes, err := f.OutputSizes(m)
		if err != nil {
			continue
		}
		for path, n := range sizes {
			if at[path] == nil {
				at[path] = &outputAt{path: path}
			}
			at[path].sizes[k] = n
		}
	}
	here, _ := os.Getwd() // that of the run
	for _, path := range slices.Sorted(maps.Keys(at)) {
		o := at[path]
		if rel, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rel) {
			o.path = rel
		}
		out = append(out, *o)
	}
	return out
}
