package inspect

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// A Bisected is the first source row after which a condition was true.
type Bisected struct {
	Over   string // stable name of what was looked at
	State  bool   // its state, not the rows that it gives out
	Found  bool
	Before bool   // it was true at the first checkpoint already, or after the rows that were in flight there
	Ended  bool   // no row made it true, but what came when all rows up to the second checkpoint had been read
	Source string // of the row
	Place  string // file, "" if not known
	Row    int64  // data row in Place, or how many rows the source had given since the checkpoint
	Text   string // the row as JSON, as far as the script reads it
	Rows   int64  // of all sources that were read to get there
	Many   int    // rows that came with it and could not be told apart; 1 at best
	Coarse bool   // a state was looked at after some thousand rows only, and row by row where it had become true then
	// Schema and Hit are a row for which the condition is true.
	Schema types.Schema
	Hit    *vec.Batch
}

// grains are the rows that are taken at a time: first many, to find roughly where, then fewer from there on.
var grains = []int{vec.MaxRows, 64, 1}

// exactTime is how long a state may be looked at row by row.
var exactTime = 20 * time.Second

// Bisect does what the run did between two checkpoints once more, in a scratch folder, up to the first source row after
// which a condition is true: for a row that a stream or source gives out, or for a row of the state of a stage. A state may be
// so for a moment, so it is looked at after every row, unless that takes too long: see Bisected.Coarse. over is the name of a
// source, stream or stage; "" is the first stage with state.
func (f *Folder) Bisect(from, to checkpoint.Info, over, condition string, lib *stdlib.Catalog) (*Bisected, error) {
	var ms [2]*checkpoint.Manifest
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
	scratch, err := os.MkdirTemp("", "ebb-bisect-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	b := &bisecting{f: f, lib: lib, condition: condition, ms: ms, over: over, scratch: scratch}
	out, step, err := b.run(nil)
	if err != nil || out.Before {
		return out, err
	}
	if out.State {
		if time.Duration(out.Rows)*b.looking/time.Duration(max(1, b.looks)) <= exactTime {
			exact, err := b.rowByRow(b.turns, time.Now().Add(2*exactTime))
			if exact != nil || err != nil {
				return exact, err
			}
		}
		b.coarse = true
	}
	at := []int{step} // the step, of each grain, in which it became true
	for out.Found && !out.Ended && len(at) < len(grains) && out.Many > 1 {
		if out, step, err = b.run(at); err != nil {
			return nil, err
		}
		at = append(at, step)
	}
	out.Coarse = b.coarse
	return out, nil
}

// bisecting does an interval once more, several times.
type bisecting struct {
	f         *Folder
	lib       *stdlib.Catalog
	condition string
	ms        [2]*checkpoint.Manifest
	over      string
	scratch   string
	coarse    bool

	turns   []int // rows of each step of the first run
	looks   int   // in it, and how long they took
	looking time.Duration

	// The run at hand.
	r     *rerun
	x     *exec.Rerun
	env   *exec.Env
	p     *planner.Passage
	out   *Bisected
	cond  *Condition
	live  *live
	new   []*vec.Batch // that the stream gave out and nobody has looked at
	taken int64        // rows that the stage had been given when its state was looked at last
}

// begin starts a run and looks at what there is before its first row.
func (b *bisecting) begin() (hit bool, err error) {
	if b.r, b.x, b.env, err = b.f.prepare(b.ms[0], b.ms[1], b.lib, b.scratch); err != nil {
		return false, err
	}
	b.out, b.p, b.new, b.taken, b.live = &Bisected{}, nil, nil, -1, newLive(b.r.c, b.lib, b.env)
	err = b.find(b.over)
	if err == nil {
		b.cond, err = NewCondition(b.condition, b.out.Schema)
	}
	if err == nil {
		err = b.x.Settle()
	}
	if err == nil {
		hit, err = b.look()
	}
	if err != nil {
		b.x.Close()
		return false, err
	}
	b.out.Found, b.out.Before = hit, hit
	return hit, nil
}

// step takes rows and looks. over tells that there are no more.
func (b *bisecting) step(rows int, stay bool) (took exec.Took, over, hit bool, err error) {
	if took, err = b.x.Step(rows, stay); err != nil {
		return took, false, false, err
	}
	b.out.Rows += int64(took.Rows)
	if over = took.Group == ""; over {
		b.taken = -1
	} else {
		b.place(took)
	}
	hit, err = b.look()
	b.out.Found, b.out.Ended = hit, hit && over
	return took, over, hit, err
}

// run goes to where the condition becomes true: by the largest grain from the beginning, or by a smaller one from where it is
// known to become true: at says in which step of each grain so far.
func (b *bisecting) run(at []int) (out *Bisected, step int, err error) {
	hit, err := b.begin()
	if err != nil {
		return nil, 0, err
	}
	defer b.x.Close()
	if hit {
		return b.out, 0, nil
	}
	for k, n := range at { // what is known to come before
		for i := range n - 1 {
			took, err := b.x.Step(grains[k], k > 0 && i > 0)
			if err != nil {
				return nil, 0, err
			}
			b.out.Rows += int64(took.Rows)
		}
	}
	b.new = nil
	grain := len(at)
	for step = 1; ; step++ {
		took, over, hit, err := b.step(grains[grain], grain > 0 && (step > 1 || grain > 1 && at[grain-1] > 1))
		if grain == 0 && !over {
			b.turns = append(b.turns, took.Rows)
		}
		if err != nil || hit || over {
			return b.out, step, err
		}
	}
}

// rowByRow looks after every row, of which the sources give so many in each of their turns. nil, if it takes too long.
func (b *bisecting) rowByRow(turns []int, deadline time.Time) (*Bisected, error) {
	if _, err := b.begin(); err != nil {
		return nil, err
	}
	defer b.x.Close()
	for _, n := range append(turns, 1) { // the last one finds that there are no more
		for done := 0; done < n; {
			took, over, hit, err := b.step(1, done > 0)
			if err != nil || hit || over {
				return b.out, err
			}
			if done += took.Rows; time.Now().After(deadline) {
				return nil, nil
			}
		}
	}
	return b.out, nil
}

// find finds what is looked at.
func (b *bisecting) find(word string) error {
	var names []string
	for _, p := range b.r.c.Passages(b.lib, b.env) {
		stream, _, staged := strings.Cut(p.ID, "/")
		switch {
		case word == "" && p.State, p.ID == word && p.State:
			b.p, b.out.State = p, true
		case p.ID == word, staged && stream == word: // of the stages of a stream it is the last one
			b.p, b.out.State = p, false
		}
		if b.p != nil && (word == "" || b.p.ID == word) {
			break
		}
		names = append(names, p.ID)
		if staged {
			names = append(names, stream)
		}
	}
	switch {
	case b.p == nil && word == "":
		return errors.New("no stage of the script keeps state; `over STREAM` says whose rows are looked at")
	case b.p == nil:
		return fmt.Errorf("nothing written reads a stream or stage %q by itself%s; there are %s", word, didYouMean(word, names), strings.Join(unique(names), ", "))
	}
	b.out.Over = b.p.ID
	if b.out.State {
		s, err := b.live.state(b.p.ID, nil)
		if err != nil {
			return err
		}
		b.out.Schema, _ = s.Rows()
		return nil
	}
	last := b.p.Parts[len(b.p.Parts)-1]
	for _, part := range b.p.Parts {
		if part.ID == b.p.ID {
			last = part
		}
	}
	b.out.Schema = last.Out
	_, ok := b.x.Tap(b.p.ID, func(batch *vec.Batch) {
		if c := exec.Copy(batch).Dense(); len(c.Cols) == len(last.Out.Fields) {
			b.new = append(b.new, &vec.Batch{N: c.N, Cols: c.Cols})
		}
	})
	if !ok {
		return fmt.Errorf("%s cannot be looked at", b.p.ID)
	}
	return nil
}

func unique(names []string) (out []string) {
	seen := map[string]bool{}
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}

// look reports whether the condition is true now. A state that has been given nothing since is as it was.
func (b *bisecting) look() (bool, error) {
	rows := b.new
	b.new = nil
	if b.out.State {
		n := b.x.Taken(b.p.Nodes())
		if n == b.taken {
			return false, nil
		}
		b.taken = n
		defer func(from time.Time) { b.looks, b.looking = b.looks+1, b.looking+time.Since(from) }(time.Now())
		kept, err := b.x.Kept(b.p.Nodes(), mostCompared)
		if err != nil {
			return false, err
		}
		s, err := b.live.state(b.p.ID, kept)
		if err != nil {
			return false, err
		}
		_, rows = s.Rows()
	}
	for _, r := range rows {
		hits, err := b.cond.Keep(r)
		if err != nil {
			return false, err
		}
		if hits.Rows() > 0 {
			b.out.Hit = hits.Dense().Slice(0, 1)
			return true, nil
		}
	}
	return false, nil
}

// place notes where the last row of a step comes from.
func (b *bisecting) place(t exec.Took) {
	o := b.out
	o.Source, o.Many, o.Place, o.Row, o.Text = t.Group, t.Rows, "", o.Rows, ""
	last := t.Last.Dense()
	if last.N == 0 {
		return
	}
	if last.Pos != nil {
		if name, row := b.env.Splits.Where(last.Pos[last.N-1]); row > 0 {
			o.Place, o.Row = name, row
		}
	}
	for _, p := range b.r.c.Passages(b.lib, b.env) {
		if p.ID == t.Group && len(p.Parts[0].Out.Fields) == len(last.Cols) {
			o.Text = string(vec.AppendRowJSON(nil, p.Parts[0].Out.Fields, last.Cols, last.N-1))
		}
	}
}
