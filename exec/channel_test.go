package exec

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

func ints(vs ...int64) *vec.Batch {
	return &vec.Batch{N: len(vs), Cols: []*vec.Column{{Type: types.T(types.Int), Ints: vs}}}
}

func rowsItem(vs ...int64) Item { return Item{Kind: Rows, Batch: ints(vs...)} }

func TestChannelKeepsOrderAndGrows(t *testing.T) {
	woken := 0
	c := NewChannel(Limits{Rows: 1 << 20, Bytes: 1 << 20}, func() { woken++ }, func() {})
	for i := range int64(100) {
		c.Push(rowsItem(i))
	}
	require.Equal(t, 100, woken)
	for i := range int64(100) {
		it, got := c.Next(1 << 20)
		require.Equal(t, Taken, got)
		require.Equal(t, i, it.Batch.Cols[0].Ints[0])
	}
	_, got := c.Next(1 << 20)
	require.Equal(t, Nothing, got)
}

func TestChannelIsFullAtItsLimitAndWakesTheProducerWhenHalfEmpty(t *testing.T) {
	woken := 0
	c := NewChannel(Limits{Rows: 4, Bytes: 1 << 20}, func() {}, func() { woken++ })
	for i := range int64(4) {
		require.False(t, c.Full())
		c.Push(rowsItem(i))
	}
	require.True(t, c.Full())
	c.Next(1 << 20)
	require.True(t, c.Full(), "one below the limit is not yet room")
	require.Zero(t, woken)
	c.Next(1 << 20)
	require.False(t, c.Full())
	require.Equal(t, 1, woken)
}

func TestChannelReplacesAWatermarkThatNobodyTook(t *testing.T) {
	c := NewChannel(DefaultLimits, func() {}, func() {})
	c.Push(Item{Kind: Watermark, W: 1})
	c.Push(Item{Kind: Watermark, W: 2})
	require.Equal(t, 1, c.Len())
	c.Mark(1, false) // a mark stands behind the watermark: it must not change any more
	c.Push(Item{Kind: Watermark, W: 3})
	require.Equal(t, 2, c.Len())
	it, _ := c.Next(1 << 20)
	require.EqualValues(t, 2, it.W)
}

// numbers returns the rows of items.
func numbers(items []Item) (out []int64) {
	for _, it := range items {
		if it.Kind == Rows {
			b := it.Batch
			for i := range b.Rows() {
				out = append(out, b.Cols[0].Ints[b.Row(i)])
			}
		}
	}
	return out
}

// Whoever comes second, producer or consumer, closes the cut; in flight is what lies between their places.
func TestCut(t *testing.T) {
	for _, producerFirst := range []bool{true, false} {
		c := NewChannel(DefaultLimits, func() {}, func() {})
		for i := range int64(5) {
			c.Push(rowsItem(i))
		}
		c.Next(1 << 20)
		var flight *Flight
		done := func(f Flight) { flight = &f }
		if producerFirst {
			c.Mark(7, false)
			c.Push(rowsItem(5)) // behind the mark: not of snapshot 7
			c.Next(1 << 20)     // before its own snapshot
			c.Step(7, done)
			require.Equal(t, []int64{2, 3, 4}, numbers(flight.Items))
			require.EqualValues(t, 3, flight.First)
			continue
		}
		c.Step(7, done)
		c.Next(1 << 20) // taken, but pushed before the producer's snapshot
		c.Push(rowsItem(5))
		require.Nil(t, flight)
		c.Mark(7, false)
		require.Equal(t, []int64{1, 2, 3, 4, 5}, numbers(flight.Items))
		require.EqualValues(t, 2, flight.First)
		c.Push(rowsItem(6))
		require.Len(t, flight.Items, 5)
	}
}

func TestCutWithinABatch(t *testing.T) {
	c := NewChannel(DefaultLimits, func() {}, func() {})
	c.Push(rowsItem(1, 2, 3, 4, 5))
	it, _ := c.Next(2)
	require.Equal(t, []int64{1, 2}, numbers([]Item{it}))
	var flight Flight
	c.Step(1, func(f Flight) { flight = f })
	it, _ = c.Next(1)
	require.Equal(t, []int64{3}, numbers([]Item{it}))
	c.Mark(1, false)
	require.Equal(t, []int64{3, 4, 5}, numbers(flight.Items))
}

// A consumer takes nothing beyond a mark before its own snapshot: a row would be in its state and not in the channel.
func TestNextStopsAtAMark(t *testing.T) {
	c := NewChannel(DefaultLimits, func() {}, func() {})
	c.Push(rowsItem(1))
	c.Mark(3, true)
	c.Mark(4, false)
	c.Push(rowsItem(2))
	require.False(t, c.Reached(3))
	c.Next(1 << 20)
	require.True(t, c.Reached(3))
	it, got := c.Next(1 << 20)
	require.Equal(t, AtMark, got)
	require.Equal(t, Item{Kind: markItem, N: 3, Aligned: true}, it)
	c.Step(3, func(f Flight) { require.Empty(t, f.Items) })
	it, got = c.Next(1 << 20)
	require.Equal(t, AtMark, got)
	require.EqualValues(t, 4, it.N)
	c.Abort(4)
	it, got = c.Next(1 << 20)
	require.Equal(t, Taken, got)
	require.Equal(t, []int64{2}, numbers([]Item{it}))
}

// A consumer that wants no more rows after its snapshot still leaves that the rows that were in flight.
func TestCutOfAChannelThatIsClosed(t *testing.T) {
	c := NewChannel(DefaultLimits, func() {}, func() {})
	c.Push(rowsItem(1))
	c.Push(rowsItem(2))
	var flight Flight
	c.Step(1, func(f Flight) { flight = f })
	c.Next(1 << 20)
	c.Close()
	c.Push(rowsItem(3))
	c.Mark(1, false)
	c.Push(rowsItem(4))
	require.Equal(t, []int64{1, 2, 3}, numbers(flight.Items))

	c.Mark(2, false)
	calls := 0
	c.Step(2, func(f Flight) { calls++; require.Empty(t, f.Items) })
	c.Step(3, func(f Flight) { calls++; require.Empty(t, f.Items) })
	c.Mark(3, false)
	require.Equal(t, 2, calls)
	require.Empty(t, c.cuts)
}

func TestClosedChannelSwallows(t *testing.T) {
	woken := 0
	c := NewChannel(Limits{Rows: 1, Bytes: 1}, func() {}, func() { woken++ })
	c.Push(rowsItem(1))
	require.True(t, c.Full())
	c.Close()
	require.False(t, c.Full(), "a producer must not wait for a consumer that has gone")
	require.Equal(t, 1, woken)
	c.Push(rowsItem(2))
	require.Zero(t, c.Len())
}
