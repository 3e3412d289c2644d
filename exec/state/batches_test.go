package state

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// What is written later is what was there: the owner may have given its batches out in between.
func TestSaveBatchesLater(t *testing.T) {
	s := types.NewSchema(types.Field{Name: "n", Type: types.T(types.Int)})
	batches := []*vec.Batch{vec.FromRows(s, [][]any{{int64(1)}}), vec.FromRows(s, [][]any{{int64(2)}})}
	w := checkpoint.NewWriter(1, 0)
	w.AtOnce = -1
	SaveBatches(w, batches)
	require.True(t, w.Pending())
	batches[0], batches[1] = nil, nil
	for w.Continue() {
	}
	data, _, _ := w.Output()
	c := checkpoint.NewReader(1, data)
	got := LoadBatches(c, []types.Type{types.T(types.Int)})
	require.NoError(t, c.Done())
	require.Len(t, got, 2)
	require.Equal(t, int64(2), got[1].Cols[0].Ints[0])
}
