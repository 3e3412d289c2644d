package disk

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// However a write lies across the pieces that it is cut into, all of it comes where it belongs, and nothing else changes.
func TestWriteAt(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	want := bytes.Repeat([]byte("-"), 3*largePiece)
	require.NoError(t, os.WriteFile(name, want, 0o666))
	f, err := OS{}.Edit(name)
	require.NoError(t, err)
	for i, size := range []int{0, 1, 4096, writePiece - 1, writePiece, 2*writePiece + 7, largePiece - 1, largePiece, largePiece + writePiece, 2 * largePiece} {
		for k, off := range []int{0, 1, 4095, writePiece - 1, writePiece, largePiece - 5, largePiece} {
			p := make([]byte, size)
			for j := range p {
				p[j] = byte(j*7 + i*31 + k)
			}
			n, err := f.WriteAt(p, int64(off))
			require.NoError(t, err)
			require.Equal(t, size, n)
			copy(want[off:], p)
			got, err := get(OS{}, name)
			require.NoError(t, err)
			require.True(t, string(want) == got, "%d bytes at %d", size, off)
		}
	}
	require.NoError(t, f.Close())
	_, err = f.WriteAt([]byte("x"), 0)
	require.ErrorIs(t, err, os.ErrClosed)
}
