package op

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/exectest"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// newUnnest makes `unnest tags as tag` whose pieces have most rows.
func newUnnest(t require.TestingT, most int) *unnest {
	tags := types.ListOf(types.T(types.Int))
	tags.Nullable = true
	in := types.Stream{Schema: types.Schema{Fields: []types.Field{{Name: "id", Type: types.T(types.Int)}, {Name: "tags", Type: tags}}}}
	args := &types.StageArgs{Items: []types.Item{{Name: "tag", Expr: &types.Expr{Op: types.OpCol, Col: 1, Type: tags}}}}
	for _, s := range All() {
		if s.Doc.Name == "unnest" {
			out, err := s.Output([]types.Stream{in}, args)
			require.NoError(t, err)
			op, err := s.New(&spec.StageContext{Args: args, In: []types.Stream{in}, Out: out, Width: 1, Lib: noLib{},
				Env:  &exec.Env{Now: func() int64 { return 0 }, Stats: &exec.Stats{}, Splits: &exec.Splits{}, StepRows: func() int { return most }},
				Fail: func(_ *eval.Ctx, b *vec.Batch, _ *exec.Out) (*vec.Batch, error) { return b, nil }})
			require.NoError(t, err)
			return op.(*unnest)
		}
	}
	t.FailNow()
	return nil
}

// listsOf returns rows with lists of so many elements each, -1 for null, numbered from first on.
func listsOf(t require.TestingT, first int, lengths ...int) *vec.Batch {
	u := newUnnest(t, 1)
	var rows [][]any
	for i, n := range lengths {
		row := []any{int64(first + i), nil}
		if n >= 0 {
			list := []any{}
			for e := range n {
				list = append(list, int64(100*(first+i)+e))
			}
			row[1] = list
		}
		rows = append(rows, row)
	}
	return vec.FromRows(types.Schema{Fields: []types.Field{{Name: "id", Type: u.cols[0]}, {Name: "tags", Type: u.cols[1]}}}, rows)
}

func TestUnnestIsSaved(t *testing.T) {
	script := []exectest.Input{exectest.Rows(listsOf(t, 1, 3, -1, 0, 7)), exectest.Rows(listsOf(t, 5, -1)), exectest.Watermark(5),
		exectest.Rows(listsOf(t, 6, 0, 20, 0)), exectest.Rows(listsOf(t, 9, 1, 1).Select([]uint32{1})), exectest.Finish()}
	for _, most := range []int{1, 2, 3, 100} {
		exectest.Verify(t, exectest.Test{Script: script, Make: func() exec.Operator { return newUnnest(t, most) }})
	}
}

// A long list goes out in pieces of a batch.
func TestUnnestPieces(t *testing.T) {
	u := newUnnest(t, 0)
	u.env.StepRows = nil
	var sizes []int
	out := exec.NewTap(func(_ int, it exec.Item) { sizes = append(sizes, it.Batch.Rows()) })
	require.NoError(t, u.Process(0, listsOf(t, 1, 3*vec.MaxRows+1+8+64+512-1, 2), out))
	require.Equal(t, []int{1}, sizes)
	for u.Owes() {
		_, err := u.Drain(out)
		require.NoError(t, err)
	}
	require.Equal(t, []int{1, 8, 64, 512, vec.MaxRows, vec.MaxRows, vec.MaxRows, 1}, sizes)
}

// What the tasks of a wider run owed is given out by those that have the chunks now, when their turn comes.
func TestUnnestLater(t *testing.T) {
	var old []*unnest
	none := exec.NewTap(func(int, exec.Item) {})
	for i := range 3 {
		u := newUnnest(t, 2)
		require.NoError(t, u.Process(0, listsOf(t, 10*i, 3, 2), none)) // two are given out
		old = append(old, u)
	}
	merge := func(from []*unnest, at []int64, width int) (all []*unnest) {
		for k := range width {
			u := newUnnest(t, 2)
			for i, f := range from {
				u.Later(reload(t, f), at[i], func(chunk int64) bool { return int(chunk)%width == k })
			}
			all = append(all, u)
		}
		return all
	}
	gives := func(u *unnest, reached int64) (got string) {
		out := exec.NewTap(func(_ int, it exec.Item) {
			for r := range it.Batch.Rows() {
				got += fmt.Sprint(" ", it.Batch.Cols[2].Ints[it.Batch.Row(r)])
			}
		})
		for {
			chunk, ok := u.Due(reached)
			if !ok {
				return got
			}
			got += fmt.Sprint(" chunk ", chunk, ":")
			for more := true; more && len(u.owed) > 0; {
				var err error
				more, err = u.Drain(out)
				require.NoError(t, err)
			}
		}
	}
	two := merge(old, []int64{6, 4, 5}, 2)
	require.Equal(t, "", gives(two[0], 3))
	require.False(t, two[0].Owes())
	require.Equal(t, " chunk 4: 1002 1100 1101", gives(two[0], 5))
	require.Equal(t, " chunk 6: 2 100 101", gives(two[0], 6))
	require.Equal(t, " chunk 5: 2002 2100 2101", gives(two[1], 5))

	one := merge(merge(old, []int64{6, 4, 5}, 2), []int64{0, 0}, 1)
	require.Equal(t, " chunk 4: 1002 1100 1101 chunk 5: 2002 2100 2101 chunk 6: 2 100 101", gives(reload(t, one[0]), 9))
}

func reload(t *testing.T, u *unnest) *unnest {
	w := checkpoint.NewWriter(1, 0)
	require.NoError(t, u.Save(w))
	data, _, _ := w.Output()
	to := newUnnest(t, 2)
	r := checkpoint.NewReader(1, data)
	require.NoError(t, to.Load(r))
	require.NoError(t, r.Done())
	return to
}

// A piece has so many rows as what follows takes in about a millisecond, one at first: each may become a million.
func TestUnnestKeepsPace(t *testing.T) {
	u := newUnnest(t, 0)
	now, cost := int64(0), int64(1000)
	u.env.StepRows, u.env.Now = nil, func() int64 { return now }
	var pieces []int
	out := exec.NewTap(func(_ int, it exec.Item) {
		pieces = append(pieces, it.Batch.Rows())
		now += int64(it.Batch.Rows()) * cost
	})
	require.NoError(t, u.Process(0, listsOf(t, 1, 6000), out))
	for more := true; more; {
		var err error
		more, err = u.Drain(out)
		require.NoError(t, err)
		if len(pieces) > 5 { // it gets slow
			cost = 10_000_000
		}
	}
	require.Equal(t, []int{1, 8, 64, 512, 1000, 1000, 1000}, pieces[:7])
	require.Equal(t, 1, pieces[7])
}
