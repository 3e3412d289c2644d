package repl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/repl/inspect"
	"github.com/ebb-lang/ebb/repl/job"
	"github.com/ebb-lang/ebb/repl/view"
)

var _ = command(Command{
	Name: "restore", Args: "[ID|PATH] [as NAME] [--allow-dropped STAGE] [--pause] [-y] [-j JOB]", Group: "time travel", Most: 3,
	Summary: "start a job from a checkpoint, with the script as it is now, after a list of what fits",
	Text: "It says first which state is taken, what is dropped and what begins empty, and asks. ID is a checkpoint of a job that does not run, of this session or an earlier one: " +
		"the job goes on from there with its folder and its outputs. PATH is the folder of another job, PATH#ID one of its checkpoints, without ID the newest: " +
		"the new job begins with a copy, in .ebb/NAME; it writes outputs of its own, and the other job stays as it is. " +
		"A job that runs is taken back by .rollback.",
	Flags: []Flag{
		{"--allow-dropped", "STAGE", "drop the state of STAGE if it does not fit the script any more; may be given several times"},
		{"--pause", "", "the job stands still at first; .resume lets it go on"},
		{"-y", "", "do not ask"},
		jobFlag,
	},
	Complete: (*Session).checkpointIDs,
	Run:      restore,
})

// restoring is a job that is about to start from a checkpoint.
type restoring struct {
	name   string
	c      *planner.Compiled
	launch planner.Launch
	folder *inspect.Folder
	info   checkpoint.Info
	m      *checkpoint.Manifest
	fits   *planner.Fits
	undone []exec.Undone
	rewind checkpoint.Rewind
	paused bool
	// other tells that the checkpoint is that of another job.
	other bool
}

func restore(s *Session, a *Args) error {
	what, name, err := a.As("a job")
	if err != nil {
		return err
	}
	if name != "" {
		if err := a.jobNamed(name); err != nil {
			return err
		}
	}
	r := &restoring{name: name, paused: a.Has("--pause"), launch: planner.Launch{AllowDropped: a.All("--allow-dropped")}}
	dir, id, other := checkpoint.CutPath(what)
	if !other && name != "" {
		return a.Usage("a job that goes on from its own checkpoint keeps its name; `as` goes with the folder of another job, .fork starts a second one")
	}
	if err := r.of(s, a, other); err != nil {
		return err
	}
	if other {
		r.folder, err = inspect.Open(dir)
	} else {
		r.folder, err = s.folder(a)
		id = what
	}
	if err != nil {
		return err
	}
	defer r.folder.Close()
	if other && len(r.folder.All) == 0 {
		return fmt.Errorf("there is no checkpoint in %s", dir)
	}
	for _, d := range r.folder.Damage() {
		s.Screen.Note(d.String())
	}
	if r.info, r.m, err = r.folder.Get(id); err != nil {
		if info, e := os.Stat(what); e == nil && info.IsDir() {
			err = fmt.Errorf("%w; the folder is ./%s", err, what)
		}
		return err
	}
	if err := r.look(s); err != nil {
		return err
	}
	if err := r.tell(s); err != nil {
		return err
	}
	if err := r.refused(); err != nil {
		return err
	}
	if !a.Has("-y") && !s.Screen.Ask(fmt.Sprintf("Start %s from checkpoint %d?", r.name, r.info.ID)) {
		s.Screen.Note("nothing was changed")
		return nil
	}
	return r.start(s)
}

// of finds which job is to start, and that it does not run.
func (r *restoring) of(s *Session, a *Args, other bool) error {
	r.other = other
	if r.name == "" {
		r.name = s.name()
		if len(s.jobs) > 0 && !other || a.Has("-j") {
			j, err := s.job(a)
			if err != nil {
				return err
			}
			r.name = j.called
		}
	}
	for _, j := range s.jobs {
		if j.called != r.name || j.State().Over() {
			continue
		}
		if other {
			return fmt.Errorf("%s is %s; `.restore PATH as NAME` starts a second one under another name, .stop ends it", j, j.State())
		}
		return fmt.Errorf("%s is %s; .rollback takes it back while it lives, .fork starts a second one from a checkpoint, .stop ends it", j, j.State())
	}
	if !s.writes() {
		return errors.New("the script of the session writes nothing; .load FILE takes up a script")
	}
	return nil
}

// look finds out what the start would do, and changes nothing.
func (r *restoring) look(s *Session) error {
	var err error
	if r.c, err = s.compileScript(s.opts.Plan); err != nil {
		return err
	}
	if r.other {
		r.launch.Dir = filepath.Join(".ebb", r.name)
		if _, err := os.Lstat(r.launch.Dir); err == nil {
			return fmt.Errorf("%s holds checkpoints already; `.restore PATH as NAME` starts a job with a folder of its own", r.launch.Dir)
		}
		for _, o := range outputsOf(r.c.Script, s.env().FS) {
			if _, err := os.Lstat(o); err == nil {
				return fmt.Errorf("the output %s is there already, and what it holds is not that of the checkpoint; write somewhere else. "+
					"`set checkpoint.dir = %q` and `.restore ID` go on with that job itself", shown(o), r.folder.Dir)
			}
		}
	}
	if r.launch.From = fmt.Sprint(r.info.ID); r.other {
		r.launch.From = fmt.Sprintf("%s#%d", r.folder.Dir, r.info.ID)
	}
	env := s.env()
	env.Stats, env.Splits = &exec.Stats{}, &exec.Splits{}
	if r.fits, err = r.c.Fits(r.m, s.lib, env, r.launch); err != nil {
		return err
	}
	for _, ref := range refs(r.m) {
		if _, err := r.folder.Read(ref); err != nil {
			if d, ok := errors.AsType[*checkpoint.DamageError](err); ok {
				err = fmt.Errorf("%s; nothing was changed: .verify shows which checkpoints are whole, .restore ID starts from one of those", d.Damage)
			}
			return fmt.Errorf("cannot start from checkpoint %d: %w", r.info.ID, err)
		}
	}
	if r.other || len(r.fits.Unfit()) > 0 {
		return nil
	}
	l, err := r.c.Look(r.name+".ebb", s.script.text(), s.lib, env, r.launch)
	if err != nil {
		return startError(err)
	}
	defer l.Close()
	if l.Dir == "" {
		return fmt.Errorf("the script takes no checkpoints now: %s", l.Why)
	}
	if !sameFolder(l.Dir, r.folder.Dir) {
		return fmt.Errorf("the script keeps its checkpoints in %s now; `.restore %s#%d as NAME` starts a job from a copy", l.Dir, r.folder.Dir, r.info.ID)
	}
	back, err := l.PlanRollback(r.info.ID, env)
	if err != nil {
		return err
	}
	r.undone, r.rewind = back.Outputs, l.Store().Rewind(r.m)
	return nil
}

func sameFolder(a, b string) bool {
	x, errX := filepath.Abs(a)
	y, errY := filepath.Abs(b)
	return errX == nil && errY == nil && x == y
}

func refs(m *checkpoint.Manifest) (out []checkpoint.Ref) {
	m.Refs(func(r checkpoint.Ref) { out = append(out, r) })
	return out
}

// tell lists what fits.
func (r *restoring) tell(s *Session) error {
	var b strings.Builder
	of := ""
	if r.other {
		of = " of " + shown(r.folder.Dir)
	}
	fmt.Fprintf(&b, "checkpoint %s%s, taken %s ago after row %s of the input, and the script:\n", checkpoint.Label(r.info.ID, r.info.Name), of,
		view.Span(time.Since(time.Unix(0, r.m.Durable))), count(r.m.Stats["rows_in"]))
	if x := r.rewind; x.Rows > 0 {
		b.WriteString(readAgain(r.m, x.Text(plural(x.Rows, "row"))))
	}
	places := map[string]string{}
	for _, p := range planner.SourcePositions(r.m, r.folder.Read, s.lib) {
		if p.Err == nil && p.Text != "" {
			places[p.Stage] = " from " + p.Text + " on"
		}
	}
	for _, f := range r.fits.Kept {
		fmt.Fprintf(&b, "  %s: %s\n", f.Stage, r.fate(f, places))
	}
	for _, name := range r.fits.New {
		fmt.Fprintf(&b, "  %s: is new and begins empty\n", name)
	}
	for _, o := range r.undone {
		fmt.Fprintf(&b, "  %s: %s\n", o.Output, undone(o))
	}
	return s.say("%s", b.String())
}

// fate says what becomes of what is kept.
func (r *restoring) fate(f exec.Fit, places map[string]string) string {
	kept := "state of " + inspect.Size(f.Bytes)
	if f.Rows > 0 {
		kept = fmt.Sprintf("state of %s, %s,", plural(f.Rows, "row"), inspect.Size(f.Bytes))
	}
	switch {
	case f.Fate == exec.Unfit && f.Edge:
		return f.Why
	case f.Fate == exec.Unfit:
		return "does not fit: " + f.Why
	case f.Edge && f.Fate == exec.Dropped:
		return plural(f.Rows, "row") + " in flight are dropped"
	case f.Edge:
		return plural(f.Rows, "row") + " in flight return"
	case f.Source && f.Fate == exec.Dropped:
		return "its place is dropped: it is read from the beginning"
	case f.Source:
		return "is read" + places[f.Stage]
	case f.Sink && r.other:
		return "begins a new output"
	case f.Sink && f.Fate == exec.Dropped:
		return "what it knows of its output is dropped"
	case f.Sink:
		return "goes on with its output"
	case f.Fate == exec.Dropped:
		return kept + " is dropped"
	}
	return kept + " is taken"
}

// refused is the error of a checkpoint that does not fit.
func (r *restoring) refused() error {
	var stages []string
	for _, f := range r.fits.Unfit() {
		for _, end := range strings.Split(f.Stage, " > ") {
			if !f.Edge || end == f.Stage {
				stages = append(stages, "--allow-dropped "+end)
			}
		}
		if f.Edge && len(stages) == 0 {
			stages = append(stages, "--allow-dropped "+strings.Split(f.Stage, " > ")[1])
		}
	}
	if len(stages) == 0 {
		return nil
	}
	slices.Sort(stages)
	return fmt.Errorf("checkpoint %d does not fit the script; nothing was started. .undo takes the last change of the script back, %s drops what does not fit",
		r.info.ID, strings.Join(slices.Compact(stages), " "))
}

func (r *restoring) start(s *Session) error {
	j, err := s.start(r.name, s.script.text(), s.opts.Plan, r.launch, r.paused)
	if err != nil {
		return startError(err)
	}
	if r.other {
		if err := j.own(); err != nil && j.State() != job.Failed {
			j.Kill()
			return fmt.Errorf("%s was ended again: %w", j, err)
		}
	}
	s.Screen.Note(j.begins())
	return nil
}
