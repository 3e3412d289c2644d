package inspect

import (
	"errors"
	"fmt"
	"os"
	"strings"

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
	// Schema and Hit are a row for which the condition is true.
	Schema types.Schema
	Hit    *vec.Batch
}

// grains are the rows that are taken at a time: first many, to find roughly where, then fewer from there on.
var grains = []int{vec.MaxRows, 64, 1}

// Bisect does what the run did between two checkpoints once more, in a scratch folder, up to the first source row after
// which a condition is true: for a row that a stream or source gives out, or for a row of the state of a stage. State is
// looked at after every few thousand rows first, and row by row only where it had become true then. over is the name of a
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
	var at []int // the step, of each grain, in which it became true
	for {
		b := &bisecting{f: f, lib: lib, condition: condition, grain: len(at)}
		out, step, err := b.run(ms, over, scratch, at)
		if err != nil || !out.Found || out.Before || out.Ended || len(at) == len(grains)-1 || out.Many == 1 {
			return out, err
		}
		at = append(at, step)
	}
}

// bisecting is one run up to where the condition becomes true.
type bisecting struct {
	f         *Folder
	lib       *stdlib.Catalog
	condition string
	grain     int

	r   *rerun
	x   *exec.Rerun
	env *exec.Env
	p   *planner.Passage
	out *Bisected
	new []*vec.Batch // that the stream gave out and nobody has looked at
}

func (b *bisecting) run(ms [2]*checkpoint.Manifest, over, scratch string, at []int) (out *Bisected, step int, err error) {
	if b.r, b.x, b.env, err = b.f.prepare(ms[0], ms[1], b.lib, scratch); err != nil {
		return nil, 0, err
	}
	defer b.x.Close()
	b.out = &Bisected{}
	if err := b.over(over); err != nil {
		return nil, 0, err
	}
	if _, err := Where(b.condition, b.out.Schema, nil); err != nil {
		return nil, 0, err
	}
	if err := b.x.Settle(); err != nil {
		return nil, 0, err
	}
	if hit, err := b.look(); err != nil || hit {
		b.out.Found, b.out.Before = hit, hit
		return b.out, 0, err
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
	for step = 1; ; step++ {
		took, err := b.x.Step(grains[b.grain], b.grain > 0 && (step > 1 || len(at) > 1 && at[len(at)-1] > 1))
		if err != nil {
			return nil, 0, err
		}
		b.out.Rows += int64(took.Rows)
		if took.Group != "" {
			b.place(took)
		}
		hit, err := b.look()
		if err != nil || hit || took.Group == "" {
			b.out.Found, b.out.Ended = hit, hit && took.Group == ""
			return b.out, step, err
		}
	}
}

// over finds what is looked at.
func (b *bisecting) over(word string) error {
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
		s, err := StateOf(b.r.c, b.lib, b.env, b.p.ID, nil)
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

// look reports whether the condition is true now.
func (b *bisecting) look() (bool, error) {
	rows := b.new
	b.new = nil
	if b.out.State {
		kept, err := b.x.Kept(b.p.Nodes(), mostCompared)
		if err != nil {
			return false, err
		}
		s, err := StateOf(b.r.c, b.lib, b.env, b.p.ID, kept)
		if err != nil {
			return false, err
		}
		_, rows = s.Rows()
	}
	if len(rows) == 0 {
		return false, nil
	}
	hits, err := Where(b.condition, b.out.Schema, rows)
	if err != nil {
		return false, err
	}
	for _, h := range hits {
		if h.Rows() > 0 {
			h = h.Dense()
			b.out.Hit = h.Slice(0, 1)
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
