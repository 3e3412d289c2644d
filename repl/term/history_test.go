package term

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	h := openHistory(path)
	h.add("a |>\n  where b == \"\\n\"")
	h.add("second")
	h.add("second")
	require.Equal(t, []string{"a |>\n  where b == \"\\n\"", "second"}, openHistory(path).last(10))
	// A line that a crash has cut off damages no other.
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	f.WriteString("17960\x00cut o")
	f.Close()
	openHistory(path).add("third")
	require.Equal(t, []string{"second", "third"}, openHistory(path).last(2))
}

// Two sessions that write at once do not tear each other's lines.
func TestHistoryOfTwoSessions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	var wg sync.WaitGroup
	for s := range 2 {
		h := openHistory(path)
		wg.Go(func() {
			for i := range 100 {
				h.add(fmt.Sprintf("%d %d %s", s, i, strings.Repeat("x", 10_000)))
			}
		})
	}
	wg.Wait()
	got := openHistory(path).last(1000)
	require.Len(t, got, 200)
	for _, text := range got {
		require.True(t, strings.HasSuffix(text, " "+strings.Repeat("x", 10_000)))
	}
}

func TestHistoryIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("1\tsame\n", 2*mostRemembered+1)), 0o600))
	openHistory(path)
	require.Equal(t, mostRemembered, len(openHistory(path).last(1<<30)))
}
