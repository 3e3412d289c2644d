package inspect

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// A Replay is what came of doing once more what a run had done between two checkpoints.
type Replay struct {
	From, To checkpoint.Info
	Rows     int64 // that the sources gave
	Outputs  []Replayed
	States   []ReplayedState
	// Volatile names what in the script may give other rows from the same input.
	Volatile []string
}

// Replayed compares what an output was given then and again.
type Replayed struct {
	Path  string
	Rows  int64 // then
	Bytes bool  // the same, row by row
	// Only is how many rows only one of the two has, First the first of them: then, and again.
	Only  [2]int64
	First [2][]string
}

// ReplayedState compares the state of a stage at the second checkpoint with that at the end of the replay.
type ReplayedState struct {
	Stage string
	Rows  int64  // then
	Diff  int64  // rows that differ
	Why   string // why it is not compared
}

// Same reports whether nothing differs.
func (r *Replay) Same() bool {
	for _, o := range r.Outputs {
		if o.Only != [2]int64{} {
			return false
		}
	}
	return !slices.ContainsFunc(r.States, func(s ReplayedState) bool { return s.Diff != 0 })
}

// mostFirst is how many differing rows are kept, mostCompared how large a state is that is compared.
const (
	mostFirst    = 5
	mostCompared = 256 << 20
)

// Interval returns a checkpoint and the one that came next on the way to the newest; of "" the last two.
func (f *Folder) Interval(word string) (from, to checkpoint.Info, err error) {
	next := func(id checkpoint.ID) (found checkpoint.Info, ok bool) {
		for _, i := range f.All {
			if i.Parent == id && (!ok || found.Abandoned && !i.Abandoned) {
				found, ok = i, true
			}
		}
		return found, ok
	}
	if word == "" {
		if to, err = f.Find(""); err != nil {
			return from, to, err
		}
		for _, i := range f.All {
			if i.ID == to.Parent && to.Parent != 0 {
				return i, to, nil
			}
		}
		return from, to, fmt.Errorf("checkpoint %d is the first one: there is nothing before it that could be done again", to.ID)
	}
	if from, err = f.Find(word); err != nil {
		return from, to, err
	}
	to, ok := next(from.ID)
	if !ok {
		return from, to, fmt.Errorf("no checkpoint comes after %d: there is nothing to compare with; .checkpoint takes one", from.ID)
	}
	return from, to, nil
}

// Replay does what the run did between two checkpoints once more, in a scratch folder, and compares outputs and states.
func (f *Folder) Replay(from, to checkpoint.Info, lib *stdlib.Catalog) (*Replay, error) {
	ms := [2]*checkpoint.Manifest{}
	for k, i := range []checkpoint.Info{from, to} {
		m, err := f.Manifest(i.ID)
		if err != nil {
			return nil, fmt.Errorf("cannot read checkpoint %d in %s: %w", i.ID, f.Dir, err)
		}
		if err := f.enter(m); err != nil {
			return nil, err
		}
		ms[k] = m
	}
	var sizes [2]map[string]int64
	for k, m := range ms {
		var err error
		if sizes[k], err = f.OutputSizes(m); err != nil {
			return nil, fmt.Errorf("what was written between checkpoint %d and %d is not there any more: %w", from.ID, to.ID, err)
		}
	}
	scratch, err := os.MkdirTemp("", "ebb-replay-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	out := &Replay{From: from, To: to}
	var ran [2]*rerun // from the first, and from the second what was in flight
	for k := range ms {
		if ran[k], err = f.again(ms[k], ms[1], lib, filepath.Join(scratch, strconv.Itoa(k))); err != nil {
			return nil, fmt.Errorf("doing it again from checkpoint %d: %w", ms[k].ID, err)
		}
	}
	out.Rows, out.Volatile = ran[0].rows, ran[0].c.Volatile()
	for i, path := range ran[0].paths {
		d := &replayed{seed: maphash.MakeSeed(), count: map[uint64]int64{}}
		then, err := recorded(path, sizes)
		if err != nil {
			return nil, err
		}
		again, err := allOf(ran[0].to[i])
		if err != nil {
			return nil, err
		}
		rest, err := allOf(ran[1].to[i])
		if err != nil {
			return nil, err
		}
		o, err := d.compare([2][]piece{append(then, rest...), again})
		if err != nil {
			return nil, fmt.Errorf("comparing %s: %w", path, err)
		}
		o.Path = path
		out.Outputs = append(out.Outputs, *o)
	}
	for _, id := range ran[0].stages {
		s := ReplayedState{Stage: id}
		a, b := ran[1].states[id], ran[0].states[id]
		if a == nil || b == nil {
			s.Why = "it is too large, or cannot be read"
		} else {
			s.Rows = a.Len()
			d := differ(a.rows, b.rows)
			s.Diff = d.added + d.removed + d.changed
		}
		out.States = append(out.States, s)
	}
	return out, nil
}

// rerun is one run of a replay.
type rerun struct {
	c      *planner.Compiled
	rows   int64
	paths  []string // of the outputs, and where they were written to
	to     []string
	stages []string
	states map[string]*State
}

// prepare makes a rerun that goes on from one checkpoint to where the sources were at another.
func (f *Folder) prepare(from, to *checkpoint.Manifest, lib *stdlib.Catalog, scratch string) (*rerun, *exec.Rerun, *exec.Env, error) {
	clock := exec.NewRerunClock(from.Durable)
	env := exec.OS()
	env.Now, env.Stdout, env.Stdin = clock.Now, io.Discard, strings.NewReader("")
	c, err := planner.CompileAgain(from, to, f.Read, lib, env)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, s := range c.Script.Sources {
		if p := (&planner.World{Catalog: lib, Env: env}).Pipes(s.Conn); len(p) > 0 {
			return nil, nil, nil, fmt.Errorf("source %s reads %s: what it gave is gone, so nothing can be done again", s.Name, p[0].Name)
		}
	}
	r := &rerun{c: c, states: map[string]*State{}}
	err = c.Redirect(lib, func(path string) string {
		dir := filepath.Join(scratch, strconv.Itoa(len(r.to)))
		os.MkdirAll(dir, 0o755)
		r.paths, r.to = append(r.paths, path), append(r.to, filepath.Join(dir, filepath.Base(path)))
		return r.to[len(r.to)-1]
	})
	if err != nil {
		return nil, nil, nil, err
	}
	g := c.Graph(lib, env)
	start := from
	if from == to {
		start = nil
	}
	until, err := (&exec.Restore{Manifest: to, Read: f.Read}).ReadTo(g, start)
	if err != nil {
		return nil, nil, nil, err
	}
	x, err := exec.NewRerun(g, env, clock, exec.Setup{From: &exec.Restore{Manifest: from, Read: f.Read, Stream: f.Stream, NewOutputs: true}, Until: until})
	return r, x, env, err
}

// again runs from one checkpoint to where the sources were at another.
func (f *Folder) again(from, to *checkpoint.Manifest, lib *stdlib.Catalog, scratch string) (*rerun, error) {
	r, x, env, err := f.prepare(from, to, lib, scratch)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	for {
		took, err := x.Step(vec.MaxRows, false)
		if err != nil {
			return nil, err
		}
		if took.Group == "" {
			break
		}
		r.rows += int64(took.Rows)
	}
	for _, p := range r.c.Passages(lib, env) {
		if !p.State {
			continue
		}
		r.stages = append(r.stages, p.ID)
		kept, err := x.Kept(p.Nodes(), mostCompared)
		if errors.Is(err, exec.ErrTooLarge) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if s, err := StateOf(r.c, lib, env, p.ID, kept); err == nil {
			r.states[p.ID] = s
		}
	}
	return r, x.End()
}

// piece is a part of a file.
type piece struct {
	path     string
	from, to int64
}

// recorded returns what was written into an output between two checkpoints: of a folder, into all of its files.
func recorded(path string, sizes [2]map[string]int64) (out []piece, err error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	files, err := allOf(abs)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		info, err := os.Stat(f.path)
		if err != nil {
			return nil, err
		}
		at := [2]int64{info.Size(), info.Size()} // one of a folder that has not changed since is not listed
		for k := range at {
			if n, listed := sizes[k][f.path]; listed {
				at[k] = n
			}
		}
		if at[1] > at[0] {
			out = append(out, piece{f.path, at[0], at[1]})
		}
	}
	slices.SortFunc(out, func(a, b piece) int { return strings.Compare(a.path, b.path) })
	return out, nil
}

// allOf returns all that lies in an output of a replay.
func allOf(path string) (out []piece, err error) {
	err = filepath.WalkDir(path, func(p string, d os.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		out = append(out, piece{p, 0, -1})
		return nil
	})
	return out, err
}

// replayed compares the rows of two outputs, side by side, so that little has to be remembered.
type replayed struct {
	seed  maphash.Seed
	count map[uint64]int64
}

func (d *replayed) compare(sides [2][]piece) (*Replayed, error) {
	out := &Replayed{Bytes: true}
	var in [2]*chain
	for k := range sides {
		in[k] = &chain{pieces: sides[k]}
		defer in[k].close()
	}
	for left := 2; left > 0; {
		left = 0
		var sums [2]uint64
		for k, by := range []int64{1, -1} {
			line, err := in[k].next()
			if err == io.EOF {
				continue
			}
			if err != nil {
				return nil, err
			}
			left++
			if k == 0 {
				out.Rows++
			}
			h := maphash.Bytes(d.seed, line)
			sums[k] = h
			if d.count[h] += by; d.count[h] == 0 {
				delete(d.count, h)
			}
		}
		out.Bytes = out.Bytes && sums[0] == sums[1]
	}
	for _, n := range d.count {
		out.Only[0] += max(n, 0)
		out.Only[1] += max(-n, 0)
	}
	for k, sign := range []int64{1, -1} {
		c := &chain{pieces: sides[k]}
		for int64(len(out.First[k])) < min(out.Only[k], mostFirst) {
			line, err := c.next()
			if err != nil {
				break
			}
			h := maphash.Bytes(d.seed, line)
			if d.count[h]*sign > 0 {
				d.count[h] -= sign
				out.First[k] = append(out.First[k], string(line))
			}
		}
		c.close()
	}
	return out, nil
}

// chain reads pieces one after the other.
type chain struct {
	pieces []piece
	at     *Lines
}

func (c *chain) next() ([]byte, error) {
	for {
		if c.at == nil {
			if len(c.pieces) == 0 {
				return nil, io.EOF
			}
			p := c.pieces[0]
			c.pieces = c.pieces[1:]
			var err error
			if c.at, err = OpenLines(p.path, p.from, p.to); err != nil {
				return nil, err
			}
		}
		line, err := c.at.Next()
		if err != io.EOF {
			return line, err
		}
		c.close()
	}
}

func (c *chain) close() {
	if c.at != nil {
		c.at.Close()
		c.at = nil
	}
}
