// Package exectest proves that an operator can be stopped anywhere: saved, loaded and merged at another number of tasks
// it gives the same rows as when it is left alone.
package exectest

import (
	"fmt"
	"slices"
	"testing"

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

// Test is an operator and what happens to it.
type Test struct {
	// Make makes the operator anew, always with the same arguments.
	Make   func() exec.Operator
	Script []Input
	// Keys returns the columns by which the rows of an input are spread over tasks; nil: the operator is not merged.
	Keys func(in int, b *vec.Batch) []*vec.Column
	// Clock, if not nil, is told the time of a Tick before it comes, and 0 before anything else.
	Clock func(now int64)
}

type saver interface {
	Save(*checkpoint.Writer)
	Load(*checkpoint.Reader) error
}

type merger interface {
	saver
	Merge(from exec.Operator, owns func(hash uint64) bool) error
}

// Verify runs the script with its batches as they are and row by row. Each time it compares what comes out of an operator
// that is left alone with what comes out when it is replaced by a loaded one: after each call, pieces of Drain included,
// once there or everywhere; and when its groups are spread over two tasks, then three, then one again. Damaged bytes must
// not make Load panic.
func Verify(t *testing.T, c Test) {
	t.Helper()
	for name, script := range map[string][]Input{"batches as they are": whole(c.Script), "row by row": single(c.Script)} {
		want := c.run(t, script, nil)
		everywhere := c.run(t, script, func(r *run) { r.reload(t) })
		require.Equal(t, want.log, everywhere.log, "%s, loaded after each call", name)
		step := max(want.calls/40, 1)
		for at := 0; at < want.calls; at += step {
			once := c.run(t, script, func(r *run) {
				if r.calls == at {
					r.reload(t)
					r.damage(t)
				}
			})
			require.Equal(t, want.log, once.log, "%s, loaded after call %d", name, at)
		}
		if c.Keys == nil {
			continue
		}
		all := sorted(want.rows)
		for at := 0; at < want.calls; at += step {
			merged := c.run(t, script, func(r *run) {
				if n := r.calls - at; n >= 0 && n < 3 {
					r.spread(t, []int{2, 3, 1}[n])
				}
			})
			require.Equal(t, all, sorted(merged.rows), "%s, spread over tasks after call %d", name, at)
		}
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

func sorted(rows []string) []string {
	out := slices.Clone(rows)
	slices.Sort(out)
	return out
}

// run is a script in progress.
type run struct {
	Test
	ops   []exec.Operator
	owes  []bool // of each operator
	out   *exec.Out
	calls int      // of a method of all operators, so far
	log   []string // all that came out, in order
	rows  []string // only rows
}

// run runs the script; between is called after each call.
func (c Test) run(t *testing.T, script []Input, between func(*run)) *run {
	r := &run{Test: c, ops: []exec.Operator{c.Make()}, owes: []bool{false}}
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
	for _, in := range script {
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
				if taskOf(h, len(r.ops)) == k {
					sel = append(sel, uint32(b.Row(i)))
				}
			}
			if b = b.Select(sel); len(sel) == 0 {
				return nil
			}
		}
		return op.Process(in.in, b, r.out)
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

func taskOf(hash uint64, width int) int { return int(hash>>56) * width >> 8 }

// take notes what comes out.
func (r *run) take(port int, it exec.Item) {
	if it.Kind != exec.Rows {
		r.log = append(r.log, fmt.Sprint(port, " ", it.Kind, " ", it.W, " ", it.N))
		return
	}
	b := it.Batch
	for i := range b.Rows() {
		p := b.Row(i)
		s := fmt.Sprint(port, ": ", b.Select([]uint32{uint32(p)}))
		if b.Time != nil {
			s += fmt.Sprint(" at ", b.Time[p])
		}
		r.log = append(r.log, s)
		r.rows = append(r.rows, s)
	}
}

// reload puts a loaded operator in the place of each.
func (r *run) reload(t *testing.T) {
	for k, op := range r.ops {
		r.ops[k] = r.load(t, save(op))
	}
}

func save(op exec.Operator) []byte {
	w := checkpoint.NewWriter(1, 0)
	op.(saver).Save(w)
	for w.Pending() {
		w.Continue()
	}
	data, _, _ := w.Output()
	return data
}

func (r *run) load(t *testing.T, data []byte) exec.Operator {
	c := checkpoint.NewReader(1, data)
	op := r.Make()
	require.NoError(t, op.(saver).Load(c))
	require.NoError(t, c.Done())
	return op
}

// spread spreads the groups of all operators over others.
func (r *run) spread(t *testing.T, width int) {
	var data [][]byte
	for _, op := range r.ops {
		data = append(data, save(op))
	}
	owes := slices.Contains(r.owes, true)
	r.ops, r.owes = nil, nil
	for k := range width {
		op := r.Make()
		for _, d := range data {
			owns := func(hash uint64) bool { return taskOf(hash, width) == k }
			require.NoError(t, op.(merger).Merge(r.load(t, d), owns))
		}
		r.ops, r.owes = append(r.ops, op), append(r.owes, owes)
	}
}

// damage loads damaged bytes: with the end cut off, which is an error, and with some bits turned round, which may be.
func (r *run) damage(t *testing.T) {
	data := save(r.ops[0])
	step := len(data)/60 + 1
	for at := 0; at < len(data); at += step {
		require.Error(t, r.Make().(saver).Load(checkpoint.NewReader(1, data[:at:at])), "only %d bytes of %d", at, len(data))
		bad := slices.Clone(data)
		bad[at] ^= byte(1 << (at / step % 8))
		require.NotPanics(t, func() { r.Make().(saver).Load(checkpoint.NewReader(1, bad)) }, "bit turned round in byte %d of %d", at, len(data))
	}
}
