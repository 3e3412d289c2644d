package job

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// start runs a script whose outputs and checkpoints lie in a folder; %s in the text is the folder.
func start(t *testing.T, dir, text string, change ...func(*Options)) *Job {
	t.Helper()
	o := Options{Name: "test.ebb", Text: fmt.Sprintf(text, dir), Lib: stdlib.New(), Env: exec.OS(), Plan: planner.Options{Parallelism: 2},
		Launch: planner.Launch{Dir: filepath.Join(dir, "cp"), Interval: int64(time.Hour)}}
	for _, c := range change {
		c(&o)
	}
	j, err := Start(context.Background(), o)
	require.NoError(t, err)
	t.Cleanup(func() { j.Kill() })
	return j
}

// rowsIn waits until a job has read so many rows.
func rowsIn(t *testing.T, j *Job, n int64) {
	t.Helper()
	require.Eventually(t, func() bool { return j.Totals().RowsIn >= n }, time.Minute, time.Millisecond)
}

const counting = `generate({i: "sequence"}, count: 100_000_000, rate: 50_000) |> select i, k = i %% 7 |> into csv("%[1]s/out.csv")`

func TestJobRunsAndStops(t *testing.T) {
	dir := t.TempDir()
	j := start(t, dir, counting)
	require.Equal(t, Running, j.State())
	rowsIn(t, j, 1000)
	m, err := j.Checkpoint("here")
	require.NoError(t, err)
	require.Equal(t, "here", m.Name)
	at, err := os.ReadFile(filepath.Join(dir, "out.csv"))
	require.NoError(t, err)
	require.Greater(t, len(at), 1000)
	require.Equal(t, m.ID, j.Totals().Checkpoint)
	for _, name := range []string{"here", "no spaces", "17"} { // a name is no reason to end a run
		_, err = j.Checkpoint(name)
		require.ErrorContains(t, err, name)
		<-j.run.exec.Checkpoint(name)
		require.Equal(t, Running, j.State())
	}
	require.NoError(t, j.Stop())
	took := j.Totals().For
	time.Sleep(time.Millisecond)
	require.Equal(t, took, j.Totals().For)
	require.Equal(t, Stopped, j.State())
	require.ErrorContains(t, j.Stop(), "stopped already")
	_, err = j.Checkpoint("")
	require.ErrorContains(t, err, "stopped")

	again := start(t, dir, counting)
	require.Greater(t, again.From().ID, m.ID)
	require.GreaterOrEqual(t, again.Totals().RowsIn, j.Totals().RowsIn)
	again.Kill()
	require.Equal(t, Failed, again.State())
}

func TestScriptThatIsWrong(t *testing.T) {
	_, err := Start(context.Background(), Options{Name: "x", Text: "csv(", Lib: stdlib.New(), Env: exec.OS()})
	var s *ScriptError
	require.ErrorAs(t, err, &s)
}

// checkCounting checks that the output of counting has each of so many rows once, in order.
func checkCounting(t *testing.T, file []byte, rows int64) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(string(file)), "\n")[1:]
	require.Equal(t, int(rows), len(lines), "rows in the output")
	first, _, _ := strings.Cut(lines[0], ",")
	from, err := strconv.ParseInt(first, 10, 64)
	require.NoError(t, err)
	for i, line := range lines {
		require.Equal(t, fmt.Sprintf("%d,%d", int64(i)+from, (int64(i)+from)%7), line)
	}
}
