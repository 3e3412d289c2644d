package state

import (
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFreshMemoryIsMappedOnce checks that looking at fresh memory before it is written costs no second fault a page.
func TestFreshMemoryIsMappedOnce(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("counts the page faults of a thread, as Linux does")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	faults := func() int64 {
		const thread = 1
		var r syscall.Rusage
		require.NoError(t, syscall.Getrusage(thread, &r))
		return r.Minflt
	}
	const pages = 16 << 10
	s := fresh[uint64](pages * pageBytes / 8)
	before, sum := faults(), uint64(0)
	for i := 0; i < len(s); i += pageBytes / 8 {
		sum += s[i]
		s[i] = 1
	}
	require.Zero(t, sum)
	require.Less(t, faults()-before, int64(pages/8))
}
