package sim_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/planner"
)

// forkPrefix begins the names of the folders that forks write into.
const forkPrefix = "fork"

// fork is another job that was begun from a checkpoint of one that ran: on the same disk, with checkpoints and outputs of its
// own.
type fork struct {
	*world
	had   map[string]string // what the other job had written at that checkpoint
	peace map[string]string // what that one writes in peace
}

// sometimes decides what is not in each story. It draws from no source that anything else draws from, so that stories without
// these are told as before.
func (w *world) sometimes(l *life, z size) {
	if r := rand.New(rand.NewPCG(l.seed, 6)); z.forks > 0 && r.IntN(z.forks) == 0 && w.origin == "" {
		l.fork = 1 + r.IntN(700)
	}
	if r := rand.New(rand.NewPCG(l.seed, 9)); z.hidden > 0 && r.IntN(z.hidden) == 0 {
		l.hidden = 1 << r.IntN(10)
	}
}

// forkOff begins another job from a checkpoint of one that runs, and lets it live once while that one stands still. done is
// false if there is no checkpoint yet; crashed: the power went.
func (w *world) forkOff(l life, launched *planner.Launched) (done, crashed bool, err error) {
	r := rand.New(rand.NewPCG(l.seed, 7))
	id := w.target(launched, r)
	if id == 0 || len(w.forks) > 1 || w.before > 0 && strings.Contains(w.job.script, "partition_by") { // see seen
		return false, false, nil
	}
	before := w.fs.Before
	defer func() { w.fs.Before = before }()
	w.fs.Before = nil
	f, err := w.newFork(id, l.seed, r)
	if err != nil {
		return false, false, err
	}
	w.forks = append(w.forks, f)
	w.count.forks++
	first := life{seed: l.seed + 1<<40, width: 1 + r.IntN(4), mode: "auto", interval: int64(5000 + r.IntN(300_000)), open: 1 + r.IntN(2), rows: 1 << r.IntN(8), from: f.origin}
	if r.IntN(2) == 0 {
		first.crashAt = 1 + r.IntN(60)
	} else {
		first.stop = 1 + r.IntN(600)
	}
	_, err = f.run(first)
	w.count.add(f.count)
	crashed = f.count.crashes > 0
	f.count = tally{}
	if err != nil {
		err = fmt.Errorf("%s: %+v: %w", f.origin, first, err)
	}
	return true, crashed, err
}

// newFork prepares a fork from a checkpoint. Its folders are called by seed.
func (w *world) newFork(id checkpoint.ID, seed uint64, r *rand.Rand) (*fork, error) {
	had, err := w.writtenAt(id)
	if err != nil {
		return nil, err
	}
	peace, err := peaceOf(w.job)
	if err != nil {
		return nil, err
	}
	c, now := *w, *w.clock
	f := &fork{world: &c, had: had, peace: peace}
	f.origin, f.clock = fmt.Sprintf("%s#%d", w.dir, id), &now
	f.out = fmt.Sprintf("%s%d", forkPrefix, seed)
	f.dir, f.job = filepath.Join(".ebb", f.out), w.job.into(f.out, peace)
	f.rng, f.count, f.forks, f.drained, f.before, f.newest, f.given = r, tally{}, nil, 0, 0, 0, 0
	f.stood, f.visible, f.outcome = maps.Clone(w.stood), map[checkpoint.ID]map[string]string{}, map[checkpoint.ID]string{}
	if err := w.fs.MkdirAll(f.out); err != nil {
		return nil, err
	}
	return f, w.fs.SyncDir(".")
}

// writtenAt returns what the job had written at a checkpoint, by going back to that on a copy of the disk.
func (w *world) writtenAt(id checkpoint.ID) (had map[string]string, err error) {
	c := *w
	c.fs, c.rng, c.count = w.fs.Kill(), rand.New(rand.NewPCG(uint64(id), 8)), tally{}
	c.stood, c.visible, c.outcome = maps.Clone(w.stood), map[checkpoint.ID]map[string]string{}, maps.Clone(w.outcome)
	at := *w.clock
	c.clock = &at
	c.begun = func() { had, err = c.files(content) }
	if _, e := c.run(life{seed: uint64(id), width: 1, mode: "auto", interval: 1_000_000, rows: 10, from: fmt.Sprint(uint64(id)), crash: 300}); e != nil {
		return nil, fmt.Errorf("going back to checkpoint %d: %w", id, e)
	}
	if had == nil && err == nil {
		err = fmt.Errorf("going back to checkpoint %d: its outputs were not committed", id)
	}
	return had, err
}

// forksGoOn lets some of the forks live to their ends, or all of them. Together with what the other job had written they have
// written what a run in peace does.
func (w *world) forksGoOn(z size, all bool) error {
	forks := w.forks
	w.forks = nil
	if all && len(forks) > 0 { // a fork may lose the power, and what is written before the first checkpoint of a run is nowhere promised to be durable
		if err := w.flush(); err != nil {
			return err
		}
	}
	for _, f := range forks {
		if !all && f.rng.IntN(2) == 0 {
			w.forks = append(w.forks, f)
			continue
		}
		f.fs = w.fs
		z.lives = min(z.lives, 2)
		if f.gone() {
			continue
		}
		var err error
		if !f.finished() { // else it would begin anew, with what comes before, too
			err = f.live(f.rng.Uint64()>>10, z)
		}
		w.fs = f.fs
		w.count.add(f.count)
		if err == nil {
			err = f.check()
		}
		if err != nil {
			return fmt.Errorf("the fork from %s: %w", f.origin, err)
		}
	}
	return nil
}

// flush makes durable what the job has written.
func (w *world) flush() error {
	_, err := w.files(func(_ io.Reader, name string) (string, error) {
		f, err := w.fs.Edit(name)
		if err == nil {
			err = errors.Join(f.Sync(), f.Close())
		}
		for err == nil {
			name = filepath.Dir(name)
			if err = w.fs.SyncDir(name); name == w.out {
				break
			}
		}
		return "", err
	})
	return err
}

// starts reports whether the folder of the job is there; that of a fork may have been lost with the power.
func (w *world) starts() bool {
	_, err := w.fs.Stat(w.dir)
	return err == nil
}

// gone reports whether a fork has to begin again, and cannot, as the other job keeps the checkpoint no longer.
func (f *fork) gone() bool {
	dir, id, _ := checkpoint.CutPath(f.origin)
	other, err := checkpoint.OpenReader(f.fs, dir)
	if err == nil {
		defer other.Close()
		_, err = checkpoint.Find(other.List(), id)
	}
	return err != nil && !f.starts()
}

// check compares what both jobs have written with what one does in peace. Of the other job's checkpoints none is left once
// there is one of the fork.
func (f *fork) check() error {
	if r, err := checkpoint.OpenReader(f.fs, f.dir); err == nil {
		defer r.Close()
		all := r.List()
		if i := slices.IndexFunc(all, func(i checkpoint.Info) bool { return i.Foreign }); i >= 0 && len(all) > 1 {
			return fmt.Errorf("I12: checkpoint %d is that of the other job, and is kept", all[i].ID)
		}
	}
	got, err := f.files(content)
	if err != nil {
		return err
	}
	for name, text := range f.had {
		got[name] = joined(name, text, got[name])
	}
	for name, text := range got {
		got[name] = arranged(f.job, text)
	}
	return compare(f.peace, got)
}

// joined is a file and another one that goes on where it ends, with a header of its own.
func joined(name, a, b string) string {
	if header, _, whole := strings.Cut(a, "\n"); whole && strings.Contains(name, ".csv") {
		b = strings.TrimPrefix(b, header+"\n")
	}
	return a + b
}

// into is the job with outputs in a folder.
func (j job) into(dir string, peace map[string]string) job {
	for name := range peace {
		top, _, _ := strings.Cut(filepath.ToSlash(name), "/")
		j.script = strings.ReplaceAll(j.script, `"`+top+`"`, `"`+dir+"/"+top+`"`)
	}
	return j
}

// TestForks tells stories in which every life begins another job from one of its checkpoints.
func TestForks(t *testing.T) {
	n, seeds := 0, uint64(2)
	names := []string{"several", "packed parts", "copy", "behind", "session", "late", "changes", "limit"}
	if testing.Short() { // only outputs are flushed side by side
		names, seeds = names[:2], 1
	}
	for _, name := range names {
		for seed := range seeds {
			count, err := story(named(name, seed), seed, size{lives: 4, width: 4, rows: 128, forks: 1, hidden: 3})
			if err != nil {
				t.Fatalf("job %s, seed %d: %v", name, seed, err)
			}
			n += count.forks
		}
	}
	if n < len(names)*int(seeds)*3/4 {
		t.Errorf("only %d forks were begun", n)
	}
}

// TestHiddenFiles tells stories in which every life holds outputs back in hidden files, which are copied in small pieces.
func TestHiddenFiles(t *testing.T) {
	names, seeds := []string{"several", "packed parts", "copy", "behind", "many parts"}, uint64(2)
	if testing.Short() {
		names, seeds = names[:2], 1
	}
	for _, name := range names {
		for seed := range seeds {
			if _, err := story(named(name, seed), seed, size{lives: 6, width: 4, rows: 128, hidden: 1}); err != nil {
				t.Fatalf("job %s, seed %d: %v", name, seed, err)
			}
		}
	}
}
