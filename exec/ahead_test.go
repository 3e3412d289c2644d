package exec

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/disk"
)

// Of a large state no more waits in memory than is bounded, whatever the storage does meanwhile; what was stored ahead and
// the rest are the state, and who knows of one block a state only must not read the checkpoint.
func TestStateIsStoredAhead(t *testing.T) {
	store, _, err := checkpoint.Open(disk.NewSim(), "c", checkpoint.Options{BufferBytes: 500})
	require.NoError(t, err)
	s := &storage{actor: newActor("storage"), keeper: &keeper{cfg: &Checkpoints{Deltas: true}}, run: &Run{env: OS()}, store: store}
	take := func(id, parent checkpoint.ID, pieces int) (*checkpoint.Manifest, []byte) {
		task := &Task{actor: newActor("g"), env: &Env{Now: func() int64 { return 0 }}, group: "g", width: 1}
		w := checkpoint.NewWriter(id, parent)
		w.AtOnce, w.Piece = 100, 100
		w.String("head")
		want := []byte("\x04head")
		n := 0
		w.Later(100*pieces, func(w *checkpoint.Writer) bool {
			p := bytes.Repeat([]byte{byte(id), byte(n)}, 50)
			w.Append(func(to []byte) []byte { return append(to, p...) })
			want = append(want, p...)
			n++
			return n < pieces
		})
		w.String("tail")
		if parent > 0 {
			w.Delta()
		}
		x := &Snapshot{ID: id, task: task, nodes: []savedNode{{id: "count", w: w, ahead: s.ahead(task, w)}}, report: func(*Snapshot) {}}
		x.missing.Store(1)
		task.snaps.writing = []*Snapshot{x}
		for x.pending() {
			for task.snaps.busy() {
				task.snaps.write(task)
			}
			require.LessOrEqual(t, len(s.jobs), mostWaiting)
			if x.pending() {
				require.Len(t, s.jobs, mostWaiting)
				select {
				case <-task.Woken():
					t.Fatal("nothing was stored yet")
				default:
				}
				p, err := s.Step()
				require.NoError(t, err)
				require.Equal(t, Worked, p)
				<-task.Woken()
			}
		}
		for p := Worked; p == Worked; {
			p, err = s.Step()
			require.NoError(t, err)
		}
		m, _, err := s.manifest(&taking{id: id, stats: map[string]int64{}, snaps: []*Snapshot{x}}, checkpoint.Write{ID: id, Parent: parent})
		require.NoError(t, err)
		want = append(want, "\x04tail"...)
		require.EqualValues(t, len(want), m.StateBytes)
		return m, want
	}
	check := func(blocks []checkpoint.Ref, want []byte) {
		r, err := store.Stream(1, blocks)
		require.NoError(t, err)
		got := make([]byte, r.Left())
		r.Fill(got)
		require.NoError(t, r.Check(r.Done()))
		require.True(t, bytes.Equal(want, got))
		joined, err := checkpoint.Join(store.Read, blocks)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, joined))
	}
	m, base := take(1, 0, 200)
	require.Equal(t, []string{checkpoint.SeveralBlocks}, m.Features)
	chain := m.Tasks[0].Nodes[0].Chain()
	require.Len(t, chain, 1)
	require.Greater(t, len(chain[0]), 2*mostWaiting)
	check(chain[0], base)

	m, small := take(2, 1, 1)
	require.Equal(t, []string{checkpoint.WordDeltas, checkpoint.SeveralBlocks}, m.Features)
	m, large := take(3, 2, 100)
	chain = m.Tasks[0].Nodes[0].Chain()
	require.Len(t, chain, 3)
	check(chain[0], base)
	require.Len(t, chain[1], 1)
	check(chain[1], small)
	require.Greater(t, len(chain[2]), 2)
	check(chain[2], large)

	m, _ = take(4, 0, 1)
	require.Empty(t, m.Features, "every version reads a state of one block")
	require.Nil(t, m.Tasks[0].Nodes[0].Parts)
	require.NoError(t, store.Close())
}
