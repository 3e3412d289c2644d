package state

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// reload saves what there is, now and then, and loads it into into, which is returned; else it returns from.
func reload[T any](t *rapid.T, from, into T, load func(c *checkpoint.Reader) error) T {
	if rapid.IntRange(0, 2).Draw(t, "reload") > 0 {
		return from
	}
	c := checkpoint.NewReader(1, saved(from))
	require.NoError(t, load(c))
	require.NoError(t, c.Done())
	return into
}

func saved(s any) []byte {
	w := checkpoint.NewWriter(1, 0)
	switch s := s.(type) {
	case interface{ Save(*checkpoint.Writer) }:
		s.Save(w)
	case freezable:
		w.AtOnce = math.MaxInt
		s.Freeze(w)
	}
	data, _, _ := w.Output()
	return data
}

// pieces freezes a table and returns what is written.
func pieces(t *Table, id, parent checkpoint.ID) []byte {
	w := checkpoint.NewWriter(id, parent)
	w.AtOnce = -1
	t.Freeze(w)
	for w.Continue() {
	}
	data, _, _ := w.Output()
	return data
}

// manyRows returns a table of n keys, every third of which was deleted again.
func manyRows(n int, key types.Kind) *Table {
	tab := NewTable([]types.Type{types.T(key)}, 1)
	col := vec.New(types.T(key), n)
	for i := range n {
		if key == types.Int {
			col.Ints[i] = int64(i)
		} else {
			col.Strs[i] = fmt.Sprintf("a key of some length, number %d", i)
		}
	}
	hashes, ids := make([]uint64, n), make([]uint32, n)
	vec.Hash(&vec.Batch{N: n}, []*vec.Column{col}, hashes)
	tab.Lookup([]*vec.Column{col}, identity(n), hashes, ids, true)
	for i, id := range ids {
		*tab.Rows().Word(id, tab.Off()) = uint64(i)
		if i%3 == 0 {
			tab.Delete(id)
		}
	}
	return tab
}

func TestLargeTablesAreLoaded(t *testing.T) {
	for _, key := range []types.Kind{types.Int, types.String} {
		for _, n := range []int{0, 1, 9, 1000, 1024, 1025, 20_000} {
			tab := manyRows(n, key)
			c := checkpoint.NewReader(1, saved(tab))
			got := NewTable([]types.Type{types.T(key)}, 1)
			require.NoError(t, got.Load(c))
			require.NoError(t, c.Done())
			require.Equal(t, tab.Len(), got.Len())
			ids, _ := tab.All(0, n, []uint32{})
			found := make([]uint32, len(ids))
			got.Find(tab, ids, found, false)
			require.Equal(t, ids, found)
			for range 2 * n { // dead rows come back, then new ones
				require.Equal(t, tab.rows.Add(), got.rows.Add())
			}
		}
	}
}

func TestLoadRefusesAnotherShape(t *testing.T) {
	tab := manyRows(10, types.Int)
	other := NewTable([]types.Type{types.T(types.String)}, 1)
	require.Error(t, other.Load(checkpoint.NewReader(1, saved(tab))))
	require.Zero(t, other.Len())
}

// FuzzLoad loads damaged bytes: no panic, no endless loop, no more memory than the bytes are worth.
func FuzzLoad(f *testing.F) {
	f.Add(byte(0), saved(manyRows(20, types.Int)))
	f.Add(byte(1), saved(manyRows(20, types.String)))
	var a Arena
	large := a.Put(make([]byte, 70_000))
	for i := range 20 {
		a.Free(a.Put(make([]byte, 10*i)), 10*i)
	}
	a.Free(large, 70_000)
	f.Add(byte(2), saved(&a))
	var tm Timers
	tm.Set(3, 4)
	f.Add(byte(3), saved(&tm))
	var u Buffer
	u.Add(&vec.Batch{N: 2, Cols: []*vec.Column{{Type: types.T(types.Int), Ints: []int64{1, 2}}}, Time: []int64{5, 3}})
	f.Add(byte(4), saved(&u))
	tab := manyRows(100, types.String)
	base := pieces(tab, 1, 0)
	f.Add(byte(1), base)
	tab.Delete(1)
	f.Add(byte(5), pieces(tab, 2, 1))
	f.Fuzz(func(t *testing.T, which byte, p []byte) {
		c := checkpoint.NewReader(1, p)
		size := 0
		switch which % 6 {
		case 5: // a delta
			tab := NewTable([]types.Type{types.T(types.String)}, 1)
			require.NoError(t, tab.Load(checkpoint.NewReader(1, base)))
			if tab.Load(c) == nil {
				ids, _ := tab.All(0, tab.Len(), nil)
				for _, id := range ids {
					tab.Delete(id)
				}
			}
			return
		case 0, 1:
			tab := NewTable([]types.Type{types.T([]types.Kind{types.Int, types.String}[which%6])}, 1)
			if tab.Load(c) == nil {
				ids, _ := tab.All(0, tab.Len(), nil)
				tab.Keys(ids)
				for _, id := range ids {
					tab.Delete(id)
				}
			}
			size = tab.rows.Bytes() + tab.arena.Bytes()
		case 2:
			var a Arena
			if a.Load(c) == nil {
				for n := range 3000 {
					a.Put(make([]byte, n))
				}
				return
			}
			size = a.Bytes()
		case 3:
			var tm Timers
			tm.Load(c, 10)
			size = tm.Bytes()
		case 4:
			var u Buffer
			if u.Load(c, []types.Type{types.T(types.Int)}) == nil {
				for u.Take(types.MaxInstant) != nil {
				}
			}
		}
		require.LessOrEqual(t, size, 200*len(p)+2*chunkBytes)
	})
}

func TestSetsAreTakenOver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ts := []types.Type{rapid.SampledFrom([]types.Type{types.T(types.Int), types.T(types.String).Null()}).Draw(t, "type")}
		counted := rapid.Bool().Draw(t, "counted")
		a, b := NewSets(ts, counted), NewSets(ts, counted)
		from, to := NewRows(1+SetWords), NewRows(SetWords)
		want := map[string]int64{}
		for i := range 3 {
			from.Add()
			to.Add()
			var rows [][]any
			for range rapid.IntRange(0, 20).Draw(t, "rows") {
				v := value(t, ts[0])
				rows = append(rows, []any{v})
				if want[fmt.Sprint(i, text(v))]++; !counted {
					want[fmt.Sprint(i, text(v))] = 1
				}
			}
			cols := vec.FromRows(schemaOf(ts), rows).Cols
			owners := make([]uint32, len(rows))
			for k := range owners {
				owners[k] = uint32(i)
			}
			a.Add(from, 1, owners, len(rows), identity(len(rows)), cols, 1)
		}
		got := map[string]int64{}
		for _, i := range []uint32{2, 0, 1} {
			copy(to.At(i), from.At(i)[1:])
			b.Adopt(to.At(i), a)
			require.Equal(t, a.Distinct(from.At(i)[1:]), b.Distinct(to.At(i)))
		}
		for i := range uint32(3) {
			words := b.Entries(to.At(i), nil)
			values := b.Values(words)[0]
			for k := range words {
				n := int64(1)
				if counted {
					n = b.Counts(to.At(i), nil)[k]
				}
				got[fmt.Sprint(i, text(values.Value(k)))] = n
			}
		}
		require.Equal(t, want, got)
	})
}

// A set of more values than a batch has is taken over in several.
func TestLargeSetsAreTakenOver(t *testing.T) {
	for _, counted := range []bool{true, false} {
		a, b := NewSets([]types.Type{types.T(types.String)}, counted), NewSets([]types.Type{types.T(types.String)}, counted)
		own := NewRows(SetWords)
		own.Add()
		n := 2*vec.MaxRows + 5
		col := vec.New(types.T(types.String), n)
		for i := range n {
			col.Strs[i] = fmt.Sprint(i)
		}
		a.AddList(own.At(0), col, nil, 0, n)
		if counted {
			a.AddList(own.At(0), col, nil, 0, n/2)
		}
		b.Adopt(own.At(0), a)
		want, got := map[string]int64{}, map[string]int64{}
		for i := range n {
			if want[fmt.Sprint(i)] = 1; counted && i < n/2 {
				want[fmt.Sprint(i)] = 2
			}
		}
		words := b.Entries(own.At(0), nil)
		var counts []int64
		if counted {
			counts = b.Counts(own.At(0), nil)
		}
		for i, s := range b.Values(words)[0].Strs {
			if got[s] = 1; counted {
				got[s] = counts[i]
			}
		}
		require.Equal(t, want, got)
	}
}

func TestTablesGoOnAfterLoad(t *testing.T) {
	for name, ts := range keyTypes {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				a := NewTable(ts, 1)
				b := a
				for range rapid.IntRange(1, 6).Draw(t, "batches") {
					var rows [][]any
					for range rapid.IntRange(1, 30).Draw(t, "rows") {
						var row []any
						for _, ty := range ts {
							row = append(row, value(t, ty))
						}
						rows = append(rows, row)
					}
					in := vec.FromRows(schemaOf(ts), rows)
					hashes := make([]uint64, in.N)
					vec.Hash(in, in.Cols, hashes)
					for i, tab := range []*Table{a, b} {
						if i == 1 && a == b {
							break
						}
						ids := make([]uint32, in.N)
						tab.Lookup(in.Cols, identity(in.N), hashes, ids, true)
						for k, id := range ids {
							*tab.Rows().Word(id, tab.Off())++
							if k%5 == 4 && tab.Rows().Live(id) {
								tab.Delete(id)
							}
						}
					}
					ids, _ := a.All(0, a.Len(), nil)
					same, _ := b.All(0, b.Len(), nil)
					require.Equal(t, ids, same)
					ka, kb := a.Keys(ids), b.Keys(ids)
					for i, id := range ids {
						require.Equal(t, *a.Rows().Word(id, a.Off()), *b.Rows().Word(id, b.Off()))
						for k := range ka {
							require.Zero(t, vec.Compare(ka[k], i, kb[k], i))
						}
					}
					again := NewTable(ts, 1)
					b = reload(t, a, again, again.Load)
				}
			})
		})
	}
}

// TestDamagedTablesAreRefused turns bits round: what is loaded all the same can be gone through and deleted.
func TestDamagedTablesAreRefused(t *testing.T) {
	tab := manyRows(60, types.String)
	base := pieces(tab, 1, 0)
	tab.Delete(1)
	delta := pieces(tab, 2, 1)
	try := func(chain ...[]byte) {
		tab := NewTable([]types.Type{types.T(types.String)}, 1)
		for _, p := range chain {
			if tab.Load(checkpoint.NewReader(1, p)) != nil {
				return
			}
		}
		ids, _ := tab.All(0, tab.Len(), nil)
		tab.Keys(ids)
		for _, id := range ids {
			tab.Delete(id)
		}
	}
	for i := range base {
		bad := slices.Clone(base)
		bad[i] ^= 1 << (i % 8)
		require.NotPanics(t, func() { try(bad) }, "byte %d", i)
		require.NotPanics(t, func() { try(bad, delta) }, "byte %d", i)
	}
	for i := range delta {
		bad := slices.Clone(delta)
		bad[i] ^= 1 << (i % 8)
		require.NotPanics(t, func() { try(base, bad) }, "byte %d of the delta", i)
	}
}

// What is in order by itself but does not go together is refused.
func TestMisfitsAreRefused(t *testing.T) {
	refused := func(write func(w *checkpoint.Writer), load func(c *checkpoint.Reader) error) {
		t.Helper()
		w := checkpoint.NewWriter(1, 0)
		write(w)
		data, _, _ := w.Output()
		require.Error(t, load(checkpoint.NewReader(1, data)))
	}
	refused(func(w *checkpoint.Writer) {
		var tm Timers
		tm.Set(5, 3)
		tm.Save(w)
	}, func(c *checkpoint.Reader) error { return new(Timers).Load(c, 3) })
	ints := func(n int) *vec.Batch {
		b := &vec.Batch{N: 1, Time: []int64{1}}
		for range n {
			b.Cols = append(b.Cols, &vec.Column{Type: types.T(types.Int), Ints: []int64{1}})
		}
		return b
	}
	one := []types.Type{types.T(types.Int)}
	for _, b := range []*vec.Batch{ints(0), ints(2), {N: 1, Cols: ints(1).Cols}} {
		refused(func(w *checkpoint.Writer) { SaveBatches(w, []*vec.Batch{b}) }, func(c *checkpoint.Reader) error { return new(Buffer).Load(c, one) })
	}
	for _, dead := range []int{1, 3} { // two are
		refused(func(w *checkpoint.Writer) {
			r := NewRows(1)
			for range 5 {
				r.Add()
			}
			r.Delete(1)
			r.Delete(3)
			r.nDead = dead
			r.Save(w)
		}, NewRows(1).Load)
	}
}
