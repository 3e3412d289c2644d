package op

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
)

// What `retain` makes of late rows depends on the order in which they were read and not on that in which they come: a source
// is read by several tasks, and their channels may be emptied in any way.
func TestRetainInAnyOrder(t *testing.T) {
	const gap = 5
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		lag := int64(rng.IntN(6))
		var rows []testRow
		top, clock := int64(types.MinInstant), int64(0)
		var marks []int64 // watermark behind each row
		for i := range 40 {
			clock += int64(rng.IntN(4))
			r := testRow{time: clock - int64(rng.IntN(2)*rng.IntN(14)), mark: types.MinInstant, pos: uint64(i), values: []any{nil, nil, int64(rng.IntN(2)), 0.0, nil, nil}}
			if top != types.MinInstant {
				r.mark = top - lag
			}
			top = max(top, r.time)
			marks = append(marks, top-lag)
			rows = append(rows, r)
		}
		want := naiveRetain(rows, gap)
		for run := range 6 {
			channels := make([][]int, 1+run%3)
			for i := range rows {
				c := rng.IntN(len(channels))
				channels[c] = append(channels[c], i)
			}
			require.Equal(t, want, retained(t, rng, rows, marks, channels, gap), "seed %d, %d channels", seed, len(channels))
		}
	}
}

// retained gives the rows to an operator as a gate would that takes them out of channels; it is saved and loaded now and then.
func retained(t *testing.T, rng *rand.Rand, rows []testRow, marks []int64, channels [][]int, gap int64) []string {
	a := &aggregateTest{in: types.Stream{Schema: testSchema, Time: true, Bounded: true}}
	a.args.Retain, a.args.Emit = types.Retain{Set: true, For: gap}, types.Emit{Set: true}
	a.by("n")
	a.call("count", nil)
	a.call("min", []string{"n"})
	stream := a.finish(t)
	fresh := func() exec.Operator {
		op, err := newAggregate(a.context(stream))
		require.NoError(t, err)
		return op
	}
	op := fresh()
	got := []string{}
	out := exec.NewTap(func(_ int, it exec.Item) {
		for i := range it.Batch.Rows() {
			got = append(got, fmt.Sprint(it.Batch.Cols[0].Value(it.Batch.Row(i)), it.Batch.Cols[1].Value(it.Batch.Row(i))))
		}
	})
	d := &driver{op: op, out: out}
	told := make([]int64, len(channels))
	for c := range told {
		told[c] = types.MinInstant
	}
	for {
		var left []int
		w := int64(types.MaxInstant)
		for c := range channels {
			if len(channels[c]) > 0 {
				left = append(left, c)
				w = min(w, told[c])
			}
		}
		d.advance(t, w)
		if len(left) == 0 {
			break
		}
		c := left[rng.IntN(len(left))]
		n := 1 + rng.IntN(min(3, len(channels[c])))
		var batch []testRow
		for _, i := range channels[c][:n] {
			batch = append(batch, rows[i])
			told[c] = marks[i]
		}
		channels[c] = channels[c][n:]
		require.NoError(t, d.op.Process(0, a.batch(batch), out))
		if rng.IntN(5) == 0 {
			w := checkpoint.NewWriter(1, 0)
			require.NoError(t, d.op.(exec.Saver).Save(w))
			for w.Pending() {
				w.Continue()
			}
			data, _, _ := w.Output()
			d.op = fresh()
			require.NoError(t, d.op.(exec.Saver).Load(checkpoint.NewReader(1, data)))
		}
	}
	slices.Sort(got)
	return got
}

// naiveRetain takes the rows in the order in which they were read.
func naiveRetain(rows []testRow, gap int64) []string {
	type life struct {
		first, last int64
		n           int64
	}
	keys := map[int64][]*life{}
	for _, r := range rows {
		n := r.values[2].(int64)
		own := &life{r.time, r.time, 1}
		all := []*life{own}
		for _, l := range keys[n] {
			if over := r.mark != types.MinInstant && l.last+gap < r.mark; over || l.last < own.first-gap || l.first > own.last+gap {
				all = append(all, l)
				continue
			}
			own.first, own.last, own.n = min(own.first, l.first), max(own.last, l.last), own.n+l.n
		}
		keys[n] = all
	}
	got := []string{}
	for n, all := range keys {
		for _, l := range all {
			got = append(got, fmt.Sprint(n, l.n))
		}
	}
	slices.Sort(got)
	return got
}
