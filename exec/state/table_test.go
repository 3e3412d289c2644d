package state

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var keyTypes = map[string][]types.Type{
	"int":       {types.T(types.Int)},
	"int?":      {types.T(types.Int).Null()},
	"string":    {types.T(types.String)},
	"string?":   {types.T(types.String).Null(), types.T(types.Time)},
	"float":     {types.T(types.Float), types.T(types.Bool).Null()},
	"list":      {types.ListOf(types.T(types.String).Null()).Null()},
	"record":    {types.RecordOf(types.Field{Name: "a", Type: types.T(types.Float)}, types.Field{Name: "b", Type: types.T(types.String)}), types.T(types.Duration)},
	"nothing":   {},
	"int?, int": {types.T(types.Int).Null(), types.T(types.Duration)},
	"int, int":  {types.T(types.Int), types.T(types.Int)},
}

// value draws a value of the type from a small set, so that keys meet again.
func value(t *rapid.T, ty types.Type) any {
	if ty.Nullable && rapid.IntRange(0, 4).Draw(t, "null") == 0 {
		return nil
	}
	switch ty.Kind {
	case types.Int, types.Time, types.Duration:
		return int64(rapid.IntRange(-3, 40).Draw(t, "int"))
	case types.Float:
		return rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1.5, math.NaN(), math.Inf(1), -2}).Draw(t, "float")
	case types.Bool:
		return rapid.Bool().Draw(t, "bool")
	case types.String:
		return rapid.SampledFrom([]string{"", "a", "abc", "abcd", "abcde", "abcdefgh", "abcdefghijkl", "abcdefghijklm", "abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxzz"}).Draw(t, "string")
	case types.List:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			list = append(list, value(t, *ty.Elem))
		}
		return list
	case types.Record:
		m := map[string]any{}
		for _, f := range ty.Fields {
			m[f.Name] = value(t, f.Type)
		}
		return m
	}
	panic(ty.String())
}

// text names a key as grouping sees it.
func text(v any) string {
	switch x := v.(type) {
	case float64:
		return fmt.Sprint(x + 0)
	case []any:
		s := "["
		for _, e := range x {
			s += text(e) + ","
		}
		return s + "]"
	case map[string]any:
		return "{" + text(x["a"]) + text(x["b"]) + "}"
	case string:
		return fmt.Sprintf("%q", x)
	}
	return fmt.Sprint(v)
}

func schemaOf(ts []types.Type) types.Schema {
	var s types.Schema
	for i, t := range ts {
		s.Fields = append(s.Fields, types.Field{Name: fmt.Sprint("k", i), Type: t})
	}
	return s
}

func identity(n int) []uint32 {
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = uint32(i)
	}
	return ids
}

func TestTableAgainstMap(t *testing.T) {
	for name, ts := range keyTypes {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				tab := NewTable(ts, 1)
				weak := tab.hashAt >= 0 && rapid.Bool().Draw(t, "weak") // different keys have equal hashes
				want := map[string]uint64{}
				for range rapid.IntRange(1, 6).Draw(t, "batches") {
					var rows [][]any
					for range rapid.IntRange(1, 30).Draw(t, "rows") {
						var row []any
						for _, ty := range ts {
							row = append(row, value(t, ty))
						}
						rows = append(rows, row)
					}
					b := vec.FromRows(schemaOf(ts), rows)
					hashes, ids := make([]uint64, b.N), make([]uint32, b.N)
					vec.Hash(b, b.Cols, hashes)
					for i := range hashes {
						if weak {
							hashes[i] &= 3 << 62
						}
					}
					tab.Lookup(b.Cols, identity(b.N), hashes, ids, true)
					for i, id := range ids {
						*tab.Rows().Word(id, tab.Off())++
						want[text(rows[i])]++
					}
					again := make([]uint32, b.N)
					tab.Lookup(b.Cols, identity(b.N), hashes, again, false)
					require.Equal(t, ids, again)
					for i, id := range ids { // delete some keys
						if k := text(rows[i]); want[k] > 0 && rapid.IntRange(0, 3).Draw(t, "delete") == 0 {
							require.Equal(t, want[k], *tab.Rows().Word(id, tab.Off()))
							tab.Delete(id)
							delete(want, k)
						}
					}
					if rapid.IntRange(0, 9).Draw(t, "reset") == 0 {
						tab.Reset()
						clear(want)
					}
					check(t, tab, ts, want)
				}
				other := NewTable(ts, 2)
				all, _ := tab.All(0, math.MaxInt, []uint32{})
				out := make([]uint32, len(all))
				other.Find(tab, all, out, true)
				for i, id := range out {
					*other.Rows().Word(id, other.Off()) = *tab.Rows().Word(all[i], tab.Off())
				}
				check(t, other, ts, want)
				back := make([]uint32, len(all))
				tab.Find(other, out, back, false)
				require.Equal(t, all, back)
			})
		})
	}
}

func check(t *rapid.T, tab *Table, ts []types.Type, want map[string]uint64) {
	require.Equal(t, len(want), tab.Len())
	ids, _ := tab.All(0, math.MaxInt, nil)
	cols := tab.Keys(ids)
	got := map[string]uint64{}
	for i, id := range ids {
		var row []any
		for k := range ts {
			row = append(row, cols[k].Value(i))
		}
		got[text(row)] = *tab.Rows().Word(id, tab.Off())
	}
	require.Equal(t, want, got)
}

func TestLargeTable(t *testing.T) {
	tab := NewTable([]types.Type{types.T(types.Int)}, 1)
	want := map[int64]uint64{}
	rng := rand.New(rand.NewPCG(1, 2))
	col := vec.New(types.T(types.Int), 4096)
	hashes, ids := make([]uint64, 4096), make([]uint32, 4096)
	for range 60 {
		for i := range col.Ints {
			col.Ints[i] = rng.Int64N(100_000)
		}
		b := &vec.Batch{N: 4096, Cols: []*vec.Column{col}}
		vec.Hash(b, b.Cols, hashes)
		tab.Lookup(b.Cols, identity(4096), hashes, ids, true)
		for i, id := range ids {
			*tab.Rows().Word(id, tab.Off())++
			want[col.Ints[i]]++
		}
		for i, id := range ids[:500] {
			if k := col.Ints[i]; want[k] > 0 {
				tab.Delete(id)
				delete(want, k)
			}
		}
	}
	require.Equal(t, len(want), tab.Len())
	all, _ := tab.All(0, math.MaxInt, nil)
	keys := tab.Keys(all)[0].Ints
	for i, id := range all {
		require.Equal(t, want[keys[i]], *tab.Rows().Word(id, tab.Off()))
	}
	require.Less(t, tab.Bytes()/tab.Len(), 100)
}

func benchmarkTable(b *testing.B, n int64, ts []types.Type, of ...func(k int64) any) {
	rng := rand.New(rand.NewPCG(1, 2))
	var batches []*vec.Batch
	for range 256 {
		bt := &vec.Batch{N: 4096}
		keys := make([]int64, bt.N)
		for i := range keys {
			keys[i] = rng.Int64N(n)
		}
		for c, t := range ts {
			bd := vec.NewBuilder(t)
			for _, k := range keys {
				bd.Append(of[c](k))
			}
			bt.Cols = append(bt.Cols, bd.Column())
		}
		batches = append(batches, bt)
	}
	tab := NewTable(ts, 1)
	hashes, ids, rows := make([]uint64, 4096), make([]uint32, 4096), identity(4096)
	run := func(i int) {
		bt := batches[i%len(batches)]
		vec.Hash(bt, bt.Cols, hashes)
		tab.Lookup(bt.Cols, rows, hashes, ids, true)
		r, off := tab.Rows(), tab.Off()
		for _, id := range ids {
			*r.Word(id, off)++
		}
	}
	for i := range batches {
		run(i)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		run(i)
		i++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/row")
	b.ReportMetric(float64(tab.Bytes())/float64(tab.Len()), "B/key")
}

func BenchmarkTable(b *testing.B) {
	for _, n := range []int64{1000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("int/%d", n), func(b *testing.B) {
			benchmarkTable(b, n, []types.Type{types.T(types.Int)}, func(k int64) any { return k })
		})
		b.Run(fmt.Sprintf("nullable/%d", n), func(b *testing.B) {
			benchmarkTable(b, n, []types.Type{types.T(types.Int).Null()}, func(k int64) any { return k })
		})
		b.Run(fmt.Sprintf("string/%d", n), func(b *testing.B) {
			benchmarkTable(b, n, []types.Type{types.T(types.String)}, func(k int64) any { return fmt.Sprintf("key %d", k) })
		})
		b.Run(fmt.Sprintf("ints/%d", n), func(b *testing.B) {
			benchmarkTable(b, n, []types.Type{types.T(types.Int), types.T(types.Int)}, func(k int64) any { return k }, func(k int64) any { return k % 7 })
		})
		b.Run(fmt.Sprintf("day/%d", n), func(b *testing.B) {
			benchmarkTable(b, n, []types.Type{types.T(types.Int), types.T(types.String)}, func(k int64) any { return k }, func(int64) any { return "2026-01-02" })
		})
	}
}

func BenchmarkGoMap(b *testing.B) {
	for _, n := range []int64{1000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := map[int64]*int64{}
			rng := rand.New(rand.NewPCG(1, 2))
			keys := make([]int64, 1<<20)
			for i := range keys {
				keys[i] = rng.Int64N(n)
			}
			at := 0
			for b.Loop() {
				for _, k := range keys[at : at+4096] {
					if p := m[k]; p != nil {
						*p++
					} else {
						v := int64(1)
						m[k] = &v
					}
				}
				at = (at + 4096) & (1<<20 - 1)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/row")
		})
	}
}
