package exec

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

func writerOf(s Spread, n int, keep Hidden) (*writer, []*Channel) {
	w := &writer{spread: s, keys: []int{0}, keep: keep, chunk: new(int64)}
	for range n {
		w.chans = append(w.chans, NewChannel(Limits{Rows: 1 << 20, Bytes: 1 << 20}, func() {}, func() {}))
	}
	return w, w.chans
}

// drainRows takes all rows of a channel.
func drainRows(c *Channel) (vs []int64, batches int) {
	for {
		it, got := c.Next(1 << 20)
		if got != Taken {
			return vs, batches
		}
		if it.Kind == Rows {
			batches++
			for i := range it.Batch.Rows() {
				vs = append(vs, it.Batch.Cols[0].Ints[it.Batch.Row(i)])
			}
		}
	}
}

func TestHashSendsEqualKeysToOneTaskInOrder(t *testing.T) {
	w, cs := writerOf(Hash, 3, Hidden{})
	var all []int64
	for k := range 50 {
		vs := make([]int64, 20)
		for i := range vs {
			vs[i] = int64((k*7 + i) % 13)
		}
		all = append(all, vs...)
		w.rows(ints(vs...))
	}
	owner := map[int64]int{}
	var got []int64
	for i, c := range cs {
		vs, _ := drainRows(c)
		for _, v := range vs {
			if o, seen := owner[v]; seen {
				require.Equal(t, o, i)
			}
			owner[v] = i
			require.Equal(t, Owner(vec.HashInt(v), 3), i)
		}
		got = append(got, vs...)
	}
	slices.Sort(all)
	slices.Sort(got)
	require.Equal(t, all, got, "no row is lost or doubled")
}

func TestHashRespectsTheSelection(t *testing.T) {
	w, cs := writerOf(Hash, 2, Hidden{Time: true})
	b := ints(1, 2, 3, 4, 5, 6)
	b.Time = []int64{10, 20, 30, 40, 50, 60}
	w.rows(b.Select([]uint32{1, 3, 5}))
	var seen []int64
	for _, c := range cs {
		for {
			it, got := c.Next(1 << 20)
			if got != Taken {
				break
			}
			for i := range it.Batch.Rows() {
				r := it.Batch.Row(i)
				require.Equal(t, it.Batch.Cols[0].Ints[r]*10, it.Batch.Time[r])
				seen = append(seen, it.Batch.Cols[0].Ints[r])
			}
		}
	}
	slices.Sort(seen)
	require.Equal(t, []int64{2, 4, 6}, seen)
}

func TestRebalanceDealsBatchesInTurn(t *testing.T) {
	w, cs := writerOf(Rebalance, 3, Hidden{})
	for i := range int64(9) {
		w.rows(ints(i, i))
	}
	for i, c := range cs {
		vs, batches := drainRows(c)
		require.Equal(t, 3, batches)
		require.Equal(t, []int64{int64(i), int64(i), int64(i) + 3, int64(i) + 3, int64(i) + 6, int64(i) + 6}, vs)
	}
}

func TestBroadcastSendsEverythingEverywhere(t *testing.T) {
	w, cs := writerOf(Broadcast, 3, Hidden{})
	w.rows(ints(1, 2))
	w.rows(ints(3))
	for _, c := range cs {
		vs, _ := drainRows(c)
		require.Equal(t, []int64{1, 2, 3}, vs)
	}
}

func TestSignalsGoToAllConsumers(t *testing.T) {
	for _, s := range []Spread{Hash, Rebalance, Broadcast} {
		w, cs := writerOf(s, 2, Hidden{})
		w.signal(Item{Kind: Watermark, W: 7})
		w.signal(Item{Kind: End})
		for _, c := range cs {
			require.Equal(t, 2, c.Len())
		}
	}
}

func TestEdgeDropsHiddenColumnsThatNobodyNeeds(t *testing.T) {
	b := ints(1)
	b.Time, b.Mark, b.Pos, b.Change = []int64{1}, []int64{2}, []uint64{3}, []vec.Change{vec.Delete}
	got := Hidden{Time: true, Change: true}.strip(b)
	require.NotNil(t, got.Time)
	require.NotNil(t, got.Change)
	require.Nil(t, got.Mark)
	require.Nil(t, got.Pos)
	require.NotNil(t, b.Pos, "the batch itself is as it was")
	require.Same(t, b, Hidden{true, true, true, true}.strip(b))
}

// holder emits rows up to ten before the watermark.
type holder struct{ Stateless }

func (holder) Process(_ int, b *vec.Batch, out *Out) error { out.Emit(b); return nil }
func (holder) Hold(w types.Instant) types.Instant          { return w - 10 }

func TestNodeHoldsTheWatermarkBack(t *testing.T) {
	var fail error
	var seen []types.Instant
	n := &node{op: holder{}, out: NewTap(func(_ int, it Item) {
		if it.Kind == Watermark {
			seen = append(seen, it.W)
		}
	}), w: types.MinInstant}
	n.signal(Item{Kind: Watermark, W: 100}, &fail)
	n.signal(Item{Kind: Watermark, W: 90}, &fail) // never back
	n.signal(Item{Kind: Watermark, W: 120}, &fail)
	require.NoError(t, fail)
	require.Equal(t, []types.Instant{90, 110}, seen)
}

func TestNodeWaitsWithTheEndUntilNothingIsOwed(t *testing.T) {
	var fail error
	var order []string
	op := &perKey{n: map[int64]int64{0: 1, 1: 1, 2: 1}}
	n := &node{op: op, out: NewTap(func(_ int, it Item) {
		order = append(order, map[ItemKind]string{Rows: "rows", Watermark: "watermark", End: "end"}[it.Kind])
	}), w: types.MinInstant}
	n.signal(Item{Kind: End}, &fail)
	require.True(t, n.owes)
	for n.owes {
		n.drain(&fail)
	}
	require.NoError(t, fail)
	require.Equal(t, []string{"rows", "rows", "rows", "end"}, order)

	// What comes while something is owed waits for it.
	order, op.owed = nil, []int64{1, 2}
	n.done, n.w, n.owes = false, types.MinInstant, true
	n.signal(Item{Kind: Watermark, W: 5}, &fail)
	n.signal(Item{Kind: End}, &fail)
	require.Empty(t, order)
	for n.owes {
		n.drain(&fail)
	}
	require.NoError(t, fail)
	require.Equal(t, []string{"rows", "rows", "watermark", "rows", "rows", "rows", "end"}, order)
}
