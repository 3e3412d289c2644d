package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFormatted: the project's own scripts and pages have their layout. `ebb fmt .` gives it to them; examples of definitions
// stand in docs/reference.md and must be changed where they are defined.
func TestFormatted(t *testing.T) {
	n := 0
	pages, err := filepath.Glob("../../*.md")
	require.NoError(t, err)
	wrong := readTexts(append(pages, "../../docs", "../../examples"), func(name, text string) {
		n++
		after, broken := formatted(name, text)
		require.False(t, broken, name)
		require.Empty(t, unified(name, text, after))
	})
	require.Empty(t, wrong)
	require.Greater(t, n, 30)
}

// TestReplaceFile: a file is there as it was or as it should be, and nothing else is left behind.
func TestReplaceFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.ebb")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o640))
	require.NoError(t, replaceFile(path, "new"))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "new", string(got))
	require.Error(t, replaceFile(dir, "new"))
	require.Error(t, replaceFile(filepath.Join(dir, "missing"), "new"))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
}
