package sim_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sort"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/sim"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// world is what outlives the crashes of a job: its disk, the time, and what was seen of its checkpoints.
type world struct {
	job       job
	dir       string // of the checkpoints
	out       string // folder of the outputs
	fs        *disk.Sim
	clock     *sim.Clock
	rng       *rand.Rand
	outcome   map[checkpoint.ID]string // published or aborted
	newest    checkpoint.ID            // the largest that was published
	given     checkpoint.ID            // the largest that was begun
	count     tally
	examined  bool // check each checkpoint
	stood     map[checkpoint.ID]map[string]string
	visible   map[checkpoint.ID]map[string]string // what can be seen of the outputs once a checkpoint is committed
	drained   checkpoint.ID                       // those up to it are of a run whose input was ended early
	before    checkpoint.ID                       // those up to it are of before a fresh start
	begun     func()                              // called when the outputs are those of the checkpoint that a run goes on from; nil: nobody
	forks     []*fork                             // that have been begun and not come to their ends
	crashedAt int                                 // the operation before which the last crash was
	origin    string                              // PATH#ID of the checkpoint that it is a fork from; "": it is none
}

// tally is what lives have seen, so that it can be told whether a test tries what it is meant to.
type tally struct {
	lives, restored, taken, aborted, crashes, faults, stops, backs, pauses, asked, undone, forks int
	large                                                                                        int   // hidden files of more than fits into a checkpoint
	flight                                                                                       int64 // rows put back
}

func (t *tally) add(o tally) {
	t.lives += o.lives
	t.restored += o.restored
	t.taken += o.taken
	t.aborted += o.aborted
	t.crashes += o.crashes
	t.faults += o.faults
	t.stops += o.stops
	t.backs += o.backs
	t.pauses += o.pauses
	t.asked += o.asked
	t.undone += o.undone
	t.forks += o.forks
	t.large += o.large
	t.flight += o.flight
}

func newWorld(j job, seed uint64) (*world, error) {
	w := &world{job: j, dir: ".ebb/job", out: ".", fs: disk.NewSim(), clock: &sim.Clock{At: 1e18}, rng: rand.New(rand.NewPCG(seed, 1)), outcome: map[checkpoint.ID]string{}, stood: map[checkpoint.ID]map[string]string{}, visible: map[checkpoint.ID]map[string]string{}}
	for name, text := range inputs(j) {
		f, err := w.fs.Create(name)
		if err != nil {
			return nil, err
		}
		_, err = f.Write([]byte(text))
		if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
			return nil, err
		}
	}
	return w, w.fs.SyncDir(".")
}

// life is one run of the job.
type life struct {
	seed     uint64
	width    int
	mode     string
	interval int64  // of checkpoints; 0: none
	timeout  int64  // of checkpoints; 0: never
	open     int    // checkpoints that may be open
	rows     int    // of a step, at most
	crash    int    // steps; 0: never
	crashAt  int    // operations on the disk; 0: never
	atFlush  bool   // of them, the next that flushes something
	crashOn  string // of them, the next on files whose names end like this
	kill     bool   // the process only: what was written stays
	failAt   int    // the operation that fails, once; 0: none
	fullAt   int    // from this operation on nothing can be written; 0: never
	stop     int    // steps until it is asked to stop; 0: never
	drain    int
	from     string
	lag      bool  // somebody is slow
	deep     int   // rows that channels hold, at most; 0: next to none
	pauses   []int // steps after which it is paused for a while
	back     int   // steps until it is taken back while it runs; 0: never
	hidden   int   // bytes of outputs that ride in a checkpoint; 0: as many as in a run
	fork     int   // steps until another job is begun from one of its checkpoints; 0: never
}

// resting is how many steps a pause takes. Nobody works then, and a scheduler takes a long one for the end.
const resting = 40

// mostStill ends a life that takes checkpoints and does nothing else, unless its job waits for a clock: of a hundred thousand
// checkpoints there were no more than four of the kind in a row.
const mostStill = 40

var library = stdlib.New()

var errDisk = errors.New("the disk has failed")

// run lives a life. It returns whether the job came to its end. An error that the life asked for is none.
func (w *world) run(l life) (done bool, err error) {
	env := exec.OS()
	env.FS, env.Now, env.Stdin, env.Stdout, env.Chunk = w.fs, w.clock.Now, strings.NewReader(""), io.Discard, 300
	env.Together, env.Inline = w.together, l.hidden
	steps := rand.New(rand.NewPCG(l.seed, 2))
	env.StepRows = func() int { return 1 + steps.IntN(max(l.rows, 1)) }
	ops, hurt, crashed := 0, false, false
	w.fs.Before = func(op, name string) error {
		ops++
		if *watched != "" && strings.Contains(name, *watched) {
			fmt.Println(op, name)
		}
		switch {
		case l.crashAt > 0 && ops >= l.crashAt && (!l.atFlush || op == "sync") && strings.HasSuffix(name, l.crashOn):
			crashed, w.crashedAt = true, ops
			return sim.ErrCrash
		case ops == l.failAt:
			hurt = true
			if op == "write" {
				return &disk.Partial{N: steps.IntN(100), Err: errDisk}
			}
			return errDisk
		case l.fullAt > 0 && ops >= l.fullAt && (op == "write" || op == "create" || op == "mkdir"):
			hurt = true
			return syscall.ENOSPC
		}
		return nil
	}
	b := newBooks()
	b.stood, b.width = w.stood, l.width
	if w.examined && l.interval > 0 {
		env.Watch = b
	}
	before := w.given // of the run
	b.stepped = func(id checkpoint.ID) {
		if id <= before {
			b.fail("I5: id %d is used again", id)
		}
		w.given = max(w.given, id)
		if w.outcome[id] != "" { // a task has not heard of its abort yet
			return
		}
		if b.late[id] == nil {
			b.late[id] = &lateness{since: w.clock.At}
		}
		b.late[id].tasks++
	}
	committed, tasks := checkpoint.ID(0), 0
	b.commits = func(id checkpoint.ID) error {
		was := committed
		committed = max(committed, id)
		first := b.restoring                                  // to an older one, perhaps; the run before may have committed it, and forgotten what proved that
		if b.restoring = false; !first && !hurt && !crashed { // else that commit may have failed
			if err := w.seen(was); err != nil {
				return err
			}
		}
		return durable(w.fs, w.rng, w.dir, id, !first, func(*checkpoint.Manifest, func(checkpoint.Ref) ([]byte, error)) error { return nil })
	}
	w.count.lives++
	restored, early := false, false // early: it goes on from a run whose input was ended early, and ends where that did
	defer func() {
		if testing.Verbose() && *oneOf >= 0 {
			fmt.Printf("%+v: done %v, %v\n", l, done, err)
		}
	}()
	err = guarded(func() error {
		launched, err := w.launch(env, l, b)
		if err != nil {
			return err
		}
		if l.from != "" {
			w.count.backs++
		}
		for first := true; ; first = false {
			if launched.Setup.From != nil {
				restored, early = true, launched.From.ID <= w.drained
			} else {
				w.before = w.newest
			}
			b.restoring = launched.Setup.From != nil
			to := checkpoint.ID(0) // to which the run is taken back
			o := w.stepping(l, launched, env, b, &tasks)
			steps, forked := 0, false
			o.Leave = func() bool {
				if b.wrong != nil { // the run need not go on
					return true
				}
				if !first || env.Watch == nil {
					return false
				}
				steps++
				if l.fork > 0 && steps%l.fork == 0 && !forked && !hurt && !b.drained {
					var failed error
					if forked, crashed, failed = w.forkOff(l, launched); failed != nil {
						b.fail("fork: %w", failed)
					}
					if crashed || failed != nil {
						return true
					}
				}
				if l.back == 0 || steps < l.back || steps%l.back > 0 {
					return false
				}
				if to = w.target(launched, w.rng); to == 0 {
					return false
				}
				// What would be wrong is to be found out while the run goes on.
				_, err := launched.PlanRollback(to, env)
				if err != nil && !crashed && !hurt {
					b.fail("a rollback to checkpoint %d is refused: %w", to, err)
				}
				return err == nil
			}
			err = sim.Run(launched.Graph, env, launched.Setup, o)
			if launched.Setup.From != nil {
				w.count.flight += launched.Setup.From.Rows()
			}
			if !errors.Is(err, sim.ErrLeft) || crashed || b.wrong != nil {
				break
			}
			b.begin()
			before, committed = w.given, 0
			again := *env
			again.Stats, again.Splits, again.Pauses = &exec.Stats{}, &exec.Splits{}, &exec.Pauses{}
			env = &again
			next, done, e := launched.Rollback(to, env)
			if err = e; err != nil {
				break
			}
			launched = next
			w.count.undone++
			if done.To.ID != to {
				b.fail("the run was taken back to checkpoint %d instead of %d", done.To.ID, to)
			}
		}
		if !crashed && !errors.Is(err, sim.ErrCrash) {
			err = errors.Join(err, launched.Close())
		}
		return err
	})
	if restored {
		w.count.restored++
	}
	if early { // what it took follows from a run whose input was ended early
		w.drainedHere()
	}
	if b.wrong != nil {
		return false, b.wrong
	}
	var broken *brokenError
	if errors.As(err, &broken) {
		return false, err
	}
	w.fs.Before = nil
	switch {
	case crashed || errors.Is(err, sim.ErrCrash):
		w.count.crashes++
		w.leave(l.kill)
		return false, nil
	case err != nil && l.from != "" && strings.Contains(err.Error(), "there is no checkpoint"): // it is listed, but was not known to be published
		return false, nil
	case err != nil && hurt:
		w.count.faults++
		w.leave(l.kill)
		return false, nil
	case err != nil && l.timeout > 0 && (strings.Contains(err.Error(), "in a row failed") || strings.Contains(err.Error(), "the final checkpoint failed")):
		if l.drain > 0 {
			w.drainedHere()
		}
		w.leave(true)
		return false, nil
	case err == nil && l.stop > 0 || err == nil && l.drain > 0:
		w.count.stops++
		if l.drain > 0 {
			w.drainedHere()
		}
		w.leave(l.kill)
		return false, nil
	}
	return err == nil && !early, err
}

// stepping says how a run is stepped, and what is done to it and looked at after its steps.
func (w *world) stepping(l life, launched *planner.Launched, env *exec.Env, b *books, tasks *int) sim.Options {
	n, paused := 0, 0
	resuming := b.restoring
	resume := func(r *exec.Run) {
		b.paused, paused = false, 0
		r.Resume()
	}
	return sim.Options{Seed: l.seed, Clock: w.clock, Crash: l.crash, Rows: l.deep, Lag: l.lag,
		Round: func() {
			if l.mode == "auto" && env.Watch != nil {
				b.round(w.clock.At, l.interval/3, *tasks)
			}
		},
		Each: func(r *exec.Run) {
			if n++; n == 1 {
				*tasks = len(r.Actors()) - 2
			}
			if resuming && !b.restoring && env.Watch != nil {
				resuming = false
				if w.begun != nil {
					w.begun()
				}
				if err := w.seen(launched.Setup.From.Manifest.ID); err != nil {
					b.fail("I7: %w", err)
				}
			}
			if slices.Contains(l.pauses, n) && paused == 0 && env.Watch != nil {
				w.count.pauses++
				r.Pause()
				if paused, b.paused = n, true; n%2 == 0 { // what a paused run is asked for, it gives
					w.count.asked++
					r.Checkpoint("")
				}
			}
			if paused > 0 && n == paused+resting {
				resume(r)
			}
			if n == l.stop {
				resume(r)
				r.Stop()
			}
			if n == l.drain {
				resume(r)
				r.Drain()
				b.drained = true
			}
			if n%50 == 0 && env.Watch != nil {
				if held := r.Held(); len(held) > 0 {
					b.fail("I11: %s", strings.Join(held, "; "))
				}
			}
		}}
}

// target returns a checkpoint that a run may be taken back to, 0 if there is none.
func (w *world) target(launched *planner.Launched, rng *rand.Rand) checkpoint.ID {
	s := launched.Store()
	if s == nil {
		return 0
	}
	var ids []checkpoint.ID
	for _, i := range s.List() {
		if i.ID > max(w.drained, w.before) {
			ids = append(ids, i.ID)
		}
	}
	if len(ids) == 0 {
		return 0
	}
	return pick(rng, ids...)
}

// drainedHere notes that the input of the run that took the newest checkpoints was ended early.
func (w *world) drainedHere() {
	for _, id := range w.list() {
		w.drained = max(w.drained, id)
	}
}

// together does what others do at the same time one after another, in some order.
func (w *world) together(fs []func()) {
	w.rng.Shuffle(len(fs), func(i, k int) { fs[i], fs[k] = fs[k], fs[i] })
	for _, f := range fs {
		f()
	}
}

// leave makes the disk what is left of it.
func (w *world) leave(kill bool) {
	if kill {
		w.fs = w.fs.Kill()
	} else {
		w.fs = w.fs.Crash(w.rng)
	}
}

// launch prepares a run.
func (w *world) launch(env *exec.Env, l life, b *books) (*planner.Launched, error) {
	c, diags, err := planner.Compile("job.ebb", w.job.script, library, env, planner.Options{Parallelism: l.width})
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, fmt.Errorf("%v", diags)
	}
	mode := l.mode
	if l.interval == 0 {
		mode = "none"
	}
	return c.Launch("job.ebb", w.job.script, library, env, planner.Launch{Dir: w.dir, Mode: mode, Interval: l.interval, From: l.from, Piece: []int{0, 1, 100, 1000}[l.seed%4], Deliver: w.rng.IntN,
		Policy: func(p *checkpoint.Policy) {
			p.MaxOpen, p.AlignTimeout, p.Timeout, p.Tolerate = max(l.open, 1), l.interval/3, l.timeout, 50
		},
		Store: func(o *checkpoint.Options) {
			o.Keep, o.SegmentBytes, o.RoomBytes = 3, []int64{20 << 10, 3 << 10, 60 << 10}[l.seed>>1%3], 4<<10
			o.Together = w.together
		},
		Taken: func(m *checkpoint.Manifest) {
			if w.count.taken++; b.restoring && env.Watch != nil {
				b.fail("I7: checkpoint %d is published, but the outputs of the one that was restored are not committed", m.ID)
			}
			w.settled(b, m.ID, "published")
			if m.ID <= w.newest {
				b.fail("I5: checkpoint %d is published after %d", m.ID, w.newest)
			}
			w.newest = max(w.newest, m.ID)
			for _, x := range m.Outputs {
				if m.Parent != 0 && x.Length > 64<<10 { // the first of a run seals what was written before it, however little
					w.count.large++
				}
			}
			if env.Watch == nil {
				return
			}
			if b.still++; b.still > mostStill && !w.job.timed {
				b.fail("no end after %d checkpoints between which nothing has moved", b.still)
			}
			if err := durable(w.fs, w.rng, w.dir, m.ID, true, func(_ *checkpoint.Manifest, read func(checkpoint.Ref) ([]byte, error)) error {
				return b.examine(m, read)
			}); err != nil {
				b.fail("%w", err)
			}
		},
		Aborted: func(id checkpoint.ID, _ string) {
			w.count.aborted++
			w.settled(b, id, "aborted")
			delete(b.cuts, id)
		}})
}

// seen compares what can be seen of the outputs while nothing newer than a checkpoint is committed: always the same, in
// every run.
func (w *world) seen(id checkpoint.ID) error {
	if id == 0 {
		return nil
	}
	before := w.fs.Before
	w.fs.Before = nil
	defer func() { w.fs.Before = before }()
	out, err := w.files(func(f io.Reader, _ string) (string, error) {
		b, err := io.ReadAll(f)
		return string(b), err
	})
	if err != nil {
		return err
	}
	if w.visible[id] == nil {
		w.visible[id] = out
		return nil
	}
	for name, text := range out {
		if was := w.visible[id][name]; was != text {
			return fmt.Errorf("checkpoint %d: %s has %d bytes, and had %d when the checkpoint was committed before", id, name, len(text), len(was))
		}
	}
	for name, text := range w.visible[id] {
		if out[name] == "" && text != "" {
			return fmt.Errorf("checkpoint %d: %s is not there, and had %d bytes when the checkpoint was committed before", id, name, len(text))
		}
	}
	return nil
}

// settled notes what became of a checkpoint.
func (w *world) settled(b *books, id checkpoint.ID, how string) {
	if was, ok := w.outcome[id]; ok && (was == "published" || how == was) && id <= w.newest {
		b.fail("I8: checkpoint %d is %s and was %s", id, how, was)
	}
	w.outcome[id] = how
	delete(b.late, id)
}

// brokenError is a panic of the engine.
type brokenError struct{ text string }

func (e *brokenError) Error() string { return e.text }

func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &brokenError{fmt.Sprintf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	return f()
}

// outputs returns what the job has written: of each visible file its text, sorted as the job allows.
func (w *world) outputs() (map[string]string, error) {
	return w.files(func(f io.Reader, name string) (string, error) {
		text, err := content(f, name)
		return arranged(w.job, text), err
	})
}

// files reads all visible files that the job has written, by their names in the folder of its outputs.
func (w *world) files(read func(f io.Reader, name string) (string, error)) (map[string]string, error) {
	out, in := map[string]string{}, inputs(w.job)
	var walk func(dir string) error
	walk = func(dir string) error {
		entries, err := w.fs.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			name := filepath.Join(dir, e.Name())
			switch {
			case strings.HasPrefix(e.Name(), "."), strings.HasPrefix(e.Name(), forkPrefix), in[name] != "":
			case e.IsDir():
				if err := walk(name); err != nil {
					return err
				}
			default:
				f, err := w.fs.Open(name)
				if err == nil {
					short, _ := filepath.Rel(w.out, name)
					out[short], err = read(f, name)
					f.Close()
				}
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
		return nil
	}
	return out, walk(w.out)
}

// content unpacks.
func content(r io.Reader, name string) (string, error) {
	var err error
	switch {
	case strings.HasSuffix(name, ".gz"):
		if r, err = gzip.NewReader(r); err != nil {
			return "", err
		}
	case strings.HasSuffix(name, ".zst"):
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return "", err
		}
		defer z.Close()
		r = z
	}
	b, err := io.ReadAll(r)
	return string(b), err
}

// arranged brings the lines into an order, and changes to what they come to.
func arranged(j job, text string) string {
	if j.ordered {
		return text
	}
	lines := strings.Split(text, "\n")
	if j.changes {
		lines = folded(lines)
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// folded returns the rows that changes come to. A row that is taken away and was not there stays as such.
func folded(lines []string) []string {
	count := map[string]int{}
	for _, l := range lines {
		op, n := "", 0
		for _, o := range []string{"+I", "+U", "-U", "-D"} {
			if csv, json := o+",", `{"_change":"`+o+`",`; strings.HasPrefix(l, csv) {
				op = csv
			} else if strings.HasPrefix(l, json) {
				op = json
			} else {
				continue
			}
			if n = 1; o[0] == '-' {
				n = -1
			}
		}
		if n == 0 {
			n = 1
		}
		count[strings.TrimPrefix(l, op)] += n
	}
	var out []string
	for l, n := range count {
		for range max(n, -n) {
			if n < 0 {
				l = "taken away: " + strings.TrimPrefix(l, "taken away: ")
			}
			out = append(out, l)
		}
	}
	return out
}

func packed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

// compare tells in a few lines how outputs differ from those of the run in peace.
func compare(want, got map[string]string) error {
	for name, text := range want {
		if d := difference(text, got[name]); d != "" {
			return fmt.Errorf("output %s:%s", name, d)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			return fmt.Errorf("output %s should not be there", name)
		}
	}
	return nil
}

// difference tells in a few lines which lines are missing and which are too many; "" if the texts are equal.
func difference(want, got string) string {
	if want == got {
		return ""
	}
	count := map[string]int{}
	for _, l := range strings.Split(want, "\n") {
		count[l]++
	}
	for _, l := range strings.Split(got, "\n") {
		count[l]--
	}
	var out []string
	for l, n := range count {
		if n != 0 {
			if len(l) > 150 {
				l = l[:150] + "…"
			}
			out = append(out, fmt.Sprintf("%+d %s", -n, l))
		}
	}
	sort.Strings(out)
	n := len(out)
	if n == 0 {
		return " the order of lines differs"
	}
	return fmt.Sprintf(" %d lines differ\n%s", n, strings.Join(out[:min(n, 14)], "\n"))
}
