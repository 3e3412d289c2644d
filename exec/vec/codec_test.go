package vec

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ebb-lang/ebb/lang/types"
)

// storedType draws a type of any kind.
func storedType(t *rapid.T, depth int) types.Type {
	k := types.Kind(rapid.IntRange(int(types.Null), int(types.Any)).Draw(t, "kind"))
	if depth == 0 && (k == types.List || k == types.Record) {
		k = types.String
	}
	ty := types.T(k)
	switch k {
	case types.List:
		ty = types.ListOf(storedType(t, depth-1))
	case types.Record:
		for i := range rapid.IntRange(0, 3).Draw(t, "fields") {
			ty.Fields = append(ty.Fields, types.Field{Name: fmt.Sprintf("f%d", i), Type: storedType(t, depth-1)})
		}
	case types.Time:
		ty.Format = rapid.SampledFrom([]string{"", "ms", "2006-01-02"}).Draw(t, "format")
	}
	return ty.OrNull(k == types.Null || rapid.Bool().Draw(t, "nullable"))
}

func storedValue(t *rapid.T, ty types.Type) any {
	switch ty.Kind {
	case types.Null:
		return nil
	case types.Any:
		ty.Kind = types.String
	case types.Record:
		if ty.Nullable && rapid.IntRange(0, 3).Draw(t, "null") == 0 {
			return nil
		}
		out := map[string]any{}
		for _, f := range ty.Fields {
			out[f.Name] = storedValue(t, f.Type)
		}
		return out
	case types.List:
		if ty.Nullable && rapid.IntRange(0, 3).Draw(t, "null") == 0 {
			return nil
		}
		out := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			out = append(out, storedValue(t, *ty.Elem))
		}
		return out
	}
	return anyValue(t, ty)
}

// storedBatch draws rows of a random schema, selected at random.
func storedBatch(t *rapid.T) *Batch {
	n := rapid.SampledFrom([]int{0, 1, 2, 3, 64, 70}).Draw(t, "rows")
	b := &Batch{N: n}
	for range rapid.IntRange(0, 4).Draw(t, "columns") {
		ty := storedType(t, 2)
		vs := make([]any, n)
		for i := range vs {
			vs[i] = storedValue(t, ty)
		}
		b.Cols = append(b.Cols, column(ty, vs))
	}
	hidden := func(name string) []int64 {
		if !rapid.Bool().Draw(t, name) {
			return nil
		}
		v := make([]int64, n)
		for i := range v {
			v[i] = rapid.Int64().Draw(t, name)
		}
		return v
	}
	b.Time, b.Mark = hidden("time"), hidden("mark")
	if p := hidden("pos"); p != nil {
		b.Pos, b.Change = make([]uint64, n), make([]Change, n)
		for i := range p {
			b.Pos[i], b.Change[i] = uint64(p[i]), Change(p[i]&3)
		}
	}
	if rapid.Bool().Draw(t, "selected") {
		b.Sel = []uint32{}
		for i := range n {
			if rapid.Bool().Draw(t, "row") {
				b.Sel = append(b.Sel, uint32(i))
			}
		}
	}
	return b
}

func requireSameRows(t require.TestingT, want, got *Batch) {
	require.Equal(t, want.Rows(), got.N)
	require.Nil(t, got.Sel)
	require.Equal(t, len(want.Cols), len(got.Cols))
	for k, c := range want.Cols {
		require.Equal(t, c.Type, got.Cols[k].Type)
		require.GreaterOrEqual(t, got.Cols[k].Len(), want.Rows())
	}
	want = want.Dense()
	for k, c := range want.Cols {
		for i := range want.N {
			require.Zero(t, Compare(c, i, got.Cols[k], i), "row %d of %s", i, c.Type)
		}
	}
	require.Equal(t, want.Time, got.Time)
	require.Equal(t, want.Mark, got.Mark)
	require.Equal(t, want.Pos, got.Pos)
	require.Equal(t, want.Change, got.Change)
}

func TestBlockRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := storedBatch(t)
		p := AppendBlock([]byte("before"), b)
		got, rest, err := DecodeBlock(append(p, "behind"...)[6:])
		require.NoError(t, err)
		require.Equal(t, "behind", string(rest))
		requireSameRows(t, b, got)
		require.Nil(t, got.Block)
		cut := rapid.IntRange(6, len(p)-1).Draw(t, "cut")
		_, _, err = DecodeBlock(p[6:cut])
		require.Error(t, err)
	})
}

func TestSlicedListsAreStored(t *testing.T) {
	kid := &Column{Type: types.T(types.Int), Ints: []int64{1, 2, 3, 4, 5}}
	b := &Batch{N: 2, Cols: []*Column{{Type: types.ListOf(kid.Type), Offs: []int32{1, 2, 4}, Kids: []*Column{kid}}}}
	got, _, err := DecodeBlock(AppendBlock(nil, b))
	require.NoError(t, err)
	requireSameRows(t, b, got)
}

func TestEncodedBlockRoundTrip(t *testing.T) {
	block := []byte("one\ntwo\nthree\n")
	s := unsafe.String(unsafe.SliceData(block), len(block))
	b := &Batch{N: 3, Block: block, Cols: []*Column{{Type: types.T(types.String), Strs: []string{s[:4], s[4:8], s[8:]}}}, Free: func(*Batch) {}}
	got, _, err := DecodeBlock(AppendBlock(nil, b))
	require.NoError(t, err)
	requireSameRows(t, b, got)
	require.Equal(t, string(block), string(got.Block))
	require.Nil(t, got.Free)
	require.Same(t, &got.Block[4], unsafe.StringData(got.Cols[0].Strs[1]), "lines are views into the block")

	got, _, err = DecodeBlock(AppendBlock(nil, b.Select([]uint32{0, 2})))
	require.NoError(t, err)
	require.Equal(t, "one\nthree\n", string(got.Block))
}

func TestSchemaRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s types.Schema
		for i := range rapid.IntRange(0, 4).Draw(t, "fields") {
			s.Fields = append(s.Fields, types.Field{Name: fmt.Sprint(i), Type: storedType(t, 3)})
		}
		got, rest, err := DecodeSchema(append(AppendSchema(nil, s), "behind"...))
		require.NoError(t, err)
		require.Equal(t, "behind", string(rest))
		require.Equal(t, s, got)
	})
}

func FuzzDecodeBlock(f *testing.F) {
	for _, b := range []*Batch{
		{},
		{N: 2, Cols: []*Column{{Type: types.T(types.String), Strs: []string{"ab", "c"}}}, Time: []int64{1, 2}, Block: []byte("abc")},
		FromRows(types.NewSchema(types.Field{Name: "a", Type: types.ListOf(types.RecordOf(types.Field{Name: "x", Type: types.T(types.Bool).Null()}))},
			types.Field{Name: "b", Type: types.T(types.Float)}), [][]any{{[]any{map[string]any{"x": nil}}, 1.5}, {[]any{}, math.NaN()}}),
		{N: 3, Cols: []*Column{NewNull(types.T(types.Null), 3)}, Change: []Change{Insert, Delete, UpdateAfter}},
	} {
		f.Add(AppendBlock(nil, b))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		b, rest, err := DecodeBlock(p)
		if err != nil {
			return
		}
		_ = b.String()
		again, _, err := DecodeBlock(AppendBlock(nil, b))
		require.NoError(t, err)
		requireSameRows(t, b, again)
		require.LessOrEqual(t, len(rest), len(p))
		require.LessOrEqual(t, b.Bytes(), 64*len(p), "memory is bounded by the bytes")
	})
}

func FuzzDecodeSchema(f *testing.F) {
	f.Add(AppendSchema(nil, types.NewSchema(types.Field{Name: "a", Type: types.ListOf(types.RecordOf(types.Field{Name: "x", Type: types.T(types.Time)}))})))
	f.Fuzz(func(t *testing.T, p []byte) {
		s, _, err := DecodeSchema(p)
		if err != nil {
			return
		}
		again, _, err := DecodeSchema(AppendSchema(nil, s))
		require.NoError(t, err)
		require.Equal(t, s, again)
	})
}

func BenchmarkBlock(b *testing.B) {
	ints, floats, texts := New(types.T(types.Int), MaxRows), New(types.T(types.Float), MaxRows), New(types.T(types.String), MaxRows)
	for i := range MaxRows {
		ints.Ints[i], floats.Floats[i], texts.Strs[i] = int64(i), float64(i), fmt.Sprintf("text number %d", i)
	}
	for name, in := range map[string]*Batch{"numbers": {N: MaxRows, Cols: []*Column{ints, floats, ints, floats}}, "texts": {N: MaxRows, Cols: []*Column{texts}}} {
		p := AppendBlock(nil, in)
		b.Run(name+"/append", func(b *testing.B) {
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				p = AppendBlock(p[:0], in)
			}
		})
		b.Run(name+"/decode", func(b *testing.B) {
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				if _, _, err := DecodeBlock(p); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/copy", func(b *testing.B) {
			b.SetBytes(int64(len(p)))
			q := make([]byte, len(p))
			for b.Loop() {
				copy(q, p)
			}
		})
	}
}
