package op

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Rows of a retained key that are at most the time apart are one life of it, like a session, whatever the batches are.
func TestAggregateRetains(t *testing.T) {
	often(t, func(t *rapid.T) {
		a := drawTest(t, []*types.Window{nil})
		if len(a.args.By) == 0 {
			a.by("n")
		}
		a.args.Retain = types.Retain{Set: true, For: rapid.SampledFrom([]int64{5, 40}).Draw(t, "retain")}
		a.in.Bounded = rapid.Bool().Draw(t, "bounded")
		switch rapid.IntRange(0, 2).Draw(t, "form") {
		case 0:
			a.args.Emit = types.Emit{Set: true}
		case 1:
			a.args.Emit = types.Emit{Set: true, Changes: true, Every: 3}
		}
		// No row is behind its mark here: those may find the life over that they would belong to, see TestRetainInAnyOrder.
		a.lag = 1000
		for i := range a.rows {
			a.rows[i].mark = types.MinInstant
			a.rows[i].split = 0
		}
		a.check(t, chooser(t))
	})
}

// A session stays open while a row may come that is exactly the gap behind its last one.
func TestAggregateSessionWaitsForTheGap(t *testing.T) {
	a := &aggregateTest{in: types.Stream{Schema: testSchema, Time: true, Bounded: true}}
	a.args.Window = &types.Window{Kind: types.Session, Size: 5}
	a.call("count", nil)
	op, err := newAggregate(a.context(a.finish(t)))
	require.NoError(t, err)
	var got []string
	d := &driver{op: op, out: exec.NewTap(func(_ int, it exec.Item) { got = append(got, rowText(it.Batch, 0)) })}
	row := func(at int64) {
		require.NoError(t, op.Process(0, a.batch([]testRow{{time: at, mark: types.MinInstant, values: []any{nil, nil, int64(1), 0.0, nil, nil}}}), d.out))
	}
	row(0)
	row(3)
	d.advance(t, 8)
	require.Empty(t, got)
	row(8)
	d.advance(t, 13)
	require.Empty(t, got)
	d.advance(t, 14)
	require.Equal(t, []string{"{end:13 start:0 }|3"}, got)
}

// A window by the clock takes rows by when they come.
func TestAggregateByTheClock(t *testing.T) {
	for _, w := range []*types.Window{{Kind: types.Tumbling, Size: 10, Processing: true}, {Kind: types.Hopping, Size: 10, Step: 5, Processing: true},
		{Kind: types.Session, Size: 10, Processing: true}} {
		a := &aggregateTest{in: types.Stream{Schema: testSchema, Bounded: true}}
		a.args.Window = w
		a.call("count", nil)
		out := a.finish(t)
		require.False(t, out.Time)
		op, err := newAggregate(a.context(out))
		require.NoError(t, err)
		var got []string
		d := &driver{op: op, out: exec.NewTap(func(_ int, it exec.Item) {
			for i := range it.Batch.Rows() {
				got = append(got, rowText(it.Batch, it.Batch.Row(i)))
			}
		})}
		tick := func(now int64) {
			a.now = now
			next, err := op.(exec.Ticker).Tick(now, d.out)
			require.NoError(t, err)
			require.Greater(t, next, now)
			d.settle(t)
		}
		row := []testRow{{values: []any{nil, nil, int64(1), 0.0, nil, nil}}}
		tick(101)
		require.NoError(t, op.Process(0, a.batch(row), d.out))
		d.advance(t, 100_000) // event time does not matter
		tick(104)
		require.NoError(t, op.Process(0, a.batch(row), d.out))
		require.Empty(t, got)
		tick(109)
		tick(112)
		switch w.Kind {
		case types.Tumbling:
			require.Equal(t, []string{"{end:110 start:100 }|2"}, got)
		case types.Hopping:
			require.Equal(t, []string{"{end:105 start:95 }|2", "{end:110 start:100 }|2"}, got)
		default:
			require.Empty(t, got)
			tick(116)
			require.Equal(t, []string{"{end:114 start:101 }|2"}, got)
		}
		require.NoError(t, op.Process(0, a.batch(row), d.out))
		d.advance(t, types.MaxInstant)
		require.NotEmpty(t, got[1:], "the end of the input closes all windows")
	}
}

// Without event time a window of n rows goes by arrival.
func TestAggregateCountWindowsByArrival(t *testing.T) {
	a := &aggregateTest{in: types.Stream{Schema: testSchema, Bounded: true}}
	a.args.Window = &types.Window{Kind: types.CountWindow, Size: 2}
	a.call("sum", []string{"n"})
	for i := range 5 {
		a.rows = append(a.rows, testRow{values: []any{nil, nil, int64(i), 0.0, nil, nil}})
	}
	a.run(t, rand.New(rand.NewPCG(1, 1)).IntN)
	require.Equal(t, []string{"<nil>|1", "<nil>|4", "<nil>|5"}, a.out)
}

// Many keys come out in pieces, in two steps also where keys hardly repeat.
func TestAggregateManyKeys(t *testing.T) {
	for _, distinct := range []int64{50, 30_000} {
		n := 20_000
		if distinct > 20_000 {
			n = 40_000 // more groups than are kept before the exchange
		}
		for _, w := range []*types.Window{nil, {Kind: types.Hopping, Size: 100, Step: 50}, {Kind: types.Session, Size: 3}} {
			for _, width := range []int{0, 2} {
				if width > 0 && w != nil && w.Kind == types.Session {
					continue
				}
				a := &aggregateTest{in: types.Stream{Schema: testSchema, Time: true, Bounded: true}, width: width}
				a.args.Window = w
				a.by("n", "k")
				a.call("count", nil)
				a.call("max", []string{"f"})
				a.call("distinct", []string{"i"})
				rng := rand.New(rand.NewPCG(1, 1))
				var all []testRow
				for i := range n {
					k := rng.Int64N(distinct)
					all = append(all, testRow{time: int64(i / 500), mark: types.MinInstant, pos: uint64(i), values: []any{fmt.Sprint("key ", k, " of many"), k % 3, k, float64(i), nil, nil}})
				}
				a.rows = all
				out, _ := a.expect()
				runInFull(t, a)
				require.Equal(t, out, a.out)
			}
		}
	}
}

// Sets are sent when they have become large, so that of one group, too, little is kept before the exchange; where values
// hardly repeat, more of them are kept, for it would be of no use to send them early.
func TestPartialSetsAreBounded(t *testing.T) {
	for _, w := range []*types.Window{nil, {Kind: types.Tumbling, Size: 1 << 40}} {
		for _, repeated := range []int{1, 8} {
			a := &aggregateTest{in: types.Stream{Schema: testSchema, Time: true, Bounded: true}, width: 1}
			a.args.Window = w
			a.call("distinct", []string{"i"})
			a.call("count", nil)
			const values = 5 * partialValues
			for i := range values * repeated {
				a.rows = append(a.rows, testRow{time: int64(i), mark: types.MinInstant, values: []any{nil, int64(i / repeated), int64(0), 0.0, nil, nil}})
			}
			runInFull(t, a)
			text := fmt.Sprintf("%d|%d", values, values*repeated)
			if w != nil {
				text = windowAs(0, w.Size) + "|" + text
			}
			require.Equal(t, []string{text}, a.out)
			if longest := slices.Max(a.lists); repeated > 1 {
				require.Less(t, longest, 2*partialValues)
				require.GreaterOrEqual(t, len(a.lists), 5-1)
			} else {
				require.Greater(t, longest, 3*partialValues/2)
				require.Less(t, len(a.lists), 5)
			}
		}
	}
}

// runInFull runs with batches of full size.
func runInFull(t *testing.T, a *aggregateTest) {
	rows := a.rows
	defer func() { a.rows = rows }()
	n := 0
	a.run(t, func(k int) int {
		n++
		if k == 6 || k == 3 {
			return 1
		}
		return (n * 7) % k
	})
}

// A jump of years costs nothing, and the ends of time do not confuse the windows.
func TestAggregateFarApart(t *testing.T) {
	start := time.Now()
	for _, w := range append(slices.Clone(aligned), &types.Window{Kind: types.Session, Size: 5}, &types.Window{Kind: types.CountWindow, Size: 2}, &types.Window{Kind: types.Session, Size: 5, Max: 9}) {
		a := &aggregateTest{in: types.Stream{Schema: testSchema, Time: true, Bounded: true}}
		a.args.Window = w
		a.call("count", nil)
		for _, at := range []int64{-9_000_000_000_000_000_000, -1, 0, 9_000_000_000_000_000_000, math.MaxInt64 - 1} {
			a.rows = append(a.rows, testRow{time: at, mark: types.MinInstant, values: []any{nil, nil, int64(1), 0.0, nil, nil}})
		}
		a.lag = 3
		a.run(t, rand.New(rand.NewPCG(1, 1)).IntN)
		if w.Kind != types.Hopping || w.Step < w.Size {
			require.NotEmpty(t, a.out)
		}
	}
	require.Less(t, time.Since(start), 20*time.Second)
}

// What a row failed with is dealt with by the stage's on_error, in the input and in the items over the results.
func TestAggregateFailingRows(t *testing.T) {
	div := func(x, y *types.Expr) *types.Expr {
		var sig *types.Sig
		for i := range types.Operators["%"] {
			if s := types.Operators["%"][i]; s.Params[0].Kind == types.Int {
				sig = s
			}
		}
		return &types.Expr{Op: types.OpCall, Name: "%", Sig: sig, Type: types.T(types.Int), Args: []*types.Expr{x, y}}
	}
	n := types.ColRef(testSchema, 2)
	for _, post := range []bool{false, true} {
		a := &aggregateTest{in: types.Stream{Schema: testSchema, Bounded: true}}
		a.by("n")
		if post {
			a.call("sum", []string{"n"})
		} else {
			sum := aggNamed("sum")
			a.args.Aggs = []types.AggCall{{Sig: &sum.AggSig, Args: []*types.Expr{div(types.Const(types.T(types.Int), int64(7)), n)}, Result: types.T(types.Int)}}
		}
		out := a.finish(t)
		if post {
			a.args.Post[0].Expr = div(types.Const(types.T(types.Int), int64(7)), a.args.Post[0].Expr)
		}
		failed := 0
		c := a.context(out)
		c.Fail = func(x *eval.Ctx, b *vec.Batch, _ *exec.Out) (*vec.Batch, error) {
			f := x.Failed()
			if len(f) == 0 {
				return b, nil
			}
			if failed++; failed > 1 {
				return nil, errors.New("stop")
			}
			return b.Select(x.Drop(b.Sel, b.N)), nil
		}
		op, err := newAggregate(c)
		require.NoError(t, err)
		var got []string
		d := &driver{op: op, out: exec.NewTap(func(_ int, it exec.Item) {
			for i := range it.Batch.Rows() {
				got = append(got, rowText(it.Batch, it.Batch.Row(i)))
			}
		})}
		for i := range int64(3) {
			a.rows = append(a.rows, testRow{values: []any{nil, nil, i, 0.0, nil, nil}})
		}
		require.NoError(t, op.Process(0, a.batch(a.rows), d.out))
		d.advance(t, types.MaxInstant)
		require.NoError(t, op.Finish(d.out))
		d.settle(t)
		require.Equal(t, []string{"1|0", "2|1"}, got)
		require.Equal(t, 1, failed)
	}
}

func TestAggregateMisuse(t *testing.T) {
	tumbling := &types.Window{Kind: types.Tumbling, Size: 10}
	count := &types.Window{Kind: types.CountWindow, Size: 10}
	session := &types.Window{Kind: types.Session, Size: 10}
	clock := &types.Window{Kind: types.Tumbling, Size: 10, Processing: true}
	timed := types.Stream{Schema: testSchema, Time: true}
	updating := types.Stream{Schema: testSchema, Time: true, Updating: true}
	hour := types.Retain{Set: true, For: 3600}
	changes := types.Emit{Set: true, Changes: true}
	for _, c := range []struct {
		code, clause string
		in           types.Stream
		args         types.StageArgs
	}{
		{"W425", "late", timed, types.StageArgs{Late: types.Late{Set: true}}},
		{"W425", "late", timed, types.StageArgs{Window: clock, Late: types.Late{Set: true}}},
		{"W425", "late", types.Stream{Schema: testSchema}, types.StageArgs{Window: count, Late: types.Late{Set: true}}},
		{"W426", "retain", timed, types.StageArgs{Window: tumbling, Retain: hour}},
		{"W426", "retain", types.Stream{Schema: testSchema}, types.StageArgs{Retain: hour}},
		{"W401", "window", types.Stream{Schema: testSchema}, types.StageArgs{Window: tumbling}},
		{"W413", "emit", timed, types.StageArgs{Window: count, Emit: changes}},
		{"W413", "late", timed, types.StageArgs{Window: count, Late: types.Late{Set: true, Allow: 5}}},
		{"W413", "emit", timed, types.StageArgs{Window: &types.Window{Kind: types.Session, Size: 10, Max: 20}, Emit: changes}},
		{"W422", "window", timed, types.StageArgs{Window: &types.Window{Kind: types.Session, Size: 10, Max: 20, Processing: true}}},
		{"W410", "window", updating, types.StageArgs{Window: session}},
		{"W410", "window", updating, types.StageArgs{Window: count}},
		{"W410", "window", updating, types.StageArgs{Window: clock}},
		{"W410", "retain", updating, types.StageArgs{Retain: hour}},
		{"W414", "emit", timed, types.StageArgs{Emit: types.Emit{Set: true}}},
	} {
		_, err := aggregateOutput([]types.Stream{c.in}, &c.args)
		var e *types.StageError
		require.ErrorAs(t, err, &e, "%+v", c.args)
		require.Equal(t, c.code+" "+c.clause, e.Code+" "+e.Clause)
		require.NotEmpty(t, e.Help)
	}
}

func TestAggregateOutput(t *testing.T) {
	tumbling := &types.Window{Kind: types.Tumbling, Size: 10}
	timed := types.Stream{Schema: testSchema, Time: true}
	bounded := types.Stream{Schema: testSchema, Time: true, Bounded: true}
	changes := types.Emit{Set: true, Changes: true}
	for _, c := range []struct {
		in                       types.Stream
		args                     types.StageArgs
		updating, time, windowed bool
	}{
		{timed, types.StageArgs{}, true, false, false},
		{bounded, types.StageArgs{}, false, false, false},
		{bounded, types.StageArgs{Emit: changes}, true, false, false},
		{timed, types.StageArgs{Emit: types.Emit{Set: true}, Retain: types.Retain{Set: true, For: 5}}, false, false, false},
		{timed, types.StageArgs{Window: tumbling}, false, true, true},
		{timed, types.StageArgs{Window: tumbling, Emit: changes}, true, true, false},
		{timed, types.StageArgs{Window: tumbling, Late: types.Late{Set: true, Allow: 5}}, true, true, false},
		{timed, types.StageArgs{Window: &types.Window{Kind: types.Tumbling, Size: 10, Processing: true}}, false, false, false},
	} {
		out, err := aggregateOutput([]types.Stream{c.in}, &c.args)
		require.NoError(t, err)
		require.Equal(t, []bool{c.updating, c.time, c.windowed, c.in.Bounded}, []bool{out.Updating, out.Time, out.Windowed, out.Bounded}, "%+v", c.args)
	}
	a := &aggregateTest{in: bounded}
	a.call("count", nil)
	a.call("sum", []string{"n"})
	out := a.finish(t)
	require.Equal(t, "{r0: int, r1: int}", out.Schema.String())
	a.by("k")
	a.args.Window = tumbling
	require.Equal(t, "{k: string?, window: {start: time, end: time}, r0: int, r1: int}", a.finish(t).Schema.String())
	traits := aggregateTraits([]types.Stream{timed}, &a.args)
	require.Equal(t, "count(), sum(n) by k, tumbling(10ns)", traits.State)
	require.True(t, traits.Mark)
	require.False(t, traits.Pos)
}

// An endless input has no end at which groups could come out: with `retain` alone they tell their changes at once.
func TestAggregateRetainsWithoutEnd(t *testing.T) {
	a := &aggregateTest{in: types.Stream{Schema: testSchema, Time: true}}
	a.args.Retain = types.Retain{Set: true, For: 10}
	a.by("n")
	a.call("count", nil)
	op, err := newAggregate(a.context(a.finish(t)))
	require.NoError(t, err)
	var got []string
	out := exec.NewTap(func(_ int, it exec.Item) {
		for i := range it.Batch.Rows() {
			got = append(got, it.Batch.Change[i].String()+" "+rowText(it.Batch, i))
		}
	})
	row := testRow{time: 1, mark: types.MinInstant, values: []any{nil, nil, int64(7), 0.0, nil, nil}}
	require.NoError(t, op.Process(0, a.batch([]testRow{row}), out))
	require.Equal(t, []string{"+I 7|1"}, got)
	require.NoError(t, op.Process(0, a.batch([]testRow{row}), out))
	require.Equal(t, []string{"+I 7|1", "-U 7|1", "+U 7|2"}, got)
}

// Both rows of an update are in one batch, also where a batch is full between them.
func TestAggregateUpdatesAreNotTornApart(t *testing.T) {
	a := &aggregateTest{in: types.Stream{Schema: testSchema, Time: true, Bounded: true}}
	a.args.Emit = types.Emit{Set: true, Changes: true}
	a.by("i")
	a.call("count", nil)
	op, err := newAggregate(a.context(a.finish(t)))
	require.NoError(t, err)
	sizes := map[int]bool{}
	out := exec.NewTap(func(_ int, it exec.Item) {
		b := it.Batch
		sizes[b.N] = true
		require.LessOrEqual(t, b.N, vec.MaxRows)
		for i := range b.N {
			if b.Change[i] == vec.UpdateBefore {
				require.Less(t, i+1, b.N, "what follows an update in the batch")
			}
			if i == 0 || b.Change[i-1] != vec.UpdateBefore {
				require.NotEqual(t, vec.UpdateAfter, b.Change[i])
			}
		}
	})
	rows := make([]testRow, 3000)
	for i := range rows {
		rows[i] = testRow{values: []any{nil, int64(i), int64(0), 0.0, nil, nil}}
	}
	require.NoError(t, op.Process(0, a.batch(rows), out))
	anew := testRow{values: []any{nil, int64(-1), int64(0), 0.0, nil, nil}}
	require.NoError(t, op.Process(0, a.batch(append([]testRow{anew}, rows...)), out))
	require.Equal(t, map[int]bool{3000: true, vec.MaxRows - 1: true, 6001 - (vec.MaxRows - 1): true}, sizes)
}

// A split that was idle may have fallen behind time: its rows are late for what has come out, though they were read in order.
func TestAggregateBehindAnIdleSplit(t *testing.T) {
	for name, w := range map[string]*types.Window{"tumbling": {Kind: types.Tumbling, Size: 10}, "hopping": {Kind: types.Hopping, Size: 10, Step: 5},
		"session": {Kind: types.Session, Size: 5}, "limited session": {Kind: types.Session, Size: 5, Max: 20}, "count": {Kind: types.CountWindow, Size: 1}} {
		for _, width := range []int{0, 1} {
			if width > 0 && w.Kind != types.Tumbling && w.Kind != types.Hopping {
				continue
			}
			t.Run(fmt.Sprint(name, width), func(t *testing.T) {
				a := &aggregateTest{in: types.Stream{Schema: testSchema, Time: true, Bounded: true}, width: width}
				a.args.Window = w
				a.call("count", nil)
				c := a.context(a.finish(t))
				rows, late := 0, 0
				second := *c
				second.Partial = width > 0
				main, err := newAggregate(&second)
				require.NoError(t, err)
				out := exec.NewTap(func(port int, it exec.Item) {
					if port > 0 {
						late += it.Batch.Rows()
					} else {
						rows += it.Batch.Rows()
					}
				})
				d := &driver{op: main, out: out}
				to := main
				if width > 0 { // it has not heard of the time, and what it tells is late behind it
					to, _, _ = newPartial(c)
					out = exec.NewTap(func(_ int, it exec.Item) { require.NoError(t, main.Process(0, it.Batch, d.out)) })
				}
				d.advance(t, 100)
				at := func(time int64) testRow {
					return testRow{time: time, mark: types.MinInstant, values: []any{nil, nil, int64(1), 0.0, nil, nil}}
				}
				b := a.batch([]testRow{at(50), at(51)})
				b.Mark = []int64{types.MinInstant, 50} // of the split, which stands where it stood
				require.NoError(t, to.Process(0, b, out))
				if width > 0 {
					p := &driver{op: to, out: out}
					to.(*partial).Idle()
					p.settle(t)
					require.Equal(t, int64(1), a.stats.Late.Load(), "one group, late as a whole, before the end")
				} else {
					require.Equal(t, 2, late)
				}
				d.advance(t, types.MaxInstant)
				require.Zero(t, rows)
			})
		}
	}
}

// At another number of tasks the groups of a task whose input had ended meet those of one that still has rows to come.
func TestMergeOfATaskWhoseInputHasEnded(t *testing.T) {
	for ended := range 2 {
		a := &aggregateTest{in: types.Stream{Schema: testSchema, Time: true, Bounded: true}}
		a.by("n")
		a.call("count", nil)
		stream := a.finish(t)
		got := []string{}
		d := &driver{out: exec.NewTap(func(_ int, it exec.Item) {
			for i := range it.Batch.Rows() {
				got = append(got, rowText(it.Batch, it.Batch.Row(i)))
			}
		})}
		fresh := func() exec.Operator {
			op, err := newAggregate(a.context(stream))
			require.NoError(t, err)
			return op
		}
		row := func(n int) *vec.Batch {
			return a.batch([]testRow{{mark: types.MinInstant, values: []any{nil, nil, int64(n), 0.0, nil, nil}}})
		}
		all := fresh()
		for n := range 2 {
			op := fresh()
			require.NoError(t, op.Process(0, row(n), d.out))
			if n == ended {
				require.NoError(t, op.Finish(d.out))
			}
			require.NoError(t, all.(exec.Merger).Merge(op, func(uint64) bool { return true }))
		}
		d.op = all
		d.settle(t)
		require.Empty(t, got, "before all inputs have ended")
		require.NoError(t, all.Process(0, row(1-ended), d.out))
		require.NoError(t, all.Finish(d.out))
		d.settle(t)
		slices.Sort(got)
		want := []string{fmt.Sprint(ended, "|1"), fmt.Sprint(1-ended, "|2")}
		slices.Sort(want)
		require.Equal(t, want, got)
	}
}
