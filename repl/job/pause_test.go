package job

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A paused job reads nothing, but takes checkpoints; afterwards its source keeps its pace and does not make up for the pause.
func TestJobIsPaused(t *testing.T) {
	dir := t.TempDir()
	j := start(t, dir, counting)
	rowsIn(t, j, 500)
	require.NoError(t, j.Pause())
	require.Equal(t, Paused, j.State())
	require.ErrorContains(t, j.Pause(), "paused")
	n := j.Totals().RowsIn
	time.Sleep(300 * time.Millisecond)
	require.Equal(t, n, j.Totals().RowsIn)
	m, err := j.Checkpoint("still")
	require.NoError(t, err)
	require.Equal(t, n, m.Stats["rows_in"])
	require.NoError(t, j.Resume())
	require.ErrorContains(t, j.Resume(), "running")
	from := time.Now()
	rowsIn(t, j, n+2000)
	require.LessOrEqual(t, j.Totals().RowsIn-n, int64(float64(time.Since(from)+20*time.Millisecond)/float64(time.Second)*50_000), "it caught up")

	require.NoError(t, j.Pause())
	require.NoError(t, j.Stop(), "a paused job is stopped")
	require.Equal(t, Stopped, j.State())
	at := j.Totals().RowsIn
	require.NoError(t, j.Resume(), "a stopped job goes on")
	require.Equal(t, at, j.Totals().InBefore)
	rowsIn(t, j, at+1000)
	require.NoError(t, j.Stop())
	rows, err := os.ReadFile(filepath.Join(dir, "out.csv"))
	require.NoError(t, err)
	checkCounting(t, rows, j.Totals().RowsIn-j.taken[len(j.taken)-1].FlightRows)
}

// A job that failed goes on from its newest checkpoint.
func TestFailedJobGoesOn(t *testing.T) {
	dir := t.TempDir()
	j := start(t, dir, counting)
	rowsIn(t, j, 500)
	m, err := j.Checkpoint("")
	require.NoError(t, err)
	j.Kill()
	require.Equal(t, Failed, j.State())
	require.NoError(t, j.Resume())
	require.Equal(t, m.ID, j.From().ID)
	require.NoError(t, j.Err())
	require.NoError(t, j.Stop())
}
