package op

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Rows that come one by one, whole batches, ties: what goes out in pieces is what a stable sort gives.
func TestSortMerges(t *testing.T) {
	in := types.Stream{Schema: testSchema, Time: true, Bounded: true}
	by := []types.Item{{Expr: &types.Expr{Op: types.OpCol, Col: 1, Type: testSchema.Fields[1].Type}, Desc: true}}
	op := stageTest(t, "sort", in, &types.StageArgs{By: by}, nil).Make().(*sorter)
	rng := rand.New(rand.NewPCG(1, 2))
	type row struct{ n, value int64 }
	var want []row
	n := int64(0)
	for _, size := range []int{1, 1, 1, vec.MaxRows, 3, 2000, 1, vec.MaxRows, vec.MaxRows, 17} {
		var rows [][]any
		for range size {
			r := row{n, int64(rng.IntN(500))}
			want = append(want, r)
			rows = append(rows, []any{nil, r.value, int64(0), 0.5, "s", true})
			n++
		}
		b := vec.FromRows(testSchema, rows)
		for i := range b.N {
			b.Time = append(b.Time, n-int64(size)+int64(i))
		}
		require.NoError(t, op.Process(0, b, exec.NewTap(func(int, exec.Item) {})))
	}
	require.Less(t, len(op.open[types.MaxInstant].all), 8, "small runs are merged")
	slices.SortStableFunc(want, func(a, b row) int { return int(b.value - a.value) })
	require.NoError(t, op.Advance(types.MaxInstant, nil))
	var got []row
	out := exec.NewTap(func(_ int, it exec.Item) {
		require.LessOrEqual(t, it.Batch.Rows(), vec.MaxRows)
		for i := range it.Batch.N {
			got = append(got, row{it.Batch.Time[i], it.Batch.Cols[1].Ints[i]})
		}
	})
	for more := true; more; {
		var err error
		more, err = op.Drain(out)
		require.NoError(t, err)
	}
	require.Equal(t, want, got)
}

// Earlier versions sorted a window whole when it closed, and saved what was owed of it.
func TestSortOfEarlierVersion(t *testing.T) {
	in := types.Stream{Schema: testSchema, Time: true, Bounded: true}
	by := []types.Item{{Expr: &types.Expr{Op: types.OpCol, Col: 1, Type: testSchema.Fields[1].Type}}}
	w := checkpoint.NewWriter(1, 0)
	w.Uint(0)
	state.SaveBatches(w, []*vec.Batch{vec.FromRows(testSchema, [][]any{{nil, int64(7), int64(0), 0.5, "s", true}})})
	w.Int(1)
	data, _, _ := w.Output()
	op := stageTest(t, "sort", in, &types.StageArgs{By: by}, nil).Make().(*sorter)
	r := checkpoint.NewReader(1, data)
	require.NoError(t, op.Load(r))
	require.NoError(t, r.Done())
	require.EqualValues(t, 1, op.given)
	rows := 0
	_, err := op.Drain(exec.NewTap(func(_ int, it exec.Item) { rows += it.Batch.Rows() }))
	require.NoError(t, err)
	require.Equal(t, 1, rows)
}

// A row whose window has been given out is late, also where it is not behind its split, which was idle meanwhile.
func TestSortDropsRowsOfClosedWindows(t *testing.T) {
	in := types.Stream{Schema: testSchema, Time: true}
	by := []types.Item{{Expr: &types.Expr{Op: types.OpCol, Col: 1, Type: testSchema.Fields[1].Type}}}
	a := &types.StageArgs{By: by, Window: &types.Window{Kind: types.Tumbling, Size: 10}}
	op := stageTest(t, "sort", in, a, nil).Make().(*sorter)
	var got []int64
	out := exec.NewTap(func(_ int, it exec.Item) { got = append(got, it.Batch.Cols[1].Ints...) })
	rows := func(values ...int64) {
		b := &vec.Batch{}
		var list [][]any
		for _, v := range values {
			list = append(list, []any{nil, v, int64(0), 0.5, "s", true})
			b.Time = append(b.Time, v)
		}
		b.N, b.Cols = len(list), vec.FromRows(testSchema, list).Cols
		require.NoError(t, op.Process(0, b, out))
	}
	close := func(w int64) {
		require.NoError(t, op.Advance(w, out))
		for more := true; more; {
			var err error
			more, err = op.Drain(out)
			require.NoError(t, err)
		}
	}
	rows(4, 3, 12)
	close(10)
	w := checkpoint.NewWriter(1, 0)
	require.NoError(t, op.Save(w))
	data, _, _ := w.Output()
	op = stageTest(t, "sort", in, a, nil).Make().(*sorter)
	require.NoError(t, op.Load(checkpoint.NewReader(1, data)))
	rows(5, 11)
	close(types.MaxInstant)
	require.Equal(t, []int64{3, 4, 11, 12}, got)
	require.EqualValues(t, 1, op.env.Stats.Late.Load())
	require.EqualValues(t, 1, op.env.Stats.LateDropped.Load())
}
