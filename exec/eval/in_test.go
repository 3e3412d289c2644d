package eval_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/lang/types"
)

// TestInRange: no list is made of a range in which something is looked for, so it may be of any length.
func TestInRange(t *testing.T) {
	null := tInt.Null()
	b, cols := table([]types.Field{{Name: "x", Type: null}, {Name: "to", Type: null}},
		[]any{int64(5), int64(1 << 60)}, []any{nil, int64(9)}, []any{int64(3), nil}, []any{int64(3), int64(2)})
	got, fails := values(t, total("in", "", cols["x"], op(tInts.Null(), "..", "", lit(1), cols["to"])), b)
	require.Empty(t, fails)
	require.Equal(t, []any{true, false, false, false}, got)
	got, _ = values(t, total("in", "", cols["x"], op(tInts, "..", "", lit(4), lit(1<<60))), b)
	require.Equal(t, []any{true, false, false, false}, got)
}

// TestInLongList: a list of a hundred thousand takes no ten thousand million comparisons.
func TestInLongList(t *testing.T) {
	list := make([]any, 0, 200_000)
	for i := range cap(list) {
		list = append(list, int64(i%100_000*2))
	}
	b, cols := table([]types.Field{{Name: "x", Type: tInt}}, []any{int64(199_998)}, []any{int64(7)})
	p, err := eval.Compile(total("in", "", cols["x"], term{"", types.Const(tInts, list)}).Expr, lib{})
	require.NoError(t, err)
	require.Equal(t, []bool{true, false}, p.Eval(&eval.Ctx{}, b, nil).Bools)
}
