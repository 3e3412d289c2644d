package vec

import (
	"math"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ebb-lang/ebb/lang/types"
)

// anyType draws a type of at most the depth.
func anyType(t *rapid.T, depth int) types.Type {
	kinds := []types.Kind{types.Bool, types.Int, types.Float, types.String, types.Bytes, types.Time, types.Duration}
	if depth > 0 {
		kinds = append(kinds, types.List, types.Record)
	}
	ty := types.T(rapid.SampledFrom(kinds).Draw(t, "kind"))
	switch ty.Kind {
	case types.List:
		ty = types.ListOf(anyType(t, depth-1))
	case types.Record:
		ty = types.RecordOf(types.Field{Name: "a", Type: anyType(t, depth-1)}, types.Field{Name: "b", Type: anyType(t, depth-1)})
	}
	return ty.OrNull(rapid.Bool().Draw(t, "nullable"))
}

// anyValue draws a value of the type, as Column.Value gives it.
func anyValue(t *rapid.T, ty types.Type) any {
	if ty.Nullable && rapid.IntRange(0, 3).Draw(t, "null") == 0 {
		return nil
	}
	switch ty.Kind {
	case types.Bool:
		return rapid.Bool().Draw(t, "bool")
	case types.Int, types.Time, types.Duration:
		return rapid.Int64Range(-3, 3).Draw(t, "int")
	case types.Float:
		return rapid.SampledFrom([]float64{0, 1.5, -1, math.Inf(1)}).Draw(t, "float")
	case types.String, types.Bytes:
		return rapid.SampledFrom([]string{"", "a", "ab", "b", "a longer text than that"}).Draw(t, "string")
	case types.List:
		out := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			out = append(out, anyValue(t, *ty.Elem))
		}
		return out
	}
	out := map[string]any{}
	for _, f := range ty.Fields {
		out[f.Name] = anyValue(t, f.Type)
	}
	return out
}

func column(ty types.Type, vs []any) *Column {
	b := NewBuilder(ty)
	for _, v := range vs {
		b.Append(v)
	}
	return b.Column()
}

func values(c *Column) []any {
	out := []any{}
	for i := range c.Len() {
		out = append(out, c.Value(i))
	}
	return out
}

func drawn(t *rapid.T) (types.Type, []any) {
	ty := anyType(t, 2)
	vs := []any{}
	for range rapid.IntRange(1, 70).Draw(t, "rows") {
		vs = append(vs, anyValue(t, ty))
	}
	return ty, vs
}

func TestColumnHoldsWhatWasAppended(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ty, vs := drawn(t)
		require.Equal(t, vs, values(column(ty, vs)))
	})
}

func TestGatherTakesTheRowsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ty, vs := drawn(t)
		rows := rapid.SliceOf(rapid.Uint32Range(0, uint32(len(vs)-1))).Draw(t, "take")
		want := []any{}
		for _, r := range rows {
			want = append(want, vs[r])
		}
		require.Equal(t, want, values(column(ty, vs).Gather(rows)))
	})
}

func TestInterleaveEqualsAppending(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ty, vs := drawn(t)
		a, b := column(ty, vs), column(ty, vs)
		batches := []*Batch{{N: len(vs), Cols: []*Column{a}}, {N: len(vs), Cols: []*Column{b}, Time: make([]int64, len(vs))}}
		var refs []Ref
		want := []any{}
		for range rapid.IntRange(0, 20).Draw(t, "refs") {
			k := rapid.IntRange(0, 1).Draw(t, "batch")
			r := rapid.IntRange(0, len(vs)-1).Draw(t, "row")
			refs = append(refs, Ref{uint32(k), uint32(r)})
			want = append(want, vs[r])
		}
		out := Interleave(batches, refs)
		require.Equal(t, want, values(out.Cols[0]))
		require.Len(t, out.Time, len(refs))
	})
}

func TestEqualRowsHashAlikeAndCompareIsAnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ty, vs := drawn(t)
		c := column(ty, vs)
		i := rapid.IntRange(0, len(vs)-1).Draw(t, "i")
		j := rapid.IntRange(0, len(vs)-1).Draw(t, "j")
		k := rapid.IntRange(0, len(vs)-1).Draw(t, "k")
		require.Equal(t, reflect.DeepEqual(vs[i], vs[j]), Equal(c, i, c, j))
		if Equal(c, i, c, j) {
			require.Equal(t, c.HashRow(i), c.HashRow(j))
		}
		require.Equal(t, Compare(c, i, c, j), -Compare(c, j, c, i))
		if Compare(c, i, c, j) <= 0 && Compare(c, j, c, k) <= 0 {
			require.LessOrEqual(t, Compare(c, i, c, k), 0)
		}
		// A hash does not depend on the selection or on other rows.
		b := &Batch{N: len(vs), Cols: []*Column{c}, Sel: []uint32{uint32(i)}}
		one := make([]uint64, 1)
		Hash(b, b.Cols, one)
		all := make([]uint64, len(vs))
		Hash(&Batch{N: len(vs), Cols: []*Column{c}}, b.Cols, all)
		require.Equal(t, all[i], one[0])
		require.Equal(t, c.HashRow(i), one[0])
		// Nor on whether rows share their memory.
		same := c.Gather([]uint32{uint32(j), uint32(i), uint32(i), uint32(j)})
		two := make([]uint64, 4)
		Hash(&Batch{N: 4}, []*Column{same, same}, two)
		require.Equal(t, []uint64{two[3], two[2]}, two[:2])
		Hash(&Batch{N: 4}, []*Column{same}, two)
		require.Equal(t, []uint64{all[j], all[i], all[i], all[j]}, two)
	})
}

func TestGroupingSeesZerosAndNaNsAsOne(t *testing.T) {
	c := &Column{Type: types.T(types.Float), Floats: []float64{0, math.Copysign(0, -1), math.NaN(), math.Float64frombits(0x7ff8000000000123), 1}}
	require.True(t, Equal(c, 0, c, 1))
	require.Equal(t, c.HashRow(0), c.HashRow(1))
	require.True(t, Equal(c, 2, c, 3))
	require.Equal(t, c.HashRow(2), c.HashRow(3))
	require.Equal(t, 1, Compare(c, 2, c, 4), "NaN is above all numbers")
}

func TestSliceAndDense(t *testing.T) {
	b := &Batch{N: 5, Sel: []uint32{0, 2, 4}, Cols: []*Column{{Type: types.T(types.Int), Ints: []int64{10, 11, 12, 13, 14}}}, Time: []int64{0, 1, 2, 3, 4}}
	require.Equal(t, "12\n14\n", b.Slice(1, 3).String())
	d := b.Dense()
	require.Equal(t, []int64{10, 12, 14}, d.Cols[0].Ints)
	require.Equal(t, []int64{0, 2, 4}, d.Time)
	require.Same(t, d, d.Dense())
	require.Equal(t, "11\n12\n", (&Batch{N: 5, Cols: b.Cols}).Slice(1, 3).String())
}

func TestPositionsOrderBySourceFileAndRow(t *testing.T) {
	require.Less(t, Position(0, 1, 5), Position(0, 1, 6))
	require.Less(t, Position(0, 1, 1<<39), Position(0, 2, 0))
	require.Less(t, Position(1, 65535, 1<<39), Position(2, 0, 0))
}

func TestRowJSON(t *testing.T) {
	fields := []types.Field{{Name: "s", Type: types.T(types.String).Null()}, {Name: "at", Type: types.T(types.Time)}, {Name: "xs", Type: types.ListOf(types.T(types.Float))}}
	cols := []*Column{column(fields[0].Type, []any{"a\"b", nil}), column(fields[1].Type, []any{int64(1_500_000_000), int64(0)}),
		column(fields[2].Type, []any{[]any{1.5, math.NaN()}, []any{}})}
	require.Equal(t, `{"s":"a\"b","at":"1970-01-01T00:00:01.500Z","xs":[1.5,null]}`, string(AppendRowJSON(nil, fields, cols, 0)))
	require.Equal(t, `{"s":null,"at":"1970-01-01T00:00:00Z","xs":[]}`, string(AppendRowJSON(nil, fields, cols, 1)))
}
