package planner

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestManyOpenWindows keeps 20,000 windows open for late rows: what a window costs does not depend on how many are open.
func TestManyOpenWindows(t *testing.T) {
	if testing.Short() { // under the race detector: one goroutine
		t.Skip()
	}
	for _, emit := range []string{"late allow 1d", "emit changes late allow 1d"} {
		start := time.Now()
		r := runIn(t, t.TempDir(), `generate({at: "time"}, count: 20_000, step: 1s) |> aggregate n = count() window tumbling(250ms) `+emit+`
			|> aggregate c = count(), n = sum(n)`, sizes{parallelism: 1}, nil)
		require.NoError(t, r.err, r.refused)
		require.Equal(t, "{\"c\":20000,\"n\":20000}\n", r.stdout)
		require.Less(t, time.Since(start), 20*time.Second, "%s: half a second is usual; with work for each open window it was minutes", emit)
	}
}
