package checkpoint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a deferred part seals belongs to the checkpoint like what is sealed at once.
func TestLaterPartsSeal(t *testing.T) {
	w := NewWriter(1, 0)
	w.String("a")
	w.Later(func(w *Writer) bool {
		w.String("b")
		w.Seal(Sealed{Path: "x"}, func() error { return nil })
		return false
	})
	w.String("c")
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
