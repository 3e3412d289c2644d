package state

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestBufferGivesRowsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type row struct{ time, pos, arrival int64 }
		var u Buffer
		var kept, got, want []row
		n := int64(0)
		take := func(w int64) {
			for {
				b := u.Take(w)
				if b == nil {
					break
				}
				for i := range b.N {
					got = append(got, row{b.Time[i], int64(b.Pos[i]), b.Cols[0].Ints[i]})
				}
			}
			slices.SortStableFunc(kept, func(x, y row) int {
				return cmp.Or(cmp.Compare(x.time, y.time), cmp.Compare(x.pos, y.pos), cmp.Compare(x.arrival, y.arrival))
			})
			for len(kept) > 0 && kept[0].time < w {
				want = append(want, kept[0])
				kept = kept[1:]
			}
			require.Equal(t, want, got)
			require.Equal(t, len(kept), u.Len())
			if len(kept) > 0 {
				require.Equal(t, kept[0].time, u.First())
			}
		}
		for range rapid.IntRange(1, 8).Draw(t, "batches") {
			b := &vec.Batch{Cols: []*vec.Column{{Type: types.T(types.Int)}}}
			for range rapid.IntRange(1, 20).Draw(t, "rows") {
				r := row{rapid.Int64Range(0, 20).Draw(t, "time"), rapid.Int64Range(0, 2).Draw(t, "pos"), n}
				n++
				b.Time = append(b.Time, r.time)
				b.Pos = append(b.Pos, uint64(r.pos))
				b.Cols[0].Ints = append(b.Cols[0].Ints, r.arrival)
				if rapid.IntRange(0, 2).Draw(t, "selected") > 0 {
					b.Sel = append(b.Sel, uint32(b.N))
					kept = append(kept, r)
				}
				b.N++
			}
			if b.Sel == nil {
				b.Sel = []uint32{}
			}
			u.Add(b)
			take(rapid.Int64Range(0, 20).Draw(t, "w"))
		}
		take(math.MaxInt64)
		require.Zero(t, u.Len())
	})
}

func TestSetsAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ts := []types.Type{rapid.SampledFrom([]types.Type{types.T(types.Int), types.T(types.String).Null()}).Draw(t, "type")}
		s := NewSets(ts)
		own := NewRows(1 + SetWords)
		want := []map[string]int64{}
		for range 4 {
			own.Add()
			want = append(want, map[string]int64{})
		}
		for range rapid.IntRange(1, 8).Draw(t, "batches") {
			var rows [][]any
			var owners []uint32
			for range rapid.IntRange(1, 20).Draw(t, "rows") {
				rows = append(rows, []any{value(t, ts[0])})
				owners = append(owners, uint32(rapid.IntRange(0, 3).Draw(t, "owner")))
			}
			b := vec.FromRows(schemaOf(ts), rows)
			delta := rapid.SampledFrom([]int64{1, 1, -1}).Draw(t, "delta")
			s.Add(own, 1, owners, b.N, identity(b.N), b.Cols, delta)
			for i, o := range owners {
				k := text(rows[i][0])
				if want[o][k] += delta; want[o][k] == 0 {
					delete(want[o], k)
				}
			}
			switch rapid.IntRange(0, 5).Draw(t, "then") {
			case 0:
				s.Free(own.At(1)[1:])
				clear(want[1])
			case 1:
				s.Merge(own, 1, 2, own, 3)
				for k, n := range want[3] {
					if want[2][k] += n; want[2][k] == 0 {
						delete(want[2], k)
					}
				}
			}
			total := 0
			for o := range want {
				w := own.At(uint32(o))[1:]
				entries := s.Entries(w, nil)
				got := map[string]int64{}
				positive := int64(0)
				values := s.Values(entries)[0]
				for i, e := range entries {
					got[text(values.Value(i))] = s.Count(e)
					if s.Count(e) > 0 {
						positive++
					}
				}
				require.Equal(t, want[o], got)
				require.Equal(t, positive, s.Distinct(w))
				require.Equal(t, len(got) == 0, s.Empty(w))
				total += len(got)
			}
			require.Equal(t, total, s.table.Len())
		}
	})
}

func TestLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := NewLists(2)
		own := make([]uint64, 3*ListWords)
		want := make([][]uint64, 3)
		for i := range rapid.IntRange(1, 100).Draw(t, "steps") {
			o := rapid.IntRange(0, 2).Draw(t, "owner")
			w := own[o*ListWords : (o+1)*ListWords]
			if rapid.IntRange(0, 30).Draw(t, "free") == 0 {
				l.Free(w)
				want[o] = nil
			}
			e := l.Append(w)
			require.Equal(t, []uint64{0, 0}, e)
			e[0], e[1] = uint64(i), uint64(o)
			want[o] = append(want[o], uint64(i), uint64(o))
		}
		for o := range want {
			var got []uint64
			w := own[o*ListWords : (o+1)*ListWords]
			l.Each(w, func(e []uint64) { got = append(got, e...) })
			require.Equal(t, want[o], got)
			require.Equal(t, len(want[o])/2, l.Len(w))
		}
	})
}

func TestTimers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tm Timers
		want := []int64{}
		for _, at := range rapid.SliceOf(rapid.Int64Range(-5, 50)).Draw(t, "times") {
			tm.Set(at, uint32(len(want)))
			want = append(want, at)
		}
		slices.Sort(want)
		got := []int64{}
		for tm.Len() > 0 {
			first := tm.First()
			require.Equal(t, first, tm.Pop())
			got = append(got, first.At)
		}
		require.Equal(t, want, got)
	})
}

func TestArenaReusesMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a Arena
		type piece struct {
			ref  uint64
			text string
		}
		var live []piece
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(live) > 0 && rapid.IntRange(0, 2).Draw(t, "free") == 0 {
				k := rapid.IntRange(0, len(live)-1).Draw(t, "which")
				a.Free(live[k].ref, len(live[k].text))
				live = slices.Delete(live, k, k+1)
			}
			n := rapid.SampledFrom([]int{0, 1, 13, 16, 17, 24, 25, 100, 40_000, 50_000, 65_536, 65_537, 200_000}).Draw(t, "size")
			p := make([]byte, n)
			for k := range p {
				p[k] = byte(i + k)
			}
			live = append(live, piece{a.Put(p), string(p)})
			for _, l := range live {
				if string(a.Get(l.ref, len(l.text))) != l.text {
					t.Fatalf("piece of %d bytes has changed", len(l.text))
				}
			}
			if rapid.IntRange(0, 30).Draw(t, "reset") == 0 {
				a.Reset()
				live = nil
			}
		}
	})
	var a Arena
	for range 100_000 {
		a.Free(a.Put(make([]byte, 300)), 300)
	}
	require.Less(t, a.Bytes(), 100_000)
}
