package types

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTypeText(t *testing.T) {
	ty := RecordOf(Field{"a", T(Int)}, Field{"xs", ListOf(T(String).Null()).Null()})
	require.Equal(t, "{a: int, xs: [string?]?}", ty.String())
	require.Equal(t, "null", Type{Kind: Null, Nullable: true}.String())
}

func TestUnify(t *testing.T) {
	for _, c := range []struct {
		a, b Type
		want string
	}{
		{T(Int), T(Int), "int"},
		{T(Int), T(Float).Null(), "float?"},
		{Type{Kind: Null, Nullable: true}, T(String), "string?"},
		{ListOf(T(Int)), ListOf(T(Float)), "[float]"},
		{RecordOf(Field{"a", T(Int)}), RecordOf(Field{"a", T(Int).Null()}), "{a: int?}"},
		{T(Int), T(String), ""},
		{RecordOf(Field{"a", T(Int)}), RecordOf(Field{"b", T(Int)}), ""},
	} {
		got, err := Unify(c.a, c.b)
		if c.want == "" {
			require.Error(t, err, "%s %s", c.a, c.b)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, got.String())
		back, err := Unify(c.b, c.a)
		require.NoError(t, err)
		require.True(t, got.Equal(back))
	}
}

func TestAssignable(t *testing.T) {
	require.True(t, Assignable(T(Int), T(Float)))
	require.False(t, Assignable(T(Float), T(Int)))
	require.True(t, Assignable(T(Int), T(Int).Null()))
	require.False(t, Assignable(T(Int).Null(), T(Int)))
	require.True(t, Assignable(ListOf(T(Int)), ListOf(T(Float).Null())))
	require.False(t, Assignable(T(Time), T(Duration)))
}

func TestDurationText(t *testing.T) {
	for text, d := range map[string]time.Duration{
		"0s": 0, "1h30m": 90 * time.Minute, "250ms": 250 * time.Millisecond, "-5s": -5 * time.Second, "168h": 7 * 24 * time.Hour, "1us1ns": 1001,
	} {
		require.Equal(t, text, FormatDuration(int64(d)))
	}
	require.NotPanics(t, func() { FormatDuration(-1 << 63) })
}

func TestConstText(t *testing.T) {
	require.Equal(t, "1.0", FormatConst(T(Float), 1.0))
	require.Equal(t, "@1970-01-01T00:00:01.5Z", FormatConst(T(Time), int64(1_500_000_000)))
	require.Equal(t, `[{a: nil}]`, FormatConst(ListOf(RecordOf(Field{"a", T(Int).Null()})), []any{map[string]any{"a": nil}}))
	require.Equal(t, "@\"order id\"", QuoteName("order id"))
	require.Equal(t, "@\"in\"", QuoteName("in"))
	require.Equal(t, "window", QuoteName("window"))
}

func TestExprRewriteSharesWhatStays(t *testing.T) {
	s := NewSchema(Field{"a", T(Int)}, Field{"b", T(Int)})
	left, right := ColRef(s, 0), ColRef(s, 1)
	sum := &Expr{Op: OpCall, Name: "+", Type: T(Int), Args: []*Expr{left, right}}
	moved := sum.Shift(func(c int) int { return []int{0, 5}[c] })
	require.Equal(t, "(a + b)", moved.String())
	require.Equal(t, 5, moved.Args[1].Col)
	require.Same(t, left, moved.Args[0])
	require.Equal(t, 1, right.Col, "the old tree is as it was")
	require.Same(t, sum, sum.Shift(func(c int) int { return c }))
	cols := map[int]bool{}
	moved.Columns(cols)
	require.Equal(t, map[int]bool{0: true, 5: true}, cols)
}
