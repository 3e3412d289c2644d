package exec

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A feed that was restored at another width holds rows of chunks that the source has not come to. When the run is killed
// once more and goes on at the same width, they still come after what the source reads of the chunks before.
func TestFeedKeepsChunksAheadWhenItIsRestoredAgain(t *testing.T) {
	row := func(n, first int64) fed { return fed{0, withChunk(rowsItem(first), n)} }
	end := func(n int64) fed { return fed{allPorts, Item{Kind: ChunkEnd, N: n}} }
	for _, c := range []struct {
		name   string
		before func(f *feed) // the second kill
		chunk  int64         // of what was taken last
		want   []int64
	}{
		{"nothing of the chunk at hand waits", func(f *feed) {}, 0, []int64{20, 21, 30}},
		{"some of it waits", func(f *feed) { f.chunk = 2; f.push(0, rowsItem(19)) }, 0, []int64{19, 20, 21, 30}},
		{"some of it was taken", func(f *feed) { f.chunk = 2; f.push(0, rowsItem(18)); f.push(0, rowsItem(19)); f.take(10) }, 2, []int64{19, 20, 21, 30}},
		{"a watermark waits", func(f *feed) { f.chunk = 2; f.push(0, rowsItem(19)); f.push(allPorts, Item{Kind: Watermark, W: 5}) }, 0, []int64{19, -5, 20, 21, 30}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &feed{old: []fed{row(3, 30), end(3)}}
			f.arrange(false)
			c.before(f)
			saved := f.waiting()

			again := &feed{}
			again.again(saved, c.chunk)
			again.arrange(false)
			var got []int64
			drain := func() {
				for again.ready() {
					x := again.take(10)
					switch x.Kind {
					case Rows:
						got = append(got, x.Batch.Cols[0].Ints[x.Batch.Row(0)])
					case Watermark:
						got = append(got, -int64(x.W))
					}
				}
			}
			drain()
			for i, k := range []int64{2, 2} {
				again.chunk = k
				again.push(0, rowsItem(20+int64(i)))
				drain()
			}
			again.push(allPorts, Item{Kind: ChunkEnd, N: 2})
			again.chunk = 4
			drain()
			require.Equal(t, c.want, got)
		})
	}
}

// Nor is the end lost behind them.
func TestFeedEndsAfterChunksAhead(t *testing.T) {
	f := &feed{old: []fed{{0, withChunk(rowsItem(30), 3)}}}
	f.push(allPorts, Item{Kind: End})
	again := &feed{}
	again.again(f.waiting(), 0)
	again.arrange(true)
	require.Equal(t, Rows, again.take(10).Kind)
	require.True(t, again.ready())
	require.Equal(t, End, again.take(10).Kind)
	require.False(t, again.ready())
}

func withChunk(it Item, n int64) Item { it.N = n; return it }
