package planner

import (
	"errors"
	"fmt"
	"os"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
)

// outputsHere refuses to go on from what is in a folder, or from checkpoint from of it, if that would change outputs which are
// those of another folder, of which this one is a copy, or if those that the checkpoints know are not what this run would write.
// A copy of a whole job has outputs of its own where paths are relative.
func (l *Launched) outputsHere(s *checkpoint.Store, from checkpoint.ID, env *exec.Env) error {
	m := s.Last()
	if m == nil || m.Dir == "" {
		return nil
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	home, err := m.Home(env.FS, l.Dir)
	if err == nil && home == here {
		return nil
	}
	elsewhere, is := errors.AsType[*checkpoint.ElsewhereError](err)
	switch {
	case is && !elsewhere.Copy: // who starts it here knows better
		return nil
	case err != nil && !is:
		return err
	}
	for _, o := range l.outputs(s, m, from, env) {
		there, now := checkpoint.Within(home, o), checkpoint.Within(here, o)
		if is && checkpoint.SamePath(env.FS, checkpoint.Within(m.Dir, o), now) {
			return &RefusedError{fmt.Sprintf("cannot go on: %v, and the output %s is that run's, too. Go on with that one in its directory; or write somewhere else and "+
				"`set checkpoint.dir = \"…\"` to a new folder: `--from %s` then begins as a fork", elsewhere, o, l.Dir)}
		}
		if _, err := env.FS.Stat(there); !is && err == nil && !checkpoint.SamePath(env.FS, there, now) {
			return &RefusedError{fmt.Sprintf("cannot go on from %s: its run was in %s, where its output is %s; from here it would be %s. Go on in that directory; "+
				"`--fresh` starts afresh here", l.Dir, home, there, now)}
		}
	}
	return nil
}

// outputs names what may be changed by going on: the outputs of the script, and of those of the checkpoints that count.
func (l *Launched) outputs(s *checkpoint.Store, last *checkpoint.Manifest, from checkpoint.ID, env *exec.Env) []string {
	all := Outputs(l.script.Script, env.FS)
	ms := []*checkpoint.Manifest{last}
	for _, id := range []checkpoint.ID{s.Head(), from} {
		if m, err := s.Manifest(id); id != 0 && err == nil {
			ms = append(ms, m)
		}
	}
	for _, m := range ms {
		if c, err := CompileSaved(m, s.Read, l.lib, env); err == nil { // else it cannot be gone back to, either
			all = append(all, Outputs(c.Script, env.FS)...)
		}
	}
	return all
}
