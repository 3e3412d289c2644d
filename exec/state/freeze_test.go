package state

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// whole saves at once what is not tracked.
func whole(s interface{ Freeze(*checkpoint.Writer) }) []byte {
	w := checkpoint.NewWriter(1, 0)
	w.AtOnce = math.MaxInt
	s.Freeze(w)
	data, _, _ := w.Output()
	return data
}

type freezable interface {
	Freeze(*checkpoint.Writer)
	Load(*checkpoint.Reader) error
}

// TestFreeze changes two equal memories in the same way, and freezes one of them again and again.
func TestFreeze(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a, b freezable
		var change func()
		make := func() freezable { return NewRows(3) }
		switch rapid.IntRange(0, 3).Draw(t, "memory") {
		case 0:
			x, y := NewRows(3), NewRows(3)
			a, b = x, y
			change = func() {
				switch n := x.End(); {
				case n > 0 && rapid.IntRange(0, 3).Draw(t, "delete") == 0:
					if id := uint32(rapid.IntRange(0, int(n-1)).Draw(t, "row")); x.Live(id) {
						x.Delete(id)
						y.Delete(id)
					}
				case n > 0 && rapid.Bool().Draw(t, "change"):
					if id := uint32(rapid.IntRange(0, int(n-1)).Draw(t, "row")); x.Live(id) {
						v := rapid.Uint64().Draw(t, "value")
						x.Touch(id)
						x.At(id)[1] = v
						y.At(id)[1] = v
					}
				case rapid.IntRange(0, 100).Draw(t, "reset") == 0:
					x.Reset()
					y.Reset()
				default:
					for range rapid.SampledFrom([]int{1, 1, 9, 1500}).Draw(t, "many") {
						require.Equal(t, x.Add(), y.Add())
					}
				}
			}
		case 1:
			x, y := &Arena{}, &Arena{}
			a, b = x, y
			make = func() freezable { return &Arena{} }
			var live [][]byte
			var refs []uint64
			change = func() {
				if n := len(live); n > 0 && rapid.IntRange(0, 2).Draw(t, "free") == 0 {
					k := rapid.IntRange(0, n-1).Draw(t, "which")
					x.Free(refs[k], len(live[k]))
					y.Free(refs[k], len(live[k]))
					live[k], refs[k] = live[n-1], refs[n-1]
					live, refs = live[:n-1], refs[:n-1]
					return
				}
				p := bytes.Repeat([]byte{byte(len(live) + 1)}, rapid.SampledFrom([]int{1, 13, 100, 20_000, 100_000}).Draw(t, "size"))
				live, refs = append(live, p), append(refs, x.Put(p))
				y.Put(p)
			}
		case 2:
			x, y := NewLists(2), NewLists(2)
			a, b = x, y
			make = func() freezable { return NewLists(2) }
			var ox, oy [3 * ListWords]uint64
			change = func() {
				o := rapid.IntRange(0, 2).Draw(t, "owner") * ListWords
				if rapid.IntRange(0, 20).Draw(t, "free") == 0 {
					drop := func(e []uint64) { clear(e) }
					x.Free(ox[o:o+ListWords], drop)
					y.Free(oy[o:o+ListWords], drop)
					return
				}
				v := rapid.Uint64().Draw(t, "value")
				x.Append(ox[o : o+ListWords])[1] = v
				y.Append(oy[o : o+ListWords])[1] = v
			}
		case 3:
			counted := rapid.Bool().Draw(t, "counted")
			ts := []types.Type{types.T(rapid.SampledFrom([]types.Kind{types.Int, types.String}).Draw(t, "kind"))}
			x, y := NewSets(ts, counted), NewSets(ts, counted)
			a, b = x, y
			make = func() freezable { return NewSets(ts, counted) }
			var ox, oy Rows
			for _, o := range []*Rows{&ox, &oy} {
				o.width = SetWords
				o.Add()
				o.Add()
			}
			change = func() {
				o := uint32(rapid.IntRange(0, 1).Draw(t, "owner"))
				if rapid.IntRange(0, 20).Draw(t, "free") == 0 {
					x.Free(ox.At(o))
					y.Free(oy.At(o))
					return
				}
				n := rapid.SampledFrom([]int{1, 2, 10, 2000}).Draw(t, "values")
				from := rapid.IntRange(0, 20000).Draw(t, "from")
				col := vec.New(ts[0], n)
				owners := []uint32{}
				for i := range n {
					if owners = append(owners, o); col.Ints != nil {
						col.Ints[i] = int64(from + i)
					} else {
						col.Strs[i] = fmt.Sprint(from + i)
					}
				}
				delta := int64(1)
				if counted && rapid.IntRange(0, 2).Draw(t, "cut") == 0 {
					delta = -1
				}
				x.Add(&ox, 0, owners, n, identity(n), []*vec.Column{col}, delta)
				y.Add(&oy, 0, owners, n, identity(n), []*vec.Column{col}, delta)
			}
		}
		type taken struct {
			w    *checkpoint.Writer
			want []byte
		}
		var open []taken
		var chain [][]byte
		id, last := checkpoint.ID(0), checkpoint.ID(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				id++
				w := checkpoint.NewWriter(id, last)
				w.AtOnce, w.Piece = -1, rapid.SampledFrom([]int{20, 1000, 100_000}).Draw(t, "piece")
				a.Freeze(w)
				open = append(open, taken{w, whole(b)})
			case 1:
				if len(open) == 0 {
					break
				}
				x := open[0]
				if rapid.IntRange(0, 9).Draw(t, "abort") == 0 {
					x.w.Abort()
					open = open[1:]
					break
				}
				for range rapid.SampledFrom([]int{1, 3, 1000}).Draw(t, "pieces") {
					x.w.Continue()
				}
				if x.w.Pending() {
					break
				}
				open = open[1:]
				data, _, _ := x.w.Output()
				if !x.w.IsDelta() {
					chain = nil
				}
				chain, last = append(chain, data), x.w.ID
				got := make()
				for _, d := range chain {
					c := checkpoint.NewReader(1, d)
					require.NoError(t, got.Load(c))
					require.NoError(t, c.Done())
				}
				require.True(t, bytes.Equal(x.want, whole(got)), "loaded from %d parts", len(chain))
			default:
				for range rapid.IntRange(1, 20).Draw(t, "changes") {
					change()
				}
			}
		}
	})
}

// Rows that were touched by the batch come into the next delta, however many are only noted so far.
func TestNotedRows(t *testing.T) {
	for _, n := range []int{1, mostNoted - 1, mostNoted, mostNoted + 1000} {
		x := NewRows(2)
		for range 4 * mostNoted {
			x.Add()
		}
		write := func(id, parent checkpoint.ID) (int, bool) {
			w := checkpoint.NewWriter(id, parent)
			x.Freeze(w)
			for w.Continue() {
			}
			return w.Len(), w.IsDelta()
		}
		write(1, 0)
		for from := 0; from < n; from += 1000 {
			x.TouchAll(identity(n)[from:min(from+1000, n)])
		}
		size, delta := write(2, 1)
		require.True(t, delta)
		require.Greater(t, size, 16*n)
		require.Less(t, size, 17*n+100)
		size, delta = write(3, 2)
		require.True(t, delta)
		require.Less(t, size, 100, "each once")
	}
}

// frozenSets are sets of numbers that one owner has, and what is written of them in pieces.
type frozenSets struct {
	*Sets
	own *Rows
}

func newFrozenSets() frozenSets {
	s := frozenSets{NewSets([]types.Type{types.T(types.Int)}, true), NewRows(SetWords)}
	s.own.Add()
	return s
}

// count counts the numbers from from to to.
func (s frozenSets) count(from, to int, delta int64) {
	for ; from < to; from += vec.MaxRows {
		n := min(to-from, vec.MaxRows)
		c := vec.New(types.T(types.Int), n)
		for i := range n {
			c.Ints[i] = int64(from+i) << 20
		}
		s.Add(s.own, 0, make([]uint32, n), n, identity(n), []*vec.Column{c}, delta)
	}
}

// The slots of a large set are written in pieces, too, while values come and go: what closes a gap in them comes from
// far behind it, perhaps.
func TestFreezeOfALargeSet(t *testing.T) {
	x, y := newFrozenSets(), newFrozenSets()
	both := func(from, to int, delta int64) {
		x.count(from, to, delta)
		y.count(from, to, delta)
	}
	both(0, 60_000, 1)
	var chain [][]byte
	for id := checkpoint.ID(1); id < 8; id++ {
		w := checkpoint.NewWriter(id, id-1)
		w.AtOnce, w.Piece = -1, 50_000
		x.Freeze(w)
		want := whole(y)
		for n := int(id) * 1000; w.Continue(); n += 700 { // as many go as come, all over the slots
			both(n, n+50, -1)
			both(60_000+n, 60_050+n, 1)
		}
		require.Equal(t, id > 1, w.IsDelta())
		data, _, _ := w.Output()
		chain = append(chain, data)
		got := newFrozenSets()
		for _, d := range chain {
			c := checkpoint.NewReader(1, d)
			require.NoError(t, got.Load(c))
			require.NoError(t, c.Done())
		}
		require.True(t, bytes.Equal(want, whole(got)), "loaded from %d parts", len(chain))
		n := int(id) * 1000
		both(n, n+30, -1)
		both(90_000+n, 90_030+n, 1)
	}
}

// One of several freezes is given up: the others go on, and keep what is touched.
func TestFreezeThatIsGivenUp(t *testing.T) {
	for gone := range 3 {
		x := NewRows(1)
		for range 1000 {
			x.Add()
		}
		var ws []*checkpoint.Writer
		for id := range checkpoint.ID(3) {
			w := checkpoint.NewWriter(id+1, 0)
			w.AtOnce, w.Piece = -1, 100
			x.Freeze(w)
			ws = append(ws, w)
		}
		ws[gone].Abort()
		x.Touch(900)
		x.At(900)[0] = 7
		for i, w := range ws {
			if i == gone {
				continue
			}
			for w.Continue() {
			}
			data, _, _ := w.Output()
			got := NewRows(1)
			require.NoError(t, got.Load(checkpoint.NewReader(1, data)))
			require.Zero(t, got.At(900)[0], "freeze %d, %d given up", i, gone)
		}
	}
}

// An arena that is emptied while it is written is used again, and what is written stays as it was.
func TestFreezeOutlivesReset(t *testing.T) {
	var a Arena
	text := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 1000) }
	var refs []uint64
	for i := range 200 {
		refs = append(refs, a.Put(text(i)))
	}
	w := checkpoint.NewWriter(1, 0)
	w.AtOnce, w.Piece = -1, 50_000
	a.Freeze(w)
	require.True(t, w.Continue())
	a.Reset()
	for range 200 {
		a.Put(text(255))
	}
	for w.Continue() {
	}
	data, _, _ := w.Output()
	var got Arena
	require.NoError(t, got.Load(checkpoint.NewReader(1, data)))
	for i, ref := range refs {
		require.True(t, bytes.Equal(text(i), got.Get(ref, 1000)), "piece %d", i)
	}
}
