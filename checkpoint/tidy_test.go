package checkpoint

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint/disk"
)

// TestRemoveThatFails: what nothing needs any more and cannot be removed holds no checkpoint up, and goes when it can.
func TestRemoveThatFails(t *testing.T) {
	fs := disk.NewSim()
	refused, stuck := 0, true
	fs.Before = func(op, name string) error {
		if stuck && op == "remove" {
			refused++
			return syscall.EBUSY
		}
		return nil
	}
	s, _, err := Open(fs, "c", Options{Keep: 1, SegmentBytes: 6000, RoomBytes: -1})
	require.NoError(t, err)
	take := func(n int) {
		for range n {
			id := publish(t, s, strings.Repeat("x", 3000))
			require.NoError(t, s.Commit(id, false))
			require.NoError(t, s.Tidy())
		}
	}
	segments := func() int {
		ids, err := listSegments(fs, "c")
		require.NoError(t, err)
		return len(ids)
	}
	take(20)
	require.Greater(t, refused, 5)
	many := segments()
	require.Greater(t, many, 5)
	stuck = false
	take(2)
	require.LessOrEqual(t, segments(), 3)
	require.NoError(t, s.Close())
}
