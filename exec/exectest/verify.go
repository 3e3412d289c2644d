// Package exectest proves that an operator can be stopped anywhere: saved, loaded and merged at another number of tasks
// it gives the same rows as when it is left alone.
package exectest

import (
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Input is one thing that happens to an operator.
type Input struct {
	kind  kind
	in    int
	batch *vec.Batch
	at    int64
}

type kind uint8

const (
	rows kind = iota
	watermark
	tick
	finish
)

// Rows is rows of the first input.
func Rows(b *vec.Batch) Input { return Input{kind: rows, batch: b} }

// RowsOf is rows of an input.
func RowsOf(in int, b *vec.Batch) Input { return Input{kind: rows, in: in, batch: b} }

// Watermark tells that event time has come to w.
func Watermark(w types.Instant) Input { return Input{kind: watermark, at: w} }

// Tick tells that the machine's time has come to now.
func Tick(now types.Instant) Input { return Input{kind: tick, at: now} }

// Finish is the end of all inputs.
func Finish() Input { return Input{kind: finish} }

// T is a test in progress, of package testing or rapid.
type T = require.TestingT

// Test is an operator and what happens to it.
type Test struct {
	// Make makes the operator anew, always with the same arguments.
	Make   func() exec.Operator
	Script []Input
	// Keys returns the columns by which the rows of an input are spread over tasks; nil: the operator is not merged.
	Keys func(in int, b *vec.Batch) []*vec.Column
	// Whole leaves out the run row by row.
	Whole bool
	// Clock, if not nil, is told the time of a Tick before it comes, and 0 before anything else.
	Clock func(now int64)

	apart int // input before which tasks stand apart for a moment; 0: none
}

// stops is at about how many places a script is stopped, besides being stopped everywhere.
const stops = 8

// Verify runs the script with its batches as they are and row by row. Each time it compares what comes out of an operator
// that is left alone with what comes out when it is replaced by a loaded one: after each call, pieces of Drain included,
// once or each time; and when its groups are spread over two tasks, then three, then one again, also while only one of them knows how far time
// has come, where rows may come in another order. And it loads checkpoints that are written in pieces while the operator goes on, and as deltas. Damaged bytes must not make Load panic.
func Verify(t T, c Test) {
	scripts := map[string][]Input{"batches as they are": whole(c.Script)}
	if !c.Whole {
		scripts["row by row"] = single(c.Script)
	}
	for name, script := range scripts {
		want := c.run(t, script, nil)
		everywhere := c.run(t, script, func(r *run) { r.reload(t) })
		require.Equal(t, want.log, everywhere.log, "%s, loaded after each call", name)
		c.frozen(t, script, want.log)
		step := max(want.calls/stops, 1)
		for at := len(want.log) % step; at < want.calls; at += step {
			once := c.run(t, script, func(r *run) {
				if r.calls == at {
					r.reload(t)
				}
				if r.calls == at && at/step%5 == 2 {
					r.damage(t)
				}
			})
			require.Equal(t, want.log, once.log, "%s, loaded after call %d", name, at)
		}
		if c.Keys == nil {
			continue
		}
		for at := len(want.log) % step; at < want.calls; at += step {
			merged := c.run(t, script, func(r *run) {
				if n := r.calls - at; n >= 0 && n < 3 {
					r.spread(t, []int{2, 3, 1}[n])
				}
			})
			require.Equal(t, want.net, merged.net, "%s, spread over tasks after call %d", name, at)
		}
		for i, in := range script {
			if in.kind == watermark || in.kind == finish {
				c.apart = i
				merged := c.run(t, script, nil)
				require.Equal(t, want.net, merged.net, "%s, while input %d had come to one of two tasks", name, i)
			}
		}
		c.apart = 0
	}
}

// whole is the script with the end told as tasks tell it.
func whole(script []Input) (out []Input) {
	for _, in := range script {
		if in.kind == finish {
			out = append(out, Watermark(types.MaxInstant))
		}
		out = append(out, in)
	}
	return out
}

func single(script []Input) (out []Input) {
	for _, in := range whole(script) {
		if in.kind != rows {
			out = append(out, in)
			continue
		}
		for i := range in.batch.Rows() {
			out = append(out, RowsOf(in.in, in.batch.Slice(i, i+1)))
		}
	}
	return out
}

// run is a script in progress.
type run struct {
	Test
	ops   []exec.Operator
	owes  []bool // of each operator
	out   *exec.Out
	calls int            // of a method of all operators, so far
	log   []string       // all that came out, in order
	net   map[string]int // rows, those that were taken back set against those that were given out
}

// run runs the script; between is called after each call.
func (c Test) run(t T, script []Input, between func(*run)) *run {
	r := &run{Test: c, ops: []exec.Operator{c.Make()}, owes: []bool{false}, net: map[string]int{}}
	r.out = exec.NewTap(r.take)
	if c.Clock != nil {
		c.Clock(0)
	}
	did := func() {
		if between != nil {
			between(r)
		}
		r.calls++
	}
	for i, in := range script {
		if i == c.apart && i > 0 {
			r.setApart(t, in, i)
		}
		for k, op := range r.ops {
			require.NoError(t, r.feed(k, op, in))
		}
		did()
		for slices.Contains(r.owes, true) {
			for k, op := range r.ops {
				if r.owes[k] {
					var err error
					r.owes[k], err = op.(exec.Drainer).Drain(r.out)
					require.NoError(t, err)
				}
			}
			did()
		}
		if h, ok := r.ops[0].(exec.Holder); ok && in.kind == watermark {
			r.log = append(r.log, fmt.Sprint("holds ", h.Hold(in.at)))
		}
	}
	return r
}

// feed gives an input to operator k.
func (r *run) feed(k int, op exec.Operator, in Input) (err error) {
	switch in.kind {
	case rows:
		b := in.batch
		if len(r.ops) > 1 {
			hashes, sel := make([]uint64, b.Rows()), []uint32{}
			vec.Hash(b, r.Keys(in.in, b), hashes)
			for i, h := range hashes {
				if exec.Owner(h, len(r.ops)) == k {
					sel = append(sel, uint32(b.Row(i)))
				}
			}
			if b = b.Select(sel); len(sel) == 0 {
				return nil
			}
		}
		if err := op.Process(in.in, b, r.out); err != nil {
			return err
		}
		if b, ok := op.(exec.Burster); ok {
			r.owes[k] = b.Owes()
		}
		return nil
	case watermark:
		err = op.Advance(in.at, r.out)
	case tick:
		if r.Clock != nil {
			r.Clock(in.at)
		}
		if t, ok := op.(exec.Ticker); ok {
			_, err = t.Tick(in.at, r.out)
		}
	case finish:
		err = op.Finish(r.out)
	}
	_, r.owes[k] = op.(exec.Drainer)
	return err
}

// take notes what comes out.
func (r *run) take(port int, it exec.Item) {
	if it.Kind != exec.Rows {
		r.log = append(r.log, fmt.Sprint(port, " ", it.Kind, " ", it.W, " ", it.N))
		return
	}
	b := it.Batch
	for i := range b.Rows() {
		p := b.Row(i)
		s, by := fmt.Sprint(port), 1
		for _, c := range b.Cols {
			s += fmt.Sprint(", ", c.Value(p))
		}
		if b.Time != nil {
			s += fmt.Sprint(" at ", b.Time[p])
		}
		if b.Change != nil && b.Change[p].Retracts() {
			by = -1
		}
		if r.net[s] += by; r.net[s] == 0 {
			delete(r.net, s)
		}
		if b.Change != nil {
			s += " " + b.Change[p].String()
		}
		r.log = append(r.log, s)
	}
}

// reload puts a loaded operator in the place of each.
func (r *run) reload(t T) {
	for k, op := range r.ops {
		r.ops[k] = r.load(t, save(t, op))
	}
}

func (r *run) load(t T, data []byte) exec.Operator {
	c := checkpoint.NewReader(1, data)
	op := r.Make()
	require.NoError(t, op.(exec.Saver).Load(c))
	require.NoError(t, c.Done())
	return op
}

// spread spreads the groups of all operators over others.
func (r *run) spread(t T, width int) {
	var data [][]byte
	for _, op := range r.ops {
		data = append(data, save(t, op))
	}
	r.ops, r.owes = nil, nil
	for k := range width {
		op := r.Make()
		for _, d := range data {
			owns := func(hash uint64) bool { return exec.Owner(hash, width) == k }
			require.NoError(t, op.(exec.Merger).Merge(r.load(t, d), owns))
		}
		_, owes := op.(exec.Drainer) // what the others had been told the task does not know: it asks
		r.ops, r.owes = append(r.ops, op), append(r.owes, owes)
	}
}

// setApart spreads the groups over two tasks, of which one is told what comes next and gives out some of what it owes
// then, before they are spread over others: tasks of one operator do not all stand at the same place. n makes a difference.
func (r *run) setApart(t T, in Input, n int) {
	r.spread(t, 2)
	k := n % 2
	require.NoError(t, r.feed(k, r.ops[k], in))
	for pieces := n % 3; r.owes[k] && pieces > 0; pieces-- {
		var err error
		r.owes[k], err = r.ops[k].(exec.Drainer).Drain(r.out)
		require.NoError(t, err)
	}
	r.spread(t, 1+n/2%3)
}

// damage loads damaged bytes: with the end cut off, which is an error, and with some bits turned round, which may be.
func (r *run) damage(t T) {
	data := save(t, r.ops[0])
	step := len(data)/60 + 1
	for at := min(1, len(data)); at < len(data); at += step { // nothing at all is what is saved of nothing
		require.Error(t, r.Make().(exec.Saver).Load(checkpoint.NewReader(1, data[:at:at])), "only %d bytes of %d", at, len(data))
		bad := slices.Clone(data)
		bad[at] ^= byte(1 << (at / step % 8))
		require.NotPanics(t, func() { r.Make().(exec.Saver).Load(checkpoint.NewReader(1, bad)) }, "bit turned round in byte %d of %d", at, len(data))
	}
}
