package state

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/ebb-lang/ebb/checkpoint"
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
			loaded := &Buffer{}
			u = *reload(t, &u, loaded, func(c *checkpoint.Reader) error { return loaded.Load(c, []types.Type{types.T(types.Int)}) })
			take(rapid.Int64Range(0, 20).Draw(t, "w"))
		}
		take(math.MaxInt64)
		require.Zero(t, u.Len())
	})
}

func TestSetsAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ts := []types.Type{rapid.SampledFrom([]types.Type{types.T(types.Int), types.T(types.Float), types.T(types.Bool), types.T(types.String).Null()}).Draw(t, "type")}
		counted := rapid.Bool().Draw(t, "counted")
		s := NewSets(ts, counted)
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
			deltas := make([]int64, len(rows))
			for i := range deltas {
				deltas[i] = 1
			}
			switch {
			case counted && rapid.Bool().Draw(t, "counts"):
				for i := range deltas {
					deltas[i] = rapid.Int64Range(-3, 3).Draw(t, "count")
				}
				for i, o := range owners {
					s.AddList(own.At(o)[1:], b.Cols[0], deltas, i, i+1)
				}
			case counted && rapid.Bool().Draw(t, "cut"):
				for i := range deltas {
					deltas[i] = -1
				}
				fallthrough
			default:
				s.Add(own, 1, owners, b.N, identity(b.N), b.Cols, deltas[0])
			}
			again := NewSets(ts, counted)
			s = reload(t, s, again, again.Load)
			add := func(o uint32, k string, n int64) {
				switch {
				case !counted:
					want[o][k] = 1
				case want[o][k]+n == 0:
					delete(want[o], k)
				default:
					want[o][k] += n
				}
			}
			for i, o := range owners {
				add(o, text(rows[i][0]), deltas[i])
			}
			switch rapid.IntRange(0, 5).Draw(t, "then") {
			case 0:
				s.Free(own.At(1)[1:])
				clear(want[1])
			case 1:
				s.Merge(own.At(2)[1:], own.At(3)[1:])
				for k, n := range want[3] {
					add(2, k, n)
				}
			}
			all := map[string]bool{}
			for o := range want {
				w := own.At(uint32(o))[1:]
				entries := s.Entries(w, nil)
				counts := make([]int64, len(entries))
				if counted {
					counts = s.Counts(w, nil)
				}
				got := map[string]int64{}
				positive := int64(0)
				values := s.Values(entries)[0]
				for i := range entries {
					if !counted {
						counts[i] = 1
					}
					k := text(values.Value(i))
					require.NotContains(t, got, k)
					got[k], all[k] = counts[i], true
					if counts[i] > 0 {
						positive++
					}
				}
				require.Equal(t, want[o], got)
				require.Equal(t, positive, s.Distinct(w))
				require.Equal(t, len(got), s.Len(w))
			}
			if s.dict != nil {
				require.Equal(t, len(all), s.dict.Len())
			}
		}
		// Lists take the sets elsewhere, to sets that have something already.
		values, offs := s.Lists(4, func(i int) []uint64 { return own.At(uint32(i))[1:] })
		there, rows := NewSets(ts, counted), NewRows(SetWords)
		union := map[string]int64{}
		o := rows.At(rows.Add())
		for i, w := range want {
			var counts []int64
			if counted {
				counts = make([]int64, offs[i], offs[4])
				counts = s.Counts(own.At(uint32(i))[1:], counts)
			}
			there.AddList(o, values, counts, int(offs[i]), int(offs[i+1]))
			for k, n := range w {
				switch {
				case !counted:
					union[k] = 1
				case union[k]+n == 0:
					delete(union, k)
				default:
					union[k] += n
				}
			}
		}
		got := map[string]int64{}
		entries := there.Entries(o, nil)
		for i, c := range append(there.Counts(o, nil), make([]int64, len(entries))...)[:len(entries)] {
			if !counted {
				c = 1
			}
			got[text(there.Values(entries)[0].Value(i))] = c
		}
		require.Equal(t, union, got)
	})
}

// TestLargeSets lets sets grow to slots of a chunk of their own and shrink again: their memory comes back.
func TestLargeSets(t *testing.T) {
	for _, counted := range []bool{false, true} {
		s := NewSets([]types.Type{types.T(types.Int)}, counted)
		own := NewRows(SetWords)
		a, b := own.Add(), own.Add()
		const n = 100_000
		add := func(delta int64) {
			for from := 0; from < n; from += 1000 {
				c := vec.New(types.T(types.Int), 1000)
				owners := make([]uint32, 1000)
				for i := range c.Ints {
					c.Ints[i], owners[i] = int64(from+i)<<20, a
					if i%3 == 0 {
						owners[i] = b
					}
				}
				s.Add(own, 0, owners, 1000, identity(1000), []*vec.Column{c}, delta)
			}
		}
		add(1)
		require.EqualValues(t, n, s.Distinct(own.At(a))+s.Distinct(own.At(b)))
		entries := append(s.Entries(own.At(a), nil), s.Entries(own.At(b), nil)...)
		seen := map[uint64]bool{}
		for _, e := range entries {
			seen[e] = true
		}
		require.Len(t, seen, n)
		if counted {
			add(-1)
			require.Zero(t, s.Len(own.At(a))+s.Len(own.At(b)))
		} else {
			s.Free(own.At(a))
			s.Free(own.At(b))
		}
		require.Less(t, s.Bytes(), 1<<20)
		add(1)
		require.EqualValues(t, n, s.Distinct(own.At(a))+s.Distinct(own.At(b)))
	}
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
				var dropped []uint64
				l.Free(w, func(e []uint64) { dropped = append(dropped, e...) })
				require.Equal(t, want[o], dropped)
				want[o] = nil
			}
			again := NewLists(2)
			l = reload(t, l, again, again.Load)
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
		want := []Timer{}
		for _, at := range rapid.SliceOf(rapid.Int64Range(-5, 50)).Draw(t, "times") {
			tm.Set(at, uint32(len(want)))
			want = append(want, Timer{at, uint32(len(want))})
			loaded := &Timers{}
			tm = *reload(t, &tm, loaded, func(c *checkpoint.Reader) error { return loaded.Load(c, uint32(len(want))) })
		}
		slices.SortStableFunc(want, func(a, b Timer) int { return cmp.Compare(a.At, b.At) }) // ties in the order of their numbers
		got := []Timer{}
		for tm.Len() > 0 {
			first := tm.First()
			require.Equal(t, first, tm.Pop())
			got = append(got, first)
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
			loaded := &Arena{}
			a = *reload(t, &a, loaded, loaded.Load)
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
