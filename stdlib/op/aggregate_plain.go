package op

import (
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// Words of a group before those of the calls, in an updating aggregate: what was given out for it, and whether it has
// changed since.
const (
	agSent    = 0
	agDirty   = 2
	agUpdates = 3
)

// groupAll aggregates without a window: one group a key, final at the end of the input or a changelog.
type groupAll struct {
	in     *inputs
	calls  *calls
	out    *outputs
	table  *state.Table
	off    int // of the calls' words
	global bool
	every  int64
	env    *exec.Env
	ids    []uint32

	updating bool
	dirty    []uint32

	// Final rows still owed: from row next on.
	ended bool // and it still has groups to give out
	over  bool // it has ended
	next  uint32

	merged merged
}

func newGroupAll(c *spec.StageContext, in *inputs, cs *calls, out *outputs) *groupAll {
	g := &groupAll{in: in, calls: cs, out: out, global: len(c.Args.By) == 0, every: c.Args.Emit.Every, env: c.Env, updating: c.Out.Updating}
	cs.one = g.global
	words := cs.words
	if g.updating {
		g.off = agUpdates
		words += agUpdates
	}
	g.table = state.NewTable(keyTypes(c.Args), words)
	g.off += g.table.Off()
	return g
}

func (g *groupAll) Process(_ int, b *vec.Batch, out *exec.Out) error {
	r, err := g.in.take(b, out)
	if err != nil || len(r.rows) == 0 {
		return err
	}
	g.ids = room(g.ids, len(r.rows))
	g.table.Lookup(r.keys, r.rows, r.hashes, g.ids, true)
	rows := g.table.Rows()
	g.calls.apply(rows, g.off, g.ids, r, r.rows)
	if !g.updating {
		return nil
	}
	at := g.table.Off() + agDirty
	for _, id := range g.ids {
		if w := rows.Word(id, at); *w == 0 {
			*w = 1
			g.dirty = append(g.dirty, id)
		}
	}
	if g.every > 0 {
		return nil
	}
	return g.revise(out)
}

// revise gives out the changes of all groups that are dirty.
func (g *groupAll) revise(out *exec.Out) error {
	for from := 0; from < len(g.dirty); from += vec.MaxRows {
		if err := g.revisePart(g.dirty[from:min(from+vec.MaxRows, len(g.dirty))], out); err != nil {
			return err
		}
	}
	g.dirty = g.dirty[:0]
	return nil
}

func (g *groupAll) revisePart(ids []uint32, out *exec.Out) error {
	rows, off := g.table.Rows(), g.table.Off()
	rows.TouchAll(ids)
	r := &results{n: len(ids), keys: g.table.Keys(ids), calls: g.calls.results(rows, g.off, ids)}
	lives := func(i int) bool { return g.global || g.calls.lives(rows, g.off, ids[i]) }
	err := g.out.revise(r, func(i int) []uint64 { return rows.At(ids[i])[off+agSent:] }, lives, out)
	if err != nil {
		return err
	}
	for i, id := range ids {
		*rows.Word(id, off+agDirty) = 0
		// The last row is gone. Equal rows take the same way in order, so none of them is still to come.
		if !lives(i) && *rows.Word(id, g.off) == 0 {
			g.calls.free(rows, g.off, ids[i:i+1])
			g.table.Delete(id)
		}
	}
	return nil
}

// Tick gives out changes every so often.
func (g *groupAll) Tick(now types.Instant, out *exec.Out) (types.Instant, error) {
	if g.every == 0 || !g.updating {
		return 0, nil
	}
	return now + g.every, g.revise(out)
}

// Advance does nothing: without a window time does not matter.
func (g *groupAll) Advance(types.Instant, *exec.Out) error { return nil }

func (g *groupAll) Finish(out *exec.Out) error {
	if g.global { // a total comes out even of no rows
		g.ids = room(g.ids, 1)
		g.table.Lookup(nil, []uint32{0}, []uint64{0}, g.ids, true)
	}
	if !g.updating {
		g.ended, g.over = true, true
		return nil
	}
	if g.global && *g.table.Rows().Word(g.ids[0], g.table.Off()+agDirty) == 0 {
		g.dirty = append(g.dirty, g.ids[0])
	}
	return g.revise(out)
}

// Drain gives out the final rows, in the order in which the keys came.
func (g *groupAll) Drain(out *exec.Out) (bool, error) {
	if !g.ended {
		return false, nil
	}
	rows := g.table.Rows()
	g.ids, g.next = g.table.All(g.next, vec.MaxRows, g.ids[:0])
	ids := g.ids
	if g.calls.counted && !g.global {
		ids = ids[:0]
		for _, id := range g.ids {
			if g.calls.lives(rows, g.off, id) {
				ids = append(ids, id)
			}
		}
	}
	if len(ids) > 0 {
		r := &results{n: len(ids), keys: g.table.Keys(ids), calls: g.calls.results(rows, g.off, ids)}
		if err := g.out.emit(r, out); err != nil {
			return false, err
		}
	}
	g.ended = g.next < rows.End()
	return g.ended, nil
}

// room returns a slice of n elements, s itself if it is large enough.
func room(s []uint32, n int) []uint32 {
	if cap(s) < n {
		return make([]uint32, n, max(n, vec.MaxRows))
	}
	return s[:n]
}
