package checkpoint

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint/disk"
)

// TestNamedPipes: a named pipe in the place of a file of the folder holds nobody up. A note in one is not known, a segment in
// one is an error.
func TestNamedPipes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	s, _, err := Open(disk.OS{}, dir, Options{})
	require.NoError(t, err)
	id := publish(t, s, "state")
	require.NoError(t, s.Close())
	pipe := func(name string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.RemoveAll(path))
		require.NoError(t, syscall.Mkfifo(path, 0o666))
		return path
	}
	promptly := func(f func()) {
		t.Helper()
		done := make(chan struct{})
		go func() { defer close(done); f() }()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Fatal("it waits for a named pipe")
		}
	}
	pipe(reachedName)
	promptly(func() {
		s, r, err := Open(disk.OS{}, dir, Options{})
		if err == nil {
			require.Equal(t, id, r.Newest.ID)
			require.Zero(t, s.Rewind(r.Newest))
			s.NoteReached(7, true)
			err = s.Close()
		}
		require.NoError(t, err)
	})
	ids, err := listSegments(disk.OS{}, dir)
	require.NoError(t, err)
	path := pipe(segmentName(slices.Max(ids) + 1))
	promptly(func() {
		_, _, err := Open(disk.OS{}, dir, Options{})
		require.ErrorContains(t, err, path+": it is not a regular file")
		_, err = OpenReader(disk.OS{}, dir)
		require.ErrorContains(t, err, path+": it is not a regular file")
	})
	require.NoError(t, os.Remove(path))
	pipe(lockName)
	promptly(func() {
		f, err := OpenReader(disk.OS{}, dir)
		require.NoError(t, err)
		_, known := f.Owner()
		require.False(t, known)
		f.Close()
	})
}
