package repl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/repl/inspect"
)

// What the commands that look into checkpoints share.

// folder opens the checkpoint folder that a command looks into: that of a job, or of the session's earlier runs. The caller
// closes it.
func (s *Session) folder(a *Args) (*inspect.Folder, error) {
	dir, none := filepath.Join(".ebb", s.name()), "there is no job and no earlier run of this script here; .run starts one"
	if len(s.jobs) == 0 && s.script.writes() {
		if c, err := s.compileScript(s.opts.Plan); err == nil {
			if set, ok := c.Script.Set["checkpoint.dir"].(string); ok && set != "" {
				dir = set
			}
		}
	}
	if len(s.jobs) > 0 || a.Has("-j") {
		j, err := s.job(a)
		if err != nil {
			return nil, err
		}
		if dir = j.Folder(); dir == "" {
			return nil, fmt.Errorf("%s takes no checkpoints: %s", j, j.Why())
		}
		none = fmt.Sprintf("%s has no checkpoint yet; .checkpoint takes one", j)
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New(none)
	}
	f, err := inspect.Open(dir)
	if err != nil {
		return nil, err
	}
	f.Stay = true
	if len(f.All) == 0 {
		f.Close()
		return nil, errors.New(none)
	}
	return f, nil
}

// within opens the folder of a command, tells what is damaged in it and does something with it.
func (s *Session) within(a *Args, f func(*inspect.Folder) error) error {
	open, err := s.folder(a)
	if err != nil {
		return err
	}
	defer open.Close()
	for _, d := range open.Damage() {
		s.Screen.Note(d.String())
	}
	err = f(open)
	var unknown *checkpoint.UnknownError
	if errors.As(err, &unknown) {
		return fmt.Errorf("%w%s", err, s.elsewhere(unknown.Word, open.Dir))
	}
	var misuse *inspect.UsageError
	if errors.As(err, &misuse) {
		return a.Usage("%s", misuse.Text)
	}
	return err
}

// printer prints what is in a checkpoint: as a table, unless the mode is one of programs.
func (s *Session) printer() *inspect.Printer {
	p := &inspect.Printer{Format: "table", Out: s.Screen}
	if s.mode != "" && !s.mode.People() {
		p.Format = string(s.mode)
		return p
	}
	o := s.viewOptions(types.Stream{Bounded: true})
	p.Width, p.Height, p.Color = o.Width, o.Height, o.Color
	return p
}

// checkpointIDs are offered where a checkpoint may stand: the newest first, then names.
func (s *Session) checkpointIDs(args []string) []string {
	a, _ := ofJob(args)
	f, err := s.folder(a)
	if err != nil {
		return nil
	}
	defer f.Close()
	var ids, names []string
	for k := len(f.All) - 1; k >= 0; k-- {
		ids = append(ids, fmt.Sprint(f.All[k].ID))
		if n := f.All[k].Name; n != "" {
			names = append(names, n)
		}
	}
	return append(ids, names...)
}

// ofJob takes -j JOB out of words that are typed.
func ofJob(words []string) (a *Args, rest []string) {
	a = &Args{Flags: map[string]string{}}
	for i := 0; i < len(words); i++ {
		if words[i] == jobFlag.Name && i+1 < len(words) {
			i++
			a.Flags[jobFlag.Name] = words[i]
			continue
		}
		rest = append(rest, words[i])
	}
	return a, rest
}

// stageNames are offered where a stage of a checkpoint may stand, behind an id.
func (s *Session) stageNames(args []string) []string {
	a, rest := ofJob(args)
	if len(rest) < 2 {
		return s.checkpointIDs(args)
	}
	f, err := s.folder(a)
	if err != nil {
		return nil
	}
	defer f.Close()
	_, m, err := f.Get(rest[0])
	if err != nil {
		return nil
	}
	return inspect.Stages(m)
}

// elsewhere says which other jobs have a checkpoint that one has not, as the end of a message.
func (s *Session) elsewhere(word, dir string) string {
	out := ""
	for _, j := range s.jobs {
		if j.Folder() == "" || j.Folder() == dir {
			continue
		}
		f, err := inspect.Open(j.Folder())
		if err != nil {
			continue
		}
		if _, err := f.Find(word); err == nil {
			out += fmt.Sprintf("; %s has it: -j %s", j, j.called)
		}
		f.Close()
	}
	return out
}
