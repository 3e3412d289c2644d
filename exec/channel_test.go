package exec

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

func ints(vs ...int64) *vec.Batch {
	return &vec.Batch{N: len(vs), Cols: []*vec.Column{{Type: types.T(types.Int), Ints: vs}}}
}

func rowsItem(vs ...int64) Item { return Item{Kind: Rows, Batch: ints(vs...)} }

func TestChannelKeepsOrderAndGrows(t *testing.T) {
	woken := 0
	c := NewChannel(Limits{Rows: 1 << 20, Bytes: 1 << 30}, func() { woken++ }, func() {})
	for i := range int64(100) {
		c.Push(rowsItem(i))
	}
	require.Equal(t, 100, woken)
	for i := range int64(100) {
		it, ok := c.Next()
		require.True(t, ok)
		require.Equal(t, i, it.Batch.Cols[0].Ints[0])
	}
	_, ok := c.Next()
	require.False(t, ok)
}

func TestChannelIsFullAtItsLimitAndWakesTheProducerWhenHalfEmpty(t *testing.T) {
	woken := 0
	c := NewChannel(Limits{Rows: 4, Bytes: 1 << 20}, func() {}, func() { woken++ })
	for i := range int64(4) {
		require.False(t, c.Full())
		c.Push(rowsItem(i))
	}
	require.True(t, c.Full())
	c.Next()
	require.True(t, c.Full(), "one below the limit is not yet room")
	require.Zero(t, woken)
	c.Next()
	require.False(t, c.Full())
	require.Equal(t, 1, woken)
}

func TestChannelReplacesAWatermarkThatNobodyTook(t *testing.T) {
	c := NewChannel(DefaultLimits, func() {}, func() {})
	c.Push(Item{Kind: Watermark, W: 1})
	c.Push(Item{Kind: Watermark, W: 2})
	require.Equal(t, 1, c.Len())
	c.Mark(1) // a mark stands behind the watermark: it must not change any more
	c.Push(Item{Kind: Watermark, W: 3})
	require.Equal(t, 2, c.Len())
	it, _ := c.Next()
	require.EqualValues(t, 2, it.W)
}

func TestChannelIntervalIsWhatLiesBetweenConsumerAndMark(t *testing.T) {
	c := NewChannel(DefaultLimits, func() {}, func() {})
	for i := range int64(5) {
		c.Push(rowsItem(i))
	}
	c.Next()
	_, known := c.Interval(7)
	require.False(t, known, "the producer has not marked 7")
	require.EqualValues(t, 5, c.Mark(7))
	c.Push(rowsItem(5)) // behind the mark: not of snapshot 7
	c.Next()
	items, known := c.Interval(7)
	require.True(t, known)
	var got []int64
	for _, it := range items {
		got = append(got, it.Batch.Cols[0].Ints[0])
	}
	require.Equal(t, []int64{2, 3, 4}, got)

	// A second snapshot may be open at the same time.
	c.Mark(8)
	items, _ = c.Interval(8)
	require.Len(t, items, 4)
	c.Unmark(7)
	_, known = c.Interval(7)
	require.False(t, known)
	_, known = c.Interval(8)
	require.True(t, known)
}

func TestChannelIntervalIsEmptyOnceTheConsumerIsPastTheMark(t *testing.T) {
	c := NewChannel(DefaultLimits, func() {}, func() {})
	c.Push(rowsItem(1))
	c.Mark(checkpoint.ID(1))
	c.Push(rowsItem(2))
	c.Next()
	c.Next()
	items, known := c.Interval(1)
	require.True(t, known)
	require.Empty(t, items)
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
