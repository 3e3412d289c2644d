package checkpoint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a deferred part seals belongs to the checkpoint like what is sealed at once.
func TestLaterPartsSeal(t *testing.T) {
	w := NewWriter(1, 0)
	w.String("a")
	w.Later(2, func(w *Writer) bool {
		w.String("b")
		w.Seal(Sealed{Path: "x"}, func() error { return nil })
		return false
	})
	w.String("c")
	require.Equal(t, 6, w.Weight(), "what is deferred counts as it was announced")
	for w.Pending() {
		w.Continue()
	}
	data, flush, sealed := w.Output()
	require.Len(t, flush, 1)
	require.Equal(t, []Sealed{{Path: "x"}}, sealed)
	r := NewReader(1, data)
	require.Equal(t, "abc", r.String()+r.String()+r.String())
	require.NoError(t, r.Done())
}

// Thousands of small parts, such as the panes of a window, take as much memory as they write, and not a piece each.
func TestSmallPartsShareMemory(t *testing.T) {
	w := NewWriter(1, 0)
	w.Room = &Room{}
	const parts = 30_000
	for i := range parts {
		w.Later(101, func(w *Writer) bool {
			w.Uint(uint64(i))
			w.Bytes(make([]byte, 100))
			return false
		})
		w.Bool(true)
	}
	for w.Pending() {
		w.Continue()
	}
	held := 0
	for _, p := range w.memory {
		held += cap(p)
	}
	require.Less(t, held, 2*w.Len(), "bytes held for %d written", w.Len())
	data, _, _ := w.Output()
	require.Len(t, data, w.Len())
	r := NewReader(1, data)
	for i := range parts {
		require.EqualValues(t, i, r.Uint())
		require.Len(t, r.Bytes(), 100)
		require.True(t, r.Bool())
	}
	require.NoError(t, r.Done())
}
