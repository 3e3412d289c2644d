package exec

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/disk"
)

// A base follows once its deltas, which are all read to go on from them, are many or weigh more than it is worth.
func TestBase(t *testing.T) {
	s := &storage{keeper: &keeper{cfg: &Checkpoints{Deltas: true}}}
	parent := func(chains ...[]uint64) checkpoint.ID {
		x := written{7, map[nodeKey]checkpoint.Chain{}}
		for i, c := range chains {
			for _, n := range c {
				k := nodeKey{i, "count"}
				x.chains[k] = append(x.chains[k], []checkpoint.Ref{{Length: n}})
			}
		}
		s.recent = []written{x}
		return s.parent(7)
	}
	many := make([]uint64, mostDeltas)
	many[0] = 100
	require.EqualValues(t, 7, parent([]uint64{100}))
	require.EqualValues(t, 7, parent(many), "a last delta of next to nothing")
	require.Zero(t, parent(append(many, 0)), "there are as many as may be")
	require.EqualValues(t, 7, parent([]uint64{100, 100, 100}))
	require.Zero(t, parent([]uint64{100, 100, 101}))
	require.EqualValues(t, 7, parent([]uint64{100, 100, 101}, []uint64{100}), "all of them count together")
	require.Zero(t, s.parent(6), "of which nothing is known")
}

// Who does not know how a delta is written must not read a checkpoint that has one.
func TestDeltaIsRequired(t *testing.T) {
	store, _, err := checkpoint.Open(disk.NewSim(), "c", checkpoint.Options{})
	require.NoError(t, err)
	s := &storage{keeper: &keeper{cfg: &Checkpoints{Deltas: true}}, run: &Run{env: OS()}, store: store}
	take := func(id, parent checkpoint.ID, delta bool) *checkpoint.Manifest {
		w := checkpoint.NewWriter(id, parent)
		w.Uint(7)
		if delta {
			w.Delta()
		}
		x := &Snapshot{task: &Task{group: "g", width: 1}, nodes: []savedNode{{id: "count", w: w, ahead: &ahead{}}}}
		m, _, err := s.manifest(&taking{id: id, stats: map[string]int64{}, snaps: []*Snapshot{x}}, checkpoint.Write{ID: id, Parent: parent})
		require.NoError(t, err)
		return m
	}
	require.Empty(t, take(1, 0, false).Features)
	m := take(2, 1, true)
	require.Equal(t, []string{checkpoint.WordDeltas}, m.Features)
	require.Len(t, m.Tasks[0].Nodes[0].Blocks, 2)
	require.NoError(t, store.Close())
}
