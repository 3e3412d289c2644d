package disk

import (
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// counting counts how often a file system is asked.
type counting struct {
	FS
	asked int
}

func (c *counting) Stat(name string) (fs.FileInfo, error) { c.asked++; return c.FS.Stat(name) }
func (c *counting) Open(name string) (File, error)        { c.asked++; return c.FS.Open(name) }

func TestOnce(t *testing.T) {
	sim := NewSim()
	write := func(name, text string) {
		f, err := sim.Create(name)
		require.NoError(t, err)
		_, err = f.Write([]byte(text))
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	write("small.csv", "id\n1\n")
	large := strings.Repeat("x", mostText+1)
	write("large.csv", large)
	under := &counting{FS: sim}
	x := &Once{FS: under}
	read := func(name string) string {
		f, err := x.Open(name)
		require.NoError(t, err)
		defer f.Close()
		info, err := f.Stat()
		require.NoError(t, err)
		text, err := io.ReadAll(f)
		require.NoError(t, err)
		require.EqualValues(t, len(text), info.Size())
		return string(text)
	}
	for range 3 {
		require.Equal(t, "id\n1\n", read("small.csv"))
		info, err := x.Stat("small.csv")
		require.NoError(t, err)
		require.EqualValues(t, 5, info.Size())
		_, err = x.Stat("none.csv")
		require.ErrorIs(t, err, fs.ErrNotExist)
		_, err = x.Open("none.csv")
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	require.LessOrEqual(t, under.asked, 1+1+1+3, "a file that is not there is opened to say why")

	require.Equal(t, large, read("large.csv"), "it is not remembered, and not cut off")
	require.Equal(t, large, read("large.csv"))

	write("small.csv", "id\n2\n")
	require.Equal(t, "id\n1\n", read("small.csv"))
	x.Forget()
	require.Equal(t, "id\n2\n", read("small.csv"))
}
