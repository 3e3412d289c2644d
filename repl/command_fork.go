package repl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/repl/inspect"
	"github.com/ebb-lang/ebb/repl/job"
)

var _ = command(Command{
	Name: "fork", Args: "[ID] [as NAME] [-j JOB]", Group: "time travel", Most: 3,
	Summary: "start a second job from a checkpoint, with the script as it is now and outputs of its own",
	Text: "The first job goes on as it was. The fork reads the same input from the checkpoint on, writes PATH.NAME.EXT beside each output PATH.EXT, from the " +
		"checkpoint on, and keeps its checkpoints in .ebb/NAME. So an edited script is tried on the same past: .compare shows the rows in which the outputs differ.",
	Flags:    []Flag{jobFlag},
	Complete: (*Session).checkpointIDs,
	Run:      fork,
})

// origin is where a fork comes from.
type origin struct {
	job string           // that it was forked from
	at  map[string]int64 // how long the outputs of that job were at the checkpoint, by absolute path
}

func fork(s *Session, a *Args) error {
	id, name, err := a.As("a fork")
	if err != nil {
		return err
	}
	from, err := s.job(a)
	if err != nil {
		return err
	}
	return s.within(a, func(f *inspect.Folder) error {
		i, m, err := f.Get(id)
		if err != nil {
			return err
		}
		if name == "" {
			name = fmt.Sprintf("%s-%d", from.called, i.ID)
		}
		if err := a.jobNamed(name); err != nil {
			return err
		}
		if !s.writes() {
			return errors.New("the script of the session writes nothing; .load FILE takes up a script")
		}
		text, moved, err := withOutputs(s.script.text(), name, s.env().FS)
		if err != nil {
			return err
		}
		for _, p := range moved {
			if _, err := os.Lstat(p[1]); err == nil {
				return fmt.Errorf("the output %s of the fork is there already; remove it, or fork under another name", p[1])
			}
		}
		at, err := f.OutputSizes(m)
		if err != nil {
			return err
		}
		dir := filepath.Join(".ebb", name)
		if _, err := os.Lstat(dir); err == nil {
			return fmt.Errorf("%s holds the checkpoints of another job; remove it, or fork under another name", dir)
		}
		j, err := s.start(name, text, s.opts.Plan, planner.Launch{Dir: dir, From: fmt.Sprintf("%s#%d", f.Dir, i.ID)}, false)
		if err != nil {
			return forkError(err)
		}
		j.origin = &origin{job: from.called, at: at}
		if err := j.own(); err != nil {
			j.Kill()
			return fmt.Errorf("%s was ended again: %w", j, err)
		}
		s.Screen.Note(j.begins())
		for _, p := range moved {
			s.Screen.Note(fmt.Sprintf("it writes %s", p[1]))
		}
		return nil
	})
}

// own gives a fork a checkpoint of its own, so that a rollback has where to go: the one that it began with says nothing of
// its outputs.
func (j *sessionJob) own() error {
	if _, err := j.Checkpoint(""); err != nil && j.State() != job.Finished { // a job that has finished has taken its last one
		return err
	}
	return nil
}

// forkError says what to do about a script that does not fit.
func forkError(err error) error {
	err = startError(err)
	if text := err.Error(); strings.Contains(text, "does not fit checkpoint") {
		text, _, _ = strings.Cut(text, "\n`--allow-dropped")
		return fmt.Errorf("%s\nthe fork was not made; .undo takes the last change of the script back", text)
	}
	return err
}
