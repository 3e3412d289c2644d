package checkpoint

import (
	"testing"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"
)

func TestCheckOutput(t *testing.T) {
	fs := disk.NewSim()
	require.NoError(t, fs.MkdirAll("a/b"))
	f, err := fs.Create("a/b/c")
	require.NoError(t, err)
	_, err = f.Write([]byte("0123456789"))
	require.NoError(t, err)
	check := CheckOutput(fs, "")
	for _, c := range []struct {
		x    Sealed
		fits bool
	}{
		{Sealed{Path: "a/b/none"}, false},
		{Sealed{Path: "a/b/c", Offset: 2, Length: 3, Sum: xxh3.Hash([]byte("234"))}, true},
		{Sealed{Path: "a/b/c", Offset: 2, Length: 3, Sum: 1}, false},
		{Sealed{Path: "a/b/c", Offset: 8, Length: 3, Sum: xxh3.Hash([]byte("89"))}, false},
		{Sealed{Path: "a/b/c", Sum: xxh3.Hash(nil)}, true},
	} {
		fits, err := check(c.x)
		require.NoError(t, err)
		require.Equal(t, c.fits, fits, "%v", c.x)
		if fits {
			require.NoError(t, KeepOutput(fs, "")(c.x))
		}
	}
}
