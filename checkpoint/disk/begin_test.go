package disk

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// begun notes what it was told to begin.
type begun struct {
	File
	ranges [][2]int64
}

func (b *begun) Begin(off, n int64) { b.ranges = append(b.ranges, [2]int64{off, n}) }

func TestBegin(t *testing.T) {
	f := &begun{}
	at := Begin(f, 0, BeginBytes-1)
	require.Zero(t, at, "too little")
	at = Begin(f, at, BeginBytes+5000)
	at = Begin(f, at, 2*BeginBytes)
	at = Begin(f, at, 3*BeginBytes)
	require.EqualValues(t, 3*BeginBytes, at)
	require.Equal(t, [][2]int64{{0, BeginBytes + 4096}, {BeginBytes + 4096, 2*BeginBytes - 4096}}, f.ranges, "whole pages, each once")

	// Of a file of the machine that is closed at once all is there afterwards.
	name := filepath.Join(t.TempDir(), "f")
	text := strings.Repeat("0123456789abcdef", BeginBytes/16)
	x, err := OS{}.Create(name)
	require.NoError(t, err)
	_, err = x.Write([]byte(text))
	require.NoError(t, err)
	Begin(x, 0, BeginBytes)
	require.NoError(t, x.Close())
	got, err := get(OS{}, name)
	require.NoError(t, err)
	require.True(t, text == got)
}
