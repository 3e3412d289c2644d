package term

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// What clears a line goes out with what comes next.
func TestDrawn(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	d := &drawn{file: w}
	seen := func() string {
		buf := make([]byte, 100)
		n, err := r.Read(buf)
		require.NoError(t, err)
		return string(buf[:n])
	}
	write := func(s string) {
		n, err := d.Write([]byte(s))
		require.NoError(t, err)
		require.Equal(t, len(s), n)
	}
	write("\x1b[J\x1b[2K\r\x1b[A\x1b[2K\r")
	write("ebb> a")
	require.Equal(t, "\x1b[J\x1b[2K\r\x1b[A\x1b[2K\rebb> a", seen())
	write("\x1b[J\x1b[2K\r")
	write("\x1b[J\x1b[2K\r")
	write("b")
	require.Equal(t, "\x1b[J\x1b[2K\r\x1b[J\x1b[2K\rb", seen())
	write("\x1b[Jc")
	require.Equal(t, "\x1b[Jc", seen())
}
