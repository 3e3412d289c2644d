package checkpoint

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint/disk"
)

// TestRewind: what a run had read after a checkpoint is known to the next one, on whatever way it comes there.
func TestRewind(t *testing.T) {
	fs := disk.NewSim()
	var s *Store
	open := func() *Manifest {
		t.Helper()
		next, r, err := Open(fs, "c", Options{})
		require.NoError(t, err)
		s = next
		return r.Newest
	}
	take := func(rows int64) *Manifest {
		t.Helper()
		id, err := s.NextID()
		require.NoError(t, err)
		m := &Manifest{ID: id, Parent: s.Head(), Stats: map[string]int64{"rows_in": rows}}
		require.NoError(t, s.Publish(m, nil))
		return m
	}
	kill := func() { fs = fs.Kill() }

	require.Nil(t, open())
	s.NoteReached(5, false)
	first := take(1000)
	require.Equal(t, Rewind{0, true, true}, s.Rewind(first), "the note is older than the checkpoint")
	s.NoteReached(1234567, false)
	second := take(1000000)
	kill()
	m := open()
	require.Equal(t, second.ID, m.ID)
	require.Equal(t, Rewind{234567, true, true}, s.Rewind(m))
	require.Equal(t, ", at least 234567 rows rewound", s.Rewind(m).After("234567 rows"))
	require.Equal(t, Rewind{1233567, true, true}, s.Rewind(first), "also to an older one")
	require.NoError(t, s.Close())

	// A run that ended by itself says all, with fewer digits than before.
	open()
	s.NoteReached(1000007, true)
	require.Equal(t, Rewind{7, false, true}, s.Rewind(second))
	require.NoError(t, s.Close())
	open()
	require.Equal(t, Rewind{7, false, true}, s.Rewind(second))
	require.Equal(t, ", 7 rows rewound", s.Rewind(second).After("7 rows"))

	// Back to the first: what came after it is read again. From there on the second is not on the way.
	require.NoError(t, s.Rollback(first.ID))
	require.Equal(t, Rewind{999007, false, true}, s.Rewind(first))
	s.NoteReached(2000, false)
	kill()
	m = open()
	require.Equal(t, first.ID, m.ID, "the run took no checkpoint")
	require.Equal(t, Rewind{1000, true, true}, s.Rewind(m))
	third := take(2500)
	s.NoteReached(3_000_000, false)
	require.NoError(t, s.Rollback(second.ID))
	require.Equal(t, Rewind{}, s.Rewind(second), "the last run did not come after it")
	require.Equal(t, Rewind{2_997_500, true, true}, s.Rewind(third))

	// Nor is anything known after a fresh start, or where the note cannot be read.
	require.NoError(t, s.Fresh())
	s.NoteReached(10, true)
	require.Equal(t, Rewind{}, s.Rewind(third))
	require.NoError(t, s.Close())
	for _, size := range []int64{30, 0} {
		f, err := fs.Edit("c/" + reachedName)
		require.NoError(t, err)
		require.NoError(t, f.Truncate(size))
		open()
		require.Equal(t, reached{}, s.reached)
		require.NoError(t, s.Close())
	}
}
