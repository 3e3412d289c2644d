package planner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/stdlib"
)

// Launch says how a script is started: where its checkpoints lie, and what it goes on from.
type Launch struct {
	Dir          string   // of the checkpoints; "": what the script sets, else .ebb/NAME
	Fresh        bool     // abandon the checkpoints that are there
	From         string   // ID, name, -N of a checkpoint to go on from; "": the newest; PATH, PATH#ID: one of another job, which the run is a fork of
	AllowDropped []string // stages whose state may be dropped
	Mode         string   // "": what the script sets
	Interval     int64    // nanoseconds; 0: what the script sets
	Engine       string   // version
	Owner        checkpoint.Owner

	// Policy, Store, Piece and Deliver are for the simulator: they change when checkpoints are taken, how they are kept, how
	// much state is written in a step and in which order tasks hear of checkpoints.
	Policy  func(*checkpoint.Policy)
	Store   func(*checkpoint.Options)
	Piece   int
	Deliver func(n int) int

	Taken   func(*checkpoint.Manifest)
	Aborted func(id checkpoint.ID, reason string)
}

// Launched is a script that is ready to start.
type Launched struct {
	Graph *exec.Graph
	Setup exec.Setup
	Dir   string // of the checkpoints; "" if none are taken
	Why   string // why none are taken
	// From is the checkpoint the run goes on from, nil for a fresh start; Notes is what people should know about it.
	From   *checkpoint.Manifest
	Info   checkpoint.Info
	Rewind checkpoint.Rewind // what is read again
	Notes  []string
	Back   *RolledBack // nil: it goes on from the newest

	script launchedScript
	lib    *stdlib.Catalog
	o      Launch
	policy checkpoint.Policy
	forked bool // the folder was made for it

	mu    sync.Mutex
	store *checkpoint.Store
}

// launchedScript is what is launched.
type launchedScript struct {
	*Compiled
	name, text string
}

// Store returns the store of the checkpoints; nil if none have been taken yet. The run goes on using it.
func (l *Launched) Store() *checkpoint.Store {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.store
}

// Compiled is the script as it runs: at another width than it was compiled for, if its checkpoint is of such a run.
func (l *Launched) Compiled() *Compiled { return l.script.Compiled }

func (l *Launched) setStore(s *checkpoint.Store) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.store = s
}

// Begun adds to Notes what is known when the run has started: that it is a fresh start because the run before left no checkpoint.
func (l *Launched) Begun(env *exec.Env) {
	if l.From == nil && !l.o.Fresh && env.Stats.Killed.Load() {
		l.Notes = append(l.Notes, "the run before was killed without a checkpoint: this one starts afresh")
	}
}

// Close gives the checkpoint folder back, after the run.
func (l *Launched) Close() error {
	s := l.Store()
	if s == nil {
		return nil
	}
	l.setStore(nil)
	return s.Close()
}

// A RefusedError is a checkpoint that the script cannot go on from.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

// Look opens the checkpoints of a script that does not run, to ask what a rollback would do. Nothing is changed; Close gives
// the folder back.
func (c *Compiled) Look(name, text string, lib *stdlib.Catalog, env *exec.Env, o Launch) (*Launched, error) {
	l := &Launched{script: launchedScript{c, name, text}, lib: lib, o: o}
	_, mode, err := c.policy(o)
	if err != nil {
		return nil, err
	}
	if l.Dir, l.Why = c.checkpointDir(name, lib, env, o, mode); l.Dir == "" {
		return l, nil
	}
	if _, err := env.FS.Stat(l.Dir); err != nil {
		return l, nil
	}
	so := c.storeOptions(env, o)
	if so.From, err = l.find(env, o.From); err != nil {
		return nil, err
	}
	so.Accept = func(s *checkpoint.Store, _ *checkpoint.Recovery) error { return l.outputsHere(s, so.From, env) }
	l.store, _, err = checkpoint.Open(env.FS, l.Dir, so)
	return l, err
}

func (c *Compiled) storeOptions(env *exec.Env, o Launch) checkpoint.Options {
	so := checkpoint.Options{CheckOutput: checkpoint.CheckOutput(env.FS, ""), KeepOutput: checkpoint.KeepOutput(env.FS, ""), Owner: o.Owner}
	if n, ok := c.Script.Set["checkpoint.keep"].(int64); ok {
		so.Keep = int(n)
	}
	if o.Store != nil {
		o.Store(&so)
	}
	return so
}

// Launch prepares a compiled script. name is its file's name.
func (c *Compiled) Launch(name, text string, lib *stdlib.Catalog, env *exec.Env, o Launch) (*Launched, error) {
	l := &Launched{script: launchedScript{c, name, text}, lib: lib, o: o}
	var mode string
	var err error
	if l.policy, mode, err = c.policy(o); err != nil {
		return nil, err
	}
	if o.Policy != nil {
		o.Policy(&l.policy)
	}
	l.Dir, l.Why = c.checkpointDir(name, lib, env, o, mode)
	if l.Dir == "" {
		if o.From != "" || o.Fresh {
			return nil, &RefusedError{"the run takes no checkpoints: " + l.Why}
		}
		l.Graph = c.Graph(lib, env)
		return l, nil
	}
	so := c.storeOptions(env, o)
	if dir, id, other := checkpoint.CutPath(o.From); other && sameFolder(dir, l.Dir) {
		if o.From = id; id == "" {
			o.From = "-0"
		}
	} else if other {
		if o.From, err = l.fork(dir, id, lib, env, so); err != nil {
			return nil, err
		}
	}
	first := checkpoint.ID(1)
	if _, err := env.FS.Stat(l.Dir); err == nil {
		if first, err = l.open(c, lib, env, o, so); err != nil {
			return nil, errors.Join(err, l.Discard(env))
		}
	} else if o.From != "" {
		return nil, &RefusedError{fmt.Sprintf("there is no checkpoint %s: %s does not exist", o.From, l.Dir)}
	}
	l.prepare(env, so, first)
	return l, nil
}

// prepare makes the graph, and says how its checkpoints are taken: the first gets an id of at least first.
func (l *Launched) prepare(env *exec.Env, so checkpoint.Options, first checkpoint.ID) {
	c, o := l.script, l.o
	l.Graph = c.Graph(l.lib, env)
	dir, _ := os.Getwd()
	job, folder := jobName(c.name), checkpoint.FolderOf(dir, l.Dir)
	script := checkpoint.Ref{}
	l.Setup.Checkpoints = &exec.Checkpoints{Policy: l.policy, First: first, Taken: o.Taken, Aborted: o.Aborted, Deltas: true, Piece: o.Piece, Deliver: o.Deliver,
		Reached: func(rows int64, over bool) {
			if s := l.Store(); s != nil {
				s.NoteReached(rows, over)
			}
		},
		Open: func() (*checkpoint.Store, error) {
			if s := l.Store(); s != nil {
				return s, nil
			}
			s, _, err := checkpoint.Open(env.FS, l.Dir, so)
			if err == nil {
				l.setStore(s)
			}
			return s, err
		},
		Describe: func(s *checkpoint.Store, m *checkpoint.Manifest) error {
			m.Engine, m.Job, m.Dir, m.Folder, m.Width, m.Spread = o.Engine, job, dir, folder, c.Options.Parallelism, c.Options.Spread
			if script.IsZero() { // once a run
				data, err := c.saved(c.name, c.text)
				if err != nil {
					return err
				}
				if script, err = s.Append(exec.ScriptBlock, data); err != nil {
					return err
				}
			}
			m.Script = script
			return nil
		}}
}

// open opens the folder of an earlier run and finds what to go on from.
func (l *Launched) open(c *Compiled, lib *stdlib.Catalog, env *exec.Env, o Launch, so checkpoint.Options) (checkpoint.ID, error) {
	from, err := l.find(env, o.From)
	if err != nil {
		return 0, err
	}
	afresh := func(i checkpoint.Info) bool {
		return o.Fresh || o.From == "" && (i.ID == 0 || i.Finished && i.Committed)
	}
	var away error // outputs of what was found are somewhere else
	so.From, so.Late = from, true
	so.Accept = func(s *checkpoint.Store, r *checkpoint.Recovery) error {
		if away = l.outputsHere(s, from, env); afresh(r.Info) {
			return nil
		}
		return away
	}
	store, rec, err := checkpoint.Open(env.FS, l.Dir, so)
	if err != nil {
		return 0, err
	}
	l.setStore(store)
	if from != 0 && from != store.Head() {
		r, err := Rollback(store, from, lib, env)
		if err != nil {
			return 0, err
		}
		l.Back, rec.Newest, rec.Info = r, r.To, infoOf(store, from)
	} else if rec.Newest != nil && !o.Fresh && away == nil {
		if _, err := undoOutputs(store, rec.Newest, lib, env); err != nil {
			return 0, err
		}
	}
	l.Notes = append(l.Notes, rec.Notes()...)
	m := rec.Newest
	if m != nil && o.Fresh && !rec.Info.Foreign && away == nil { // what adds to an output adds to whole rows
		_, err := undoOutputs(store, m, lib, env)
		if err == nil && !rec.Info.Committed {
			err = completeOutputs(store, m, lib, env)
		}
		if err != nil { // perhaps that is why it starts afresh
			l.Notes = append(l.Notes, err.Error())
		}
	}
	switch {
	case m == nil:
	case afresh(rec.Info):
		if err := store.Fresh(); err != nil {
			return 0, err
		}
	default:
		l.goOn(m, rec.Info, env)
		if err := unknownDrop(l.Setup.From); err != nil {
			return 0, err
		}
	}
	return store.Next(), nil
}

// goOn makes the run one that goes on from a checkpoint.
func (l *Launched) goOn(m *checkpoint.Manifest, info checkpoint.Info, env *exec.Env) {
	l.From, l.Info, l.Rewind = m, info, l.Store().Rewind(m)
	l.script.spreadOut(m, l.lib, env)
	l.Setup.From = &exec.Restore{Manifest: m, Read: l.Store().Read, Stream: l.Store().Stream, Secure: l.Store().Secure, Drop: l.o.drop(), NewOutputs: info.Foreign}
}

// drop is AllowDropped as exec takes it.
func (o *Launch) drop() map[string]bool {
	drop := map[string]bool{}
	for _, s := range o.AllowDropped {
		drop[s] = true
	}
	return drop
}

// unknownDrop refuses to drop the state of a stage of which a checkpoint keeps nothing.
func unknownDrop(x *exec.Restore) error {
	unknown, kept := x.Unknown()
	if unknown == "" {
		return nil
	}
	text := fmt.Sprintf("checkpoint %d keeps nothing of a stage %q that could be dropped.", x.Manifest.ID, unknown)
	if s := syntax.Suggest(unknown, kept); s != "" {
		text += fmt.Sprintf(" Did you mean `%s`?", s)
	}
	return &RefusedError{text + " It keeps something of " + strings.Join(kept, ", ")}
}

func infoOf(s *checkpoint.Store, id checkpoint.ID) checkpoint.Info {
	for _, i := range s.List() {
		if i.ID == id {
			return i
		}
	}
	return checkpoint.Info{}
}

// find returns the id of a checkpoint that is given as number, name or -N; 0 if none is given.
func (l *Launched) find(env *exec.Env, text string) (checkpoint.ID, error) {
	if text == "" {
		return 0, nil
	}
	f, err := checkpoint.OpenReader(env.FS, l.Dir)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if err := f.Lost(); err != nil {
		return 0, err
	}
	i, err := checkpoint.Find(f.List(), text)
	if err != nil {
		return 0, &RefusedError{err.Error()}
	}
	return i.ID, nil
}

// spreadOut makes the tasks of a wider run also at parallelism 1, if the checkpoint that a run goes on from is of one.
func (c *Compiled) spreadOut(m *checkpoint.Manifest, lib *stdlib.Catalog, env *exec.Env) {
	if (m.Width > 1 || m.Spread) && c.Options.Parallelism == 1 && !c.Options.Spread {
		c.Options.Spread = true
		c.Physical = Parallelise(c.Physical.Logical, 1, true, partialOf(lib, env))
	}
}

// policy returns when checkpoints are taken.
func (c *Compiled) policy(o Launch) (checkpoint.Policy, string, error) {
	p := checkpoint.DefaultPolicy()
	set := c.Script.Set
	number := func(key string, to *int64) {
		if v, ok := set["checkpoint."+key].(int64); ok {
			*to = v
		}
	}
	number("interval", &p.Interval)
	number("min_pause", &p.MinPause)
	number("timeout", &p.Timeout)
	number("align_timeout", &p.AlignTimeout)
	tolerate := int64(p.Tolerate)
	number("tolerate", &tolerate)
	p.Tolerate = int(tolerate)
	if o.Interval > 0 {
		p.Interval = o.Interval
	}
	mode := o.Mode
	if m, ok := set["checkpoint.mode"].(string); ok && mode == "" {
		mode = m
	}
	if mode == "" || mode == "none" {
		return p, mode, nil
	}
	var err error
	p.Mode, err = checkpoint.ParseMode(mode)
	return p, mode, err
}

// checkpointDir returns where the checkpoints of a run lie; "" and why if it takes none.
func (c *Compiled) checkpointDir(name string, lib *stdlib.Catalog, env *exec.Env, o Launch, mode string) (dir, why string) {
	set, _ := c.Script.Set["checkpoint.dir"].(string)
	if o.Dir != "" {
		set = o.Dir
	}
	switch {
	case mode == "none":
		return "", "`checkpoint.mode` is none"
	case set != "":
		return set, ""
	case name == "-c" || name == "<stdin>":
		return "", "the script has no name; `set checkpoint.dir = \"…\"` says where they lie"
	}
	for _, s := range c.Script.Sources {
		if len((&World{lib, env}).Pipes(s.Conn)) > 0 {
			return "", fmt.Sprintf("source %s cannot be read again; `set checkpoint.dir = \"…\"` takes them nevertheless, and rows may be lost", s.Name)
		}
	}
	for _, w := range c.Script.Writes {
		if w.Conn != nil {
			return filepath.Join(".ebb", jobName(name)), ""
		}
	}
	return "", "nothing is written `into` an output"
}

// jobName is the name of a script's file without its suffix.
func jobName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}
