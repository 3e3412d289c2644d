package exec

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A chunk of which a piece was in flight at a first kill and another at a second comes in its order when the run goes on
// at a third width: both are in old inputs then.
func TestOldInputsOfSeveralLivesKeepTheOrder(t *testing.T) {
	edge := &Edge{ID: "e", From: &Group{Width: 1}}
	gate, chans := gateOf(true, 1)
	task := &Task{group: "sink", width: 1, env: &Env{}, gate: gate, inputs: []inputOf{{edge: edge, fromWidth: 1, ch: chans[0]}}}
	piece := func(v int64) []Item { return []Item{withChunk(rowsItem(v), 0)} }
	live, old := inputData{edge: "e", fromWidth: 2}, inputData{edge: "e", fromWidth: 3, old: true, nth: 1}
	r := &restoring{Restore: &Restore{},
		tasks: map[string][]*taskData{"sink": {{inputs: []inputData{live, old}}}},
		flights: map[flightKey]*landed{
			{edge: "e", fromWidth: 2}:                    {items: piece(2)},
			{edge: "e", fromWidth: 3, old: true, nth: 1}: {items: piece(1)},
		}}
	r.gate(task)
	require.EqualValues(t, 2, r.rows)
	chans[0].Push(withChunk(rowsItem(3), 0))
	for want := range int64(3) {
		require.Equal(t, want+1, next(t, gate).Batch.Cols[0].Ints[0])
	}
}

// What was in flight of a later chunk waits for what the source reads of the chunk at hand, and comes before what it reads of its
// own.
func TestOldInputsWaitForTheirChunk(t *testing.T) {
	edge := &Edge{ID: "e", From: &Group{Width: 1}}
	gate, chans := gateOf(true, 1)
	task := &Task{group: "sink", width: 1, env: &Env{}, gate: gate, inputs: []inputOf{{edge: edge, fromWidth: 1, ch: chans[0]}}}
	r := &restoring{Restore: &Restore{},
		tasks:   map[string][]*taskData{"sink": {{inputs: []inputData{{edge: "e", fromWidth: 2}, {edge: "e", from: 1, fromWidth: 2}}}}},
		flights: map[flightKey]*landed{{edge: "e", from: 1, fromWidth: 2}: {items: []Item{withChunk(rowsItem(2), 1)}}}}
	r.gate(task)
	for _, it := range []Item{withChunk(rowsItem(1), 0), {Kind: ChunkEnd, N: 0}, withChunk(rowsItem(3), 1)} {
		chans[0].Push(it)
	}
	for want := range int64(3) {
		require.Equal(t, want+1, next(t, gate).Batch.Cols[0].Ints[0])
	}
}
