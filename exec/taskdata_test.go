package exec

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
)

// What a task has to remember comes back, each field of it.
func TestTaskDataComesBack(t *testing.T) {
	signals := func(n int64) []Item {
		return []Item{{Kind: Watermark, W: 70 + n}, {Kind: ChunkEnd, N: 80 + n}, {Kind: End, N: 1}}
	}
	for _, on := range []bool{true, false} {
		d := taskData{ended: on, over: !on, chunk: 3,
			inputs: []inputData{{"e", 1, 2, on, 4, 5, !on, on, !on}, {edge: "f", ended: !on, short: on, idle: on}},
			groups: []groupData{{"e", 6, 7, on}},
			gate:   gateData{8, on, !on, on},
			nodes:  []nodeData{{"a", 9, on, !on, signals(1), signals(2), 10, on}},
			next:   []int64{11, 12}, read: 13, drained: on}
		w := checkpoint.NewWriter(1, 0)
		d.save(w)
		data, _, _ := w.Output()
		var back taskData
		require.NoError(t, back.load(checkpoint.NewReader(1, data)))
		require.Equal(t, d, back)
	}
}
