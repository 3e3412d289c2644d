package exec

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

func gateOf(inOrder bool, n int) (*Gate, []*Channel) {
	var cs []*Channel
	for range n {
		cs = append(cs, NewChannel(DefaultLimits, func() {}, func() {}))
	}
	g := NewGate()
	g.Add(0, cs, inOrder, nil)
	return g, cs
}

func next(t *testing.T, g *Gate) Item {
	t.Helper()
	_, it, ok := g.Next(1 << 20)
	require.True(t, ok)
	return it
}

func none(t *testing.T, g *Gate) {
	t.Helper()
	_, it, ok := g.Next(1 << 20)
	require.False(t, ok, "%+v", it)
}

func TestGateWatermarkIsTheMinimum(t *testing.T) {
	g, cs := gateOf(false, 2)
	cs[0].Push(Item{Kind: Watermark, W: 10})
	none(t, g)
	cs[1].Push(Item{Kind: Watermark, W: 5})
	require.EqualValues(t, 5, next(t, g).W)
	cs[1].Push(Item{Kind: Watermark, W: 20})
	require.EqualValues(t, 10, next(t, g).W)
	cs[0].Push(Item{Kind: End})
	require.EqualValues(t, 20, next(t, g).W, "an ended input no longer holds event time back")
	cs[1].Push(Item{Kind: End})
	require.Equal(t, End, next(t, g).Kind)
	none(t, g)
}

func TestGateRestoresTheOrderOfChunks(t *testing.T) {
	g, cs := gateOf(true, 3)
	// Chunks are dealt in turn; the later readers are ahead.
	put := func(k int64) {
		cs[k%3].Push(rowsItem(k*10, k*10+1))
		cs[k%3].Push(rowsItem(k*10 + 2))
		cs[k%3].Push(Item{Kind: ChunkEnd, N: k})
	}
	put(1)
	put(2)
	none(t, g)
	put(0)
	var got []int64
	for range 6 {
		got = append(got, next(t, g).Batch.Cols[0].Ints[0])
	}
	require.Equal(t, []int64{0, 2, 10, 12, 20, 22}, got)
	none(t, g)
	cs[0].Push(Item{Kind: End}) // there is no chunk 3
	cs[2].Push(Item{Kind: End})
	put(4)
	require.EqualValues(t, 40, next(t, g).Batch.Cols[0].Ints[0])
}

// An edge in order that waits for an idle channel hears of the others how far event time has come and that they are idle, too:
// else it would hold back what other sources bring until there are rows again.
func TestGateInOrderHearsThatAllAreIdle(t *testing.T) {
	g, cs := gateOf(true, 3)
	other := NewChannel(DefaultLimits, func() {}, func() {})
	g.Add(1, []*Channel{other}, false, []int{1})
	other.Push(Item{Kind: Watermark, W: 100})
	cs[0].Push(withChunk(rowsItem(1), 0))
	cs[0].Push(Item{Kind: Watermark, W: 10})
	cs[0].Push(Item{Kind: ChunkEnd, N: 0})
	require.Equal(t, Rows, next(t, g).Kind)
	for _, c := range cs {
		c.Push(Item{Kind: Watermark, W: 10})
		c.Push(Item{Kind: WentIdle})
	}
	require.EqualValues(t, 10, next(t, g).W)
	require.EqualValues(t, 100, next(t, g).W)
	cs[2].Push(Item{Kind: WentActive})
	cs[2].Push(withChunk(rowsItem(3), 2))
	cs[1].Push(Item{Kind: WentActive})
	cs[1].Push(withChunk(rowsItem(2), 1))
	cs[1].Push(Item{Kind: ChunkEnd, N: 1})
	require.EqualValues(t, 2, next(t, g).Batch.Cols[0].Ints[0])
	require.EqualValues(t, 3, next(t, g).Batch.Cols[0].Ints[0])
}

func TestGateEndIsAStopIfAnInputWasStopped(t *testing.T) {
	g, cs := gateOf(false, 2)
	cs[0].Push(Item{Kind: End, N: 1})
	cs[1].Push(Item{Kind: End})
	it := next(t, g)
	require.Equal(t, Item{Kind: End, N: 1}, it)
}

func TestGateServesAllGroups(t *testing.T) {
	g := NewGate()
	var all []*Channel
	for in := range 2 {
		c := NewChannel(Limits{Rows: 1 << 20, Bytes: 1 << 20}, func() {}, func() {})
		all = append(all, c)
		g.Add(in, []*Channel{c}, true, []int{in})
	}
	for i := range int64(10) {
		all[0].Push(rowsItem(i))
		all[1].Push(rowsItem(i))
	}
	seen := [2]int{}
	for range 10 {
		in, _, ok := g.Next(1 << 20)
		require.True(t, ok)
		seen[in]++
	}
	require.Equal(t, [2]int{5, 5}, seen, "no group starves")
	require.Equal(t, types.MinInstant, g.w)
}

// gatherTask returns a task with the channels as its inputs; done holds the snapshots that are complete.
func gatherTask(g *Gate, cs []*Channel) (task *Task, done map[checkpoint.ID]*Snapshot) {
	done = map[checkpoint.ID]*Snapshot{}
	task = &Task{actor: newActor("sink"), env: OS(), gate: g, head: &node{op: &memoryOperator{}, out: &Out{}}, paused: new(atomic.Bool), finished: func() {}}
	for i, c := range cs {
		task.inputs = append(task.inputs, inputOf{edge: &Edge{ID: "e", From: &Group{Width: 2}}, from: i, fromWidth: 2, ch: c})
	}
	task.snaps.report = func(x *Snapshot) { done[x.ID] = x }
	task.snaps.stepped = func(checkpoint.ID, bool) {}
	return task, done
}

// A gather in the order of the source takes an aligned snapshot when the channel at turn is at its mark; that of another
// channel may still be to come, and what is in flight there belongs to the snapshot.
func TestAlignedSnapshotWaitsForChannelsNotAtTurn(t *testing.T) {
	g, cs := gateOf(true, 2)
	task, done := gatherTask(g, cs)
	task.order(order{id: 5, aligned: true, open: []checkpoint.ID{5}})
	cs[1].Push(rowsItem(1))
	cs[0].Mark(5, true)
	for range 3 {
		_, err := task.Step()
		require.NoError(t, err)
	}
	require.EqualValues(t, 5, task.snaps.last)
	require.Nil(t, done[5], "the second channel has not been marked")
	cs[1].Push(rowsItem(2))
	cs[1].Mark(5, true)
	require.NotNil(t, done[5])
	require.Equal(t, []int64{1, 2}, numbers(done[5].flights[1].Items))
}

// An order for a later snapshot may come while the task looks at a mark: it takes both, and the cut at which a channel
// waits for its producer must stay. If it is dropped, the snapshot is never complete, and neither is any later one.
func TestOrderBetweenMarkAndSnapshot(t *testing.T) {
	g, cs := gateOf(true, 2)
	task, done := gatherTask(g, cs)
	task.order(order{id: 5, aligned: true, open: []checkpoint.ID{5}})
	task.obey()
	cs[0].Mark(5, true)
	_, mark, ok := g.Next(1)
	require.True(t, ok)
	require.Equal(t, markItem, mark.Kind)
	task.order(order{id: 6, final: true, open: []checkpoint.ID{5, 6}})
	task.snaps.reached(task, mark)
	require.EqualValues(t, 6, task.snaps.last)
	cs[0].Mark(6, false)
	cs[1].Push(rowsItem(1))
	cs[1].Mark(5, false)
	cs[1].Push(rowsItem(2))
	cs[1].Mark(6, false)
	require.Len(t, done, 2)
	require.Equal(t, []int64{1}, numbers(done[5].flights[1].Items))
	require.Equal(t, []int64{1, 2}, numbers(done[6].flights[1].Items))
}

// The mark of a snapshot may come after the task has heard that the snapshot is given up, from a producer that had not. It is
// passed over; a snapshot that were taken then would never be complete, and hold back what it keeps for ever.
func TestMarkOfASnapshotThatIsAborted(t *testing.T) {
	g, cs := gateOf(false, 2)
	task, done := gatherTask(g, cs)
	task.order(order{id: 5, aligned: true, open: []checkpoint.ID{5}})
	task.order(order{what: abort, id: 5})
	task.obey()
	cs[0].Mark(5, true)
	cs[0].Push(rowsItem(1))
	cs[1].Mark(5, true)
	for range 4 {
		_, err := task.Step()
		require.NoError(t, err)
	}
	require.Zero(t, task.snaps.last)
	require.Empty(t, done)
	require.Zero(t, cs[0].Len(), "the mark still stands before the row")
	for _, c := range cs {
		require.Empty(t, c.marks())
	}
}

type memoryOperator struct{ Stateless }

func (*memoryOperator) Process(int, *vec.Batch, *Out) error { return nil }

// A task that has been told until when it may wait for marks steps then by itself, and its checkpoint is not aligned. Marks
// that come later find it taken.
func TestAlignedSnapshotWaitsNoLonger(t *testing.T) {
	g, cs := gateOf(false, 2)
	task, done := gatherTask(g, cs)
	now := types.Instant(100)
	task.env.Now = func() types.Instant { return now }
	aligned := map[checkpoint.ID]bool{}
	task.snaps.stepped = func(id checkpoint.ID, on bool) { aligned[id] = on }
	step := func() {
		t.Helper()
		_, err := task.Step()
		require.NoError(t, err)
	}
	for id := checkpoint.ID(5); id <= 7; id++ {
		task.order(order{id: id, aligned: true, until: types.Instant(id) * 100, open: []checkpoint.ID{5, 6, 7}[:id-4]})
	}
	cs[0].Mark(5, true)
	cs[1].Push(rowsItem(1))
	for range 4 {
		step()
	}
	require.Zero(t, task.snaps.last, "the second channel has not been marked")
	require.EqualValues(t, 500, task.NextTick())
	now = 650 // the clock of two of them
	step()
	require.Equal(t, map[checkpoint.ID]bool{5: false, 6: false}, aligned)
	require.EqualValues(t, 700, task.NextTick())
	cs[1].Push(rowsItem(2))
	for id := checkpoint.ID(5); id <= 7; id++ {
		if id > 5 {
			cs[0].Mark(id, true)
		}
		cs[1].Mark(id, true)
	}
	require.Equal(t, []int64{2}, numbers(done[5].flights[1].Items))
	require.Equal(t, []int64{2}, numbers(done[6].flights[1].Items))
	for range 4 {
		step()
	}
	require.Equal(t, map[checkpoint.ID]bool{5: false, 6: false, 7: true}, aligned)
	require.Zero(t, task.NextTick())
}
