package exectest

import (
	"bytes"
	"math"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
)

// freezer takes checkpoints of an operator as if its state were large: several are open at a time, each is written in
// small pieces between calls, some are given up, and most build on the newest complete one.
type freezer struct {
	c      Test
	script []Input
	want   []string // what comes out
	whole  [][]byte // the state after each call
	open   []*checkpoint.Writer
	at     map[checkpoint.ID]int // call after which it was taken
	id     checkpoint.ID
	last   checkpoint.ID // complete
	chain  [][]byte      // of it
}

// mostDeltas is how many deltas follow a base.
const mostDeltas = 6

// frozen verifies that what is loaded from pieces and deltas is the state after the call at which it was taken.
func (c Test) frozen(t T, script []Input, want []string) {
	f := &freezer{c: c, script: script, want: want, at: map[checkpoint.ID]int{}}
	c.run(t, script, func(r *run) { f.whole = append(f.whole, save(t, r.ops[0])) })
	got := c.run(t, script, func(r *run) { f.between(t, r) })
	require.Equal(t, want, got.log, "while checkpoints were taken")
}

func (f *freezer) between(t T, r *run) {
	if len(f.open) > 0 {
		w := f.open[0]
		more := true
		for n := []int{2, 5, 20, 100}[w.ID%4]; more && n > 0; n-- {
			more = w.Continue()
		}
		switch {
		case w.ID%7 == 3 && f.at[w.ID]+2 < r.calls:
			w.Abort()
			f.open = f.open[1:]
		case !more:
			f.open = f.open[1:]
			f.complete(t, w)
		}
	}
	if len(f.open) == 3 || r.calls%max(len(f.whole)/50, 1) != 0 {
		return
	}
	f.id++
	w := checkpoint.NewWriter(f.id, f.last)
	if w.AtOnce, w.Piece = -1, 100+int(f.id%5)*200+len(f.whole[r.calls])/50; len(f.chain) > mostDeltas {
		w.Parent = 0
	}
	require.NoError(t, r.ops[0].(exec.Saver).Save(w))
	f.open, f.at[w.ID] = append(f.open, w), r.calls
}

// complete loads a checkpoint and those that it builds on.
func (f *freezer) complete(t T, w *checkpoint.Writer) {
	data, _, _ := w.Output()
	if !w.IsDelta() {
		f.chain = nil
	}
	f.chain = append(f.chain, data)
	f.last = w.ID
	op := f.c.Make()
	for _, d := range f.chain {
		c := checkpoint.NewReader(w.ID, d)
		require.NoError(t, op.(exec.Saver).Load(c))
		require.NoError(t, c.Done())
	}
	at := f.at[w.ID]
	if bytes.Equal(f.whole[at], save(t, op)) {
		return
	}
	// Memory that is in use for nothing may differ: it does not matter.
	got := f.c.run(t, f.script, func(r *run) {
		if r.calls == at {
			r.ops[0] = op
		}
	})
	require.Equal(t, f.want, got.log, "loaded in %d parts, as after call %d", len(f.chain), at)
}

// save saves the state at once.
func save(t T, op exec.Operator) []byte {
	w := checkpoint.NewWriter(1, 0)
	w.AtOnce = math.MaxInt
	require.NoError(t, op.(exec.Saver).Save(w))
	for w.Pending() {
		w.Continue()
	}
	data, _, _ := w.Output()
	return data
}
