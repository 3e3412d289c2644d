package langserver

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A rename that could not reach all files of a workspace would break those that are left out: it is refused.
func TestRenameInALargeWorkspace(t *testing.T) {
	dir := t.TempDir()
	write := func(from, to int) {
		for i := from; i < to; i++ {
			require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.ebb", i)), []byte("use \"lib.ebb\"\nlet b = base\n"), 0o666))
		}
	}
	const lib = "let base = 3\nfn f(x: int) = x\n"
	path := filepath.Join(dir, "lib.ebb")
	require.NoError(t, os.WriteFile(path, []byte(lib), 0o666))
	write(0, 20)
	s := New(Options{})
	s.root = dir
	uri := "file://" + path
	s.put(uri, 1, newText(lib), pause)
	renamed := func(line, character int) (int, error) {
		p := renameParams{NewName: "other"}
		p.Position = position{line, character}
		edit, err := rename(t.Context(), s, s.document(uri), p)
		if err != nil {
			return 0, err
		}
		return len(edit.(workspaceEdit).Changes), nil
	}
	n, err := renamed(0, 5)
	require.NoError(t, err)
	require.Equal(t, 21, n)

	write(20, mostFiles+1)
	_, err = renamed(0, 5)
	require.ErrorContains(t, err, "more than 5000 scripts")
	n, err = renamed(1, 5)
	require.NoError(t, err, "a parameter has no other place")
	require.Equal(t, 1, n)
}
