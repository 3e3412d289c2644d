package planner

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/stdlib"
)

// A fork is a job that begins with a checkpoint of another one: its folder with a copy, its outputs empty. The other job
// stays as it is, and may run.

// Outputs names the files and folders that a script writes, by the paths under which it does: they are relative to the working
// directory, wherever the script lies. What passes on is none of them.
func Outputs(s *check.Script, fsys exec.FS) []string {
	var out []string
	for _, w := range s.Writes {
		if w.Conn == nil {
			continue
		}
		path, ok := w.Conn.Args["path"].(string)
		if list, is := w.Conn.Args["path"].([]any); is && len(list) == 1 {
			path, ok = list[0].(string)
		}
		if !ok || exec.Passing(path, fsys) {
			continue
		}
		if !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

// fork makes the folder of the run, which begins with checkpoint id of the folder dir, and returns the number of that. All
// that can be wrong is looked at before.
func (l *Launched) fork(dir, id string, lib *stdlib.Catalog, env *exec.Env, so checkpoint.Options) (string, error) {
	if entries, err := env.FS.ReadDir(l.Dir); err == nil && len(entries) > 0 {
		return "", &RefusedError{fmt.Sprintf("%s holds checkpoints already: without --from the run goes on from the newest of them; "+
			"`set checkpoint.dir = \"…\"` keeps those of a fork elsewhere", l.Dir)}
	}
	for _, o := range Outputs(l.script.Script, env.FS) {
		if _, err := env.FS.Stat(o); err == nil {
			return "", &RefusedError{fmt.Sprintf("the output %s is there already, and what it holds is not that of the checkpoint; write somewhere else", o)}
		}
	}
	f, err := checkpoint.OpenReader(env.FS, dir)
	if err != nil {
		return "", &RefusedError{err.Error()}
	}
	defer f.Close()
	i, err := checkpoint.Find(f.List(), id)
	if err != nil {
		return "", &RefusedError{fmt.Sprintf("%s: %v", dir, err)}
	}
	m, err := f.Manifest(i.ID)
	if err == nil {
		err = readable(m, f.Read)
	}
	if err != nil {
		return "", err
	}
	own := *l.script.Compiled
	look := env.ReadOnly()
	own.spreadOut(m, lib, look)
	x := &exec.Restore{Manifest: m, Drop: l.o.drop(), NewOutputs: true}
	if err := unknownDrop(x); err != nil {
		return "", err
	}
	if list := x.Misfits(own.Graph(lib, look)); len(list) > 0 {
		return "", &exec.MisfitsError{ID: i.ID, List: list}
	}
	l.forked = true
	return strconv.FormatUint(uint64(i.ID), 10), checkpoint.Fork(env.FS, dir, i.ID, l.Dir, so)
}

const notOurs = "it is of the job that this one was forked from, and so are its outputs"

// readable reads every block that a checkpoint needs.
func readable(m *checkpoint.Manifest, read func(checkpoint.Ref) ([]byte, error)) (err error) {
	m.Refs(func(r checkpoint.Ref) {
		if err == nil {
			_, err = read(r)
		}
	})
	return err
}

// Discard closes a launch whose run did not begin. A folder that was made for it goes again.
func (l *Launched) Discard(env *exec.Env) error {
	err := l.Close()
	if l.forked {
		err = errors.Join(err, checkpoint.Unfork(env.FS, l.Dir))
	}
	return err
}

// sameFolder reports whether two names are of one folder.
func sameFolder(a, b string) bool {
	x, errX := filepath.Abs(a)
	y, errY := filepath.Abs(b)
	return errX == nil && errY == nil && x == y
}
