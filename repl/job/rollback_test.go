package job

import (
	"compress/gzip"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/planner"
)

// outputs returns the visible files of a folder, but for the checkpoints.
func outputs(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.IsDir() && d.Name() == "cp" {
				return filepath.SkipDir
			}
			return err
		}
		if strings.HasPrefix(d.Name(), ".") || strings.HasSuffix(d.Name(), ".lock") {
			return nil
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out[name] = string(data)
		return err
	}))
	return out
}

// threeSinks writes a paced stream to a csv file, a folder of jsonl files and a gzip file, the last with state.
const threeSinks = `source s = generate({id: "sequence", k: "int 0..9", at: "time"}, count: 240_000, rate: 200_000, step: 1ms, seed: 7) time at
s |> select id, k |> into csv("%[1]s/all.csv")
s |> where k < 5 |> select id, k |> into jsonl("%[1]s/parts", partition_by: k)
s |> aggregate n = count(), top = max(id) by k window tumbling(1s) |> into csv("%[1]s/windows.csv.gz")
`

// A job under load goes back: its outputs are byte for byte those of the checkpoint, and what it then writes is what a
// job writes that nobody disturbs.
func TestRollbackUnderLoad(t *testing.T) {
	calm := t.TempDir()
	j := start(t, calm, threeSinks)
	<-j.Done()
	require.NoError(t, j.Err())
	want := outputs(t, calm)
	require.Greater(t, len(want["all.csv"]), 2_000_000)
	require.Len(t, want, 7)

	dir := t.TempDir()
	j = start(t, dir, threeSinks)
	rowsIn(t, j, 60_000)
	first, err := j.Checkpoint("first")
	require.NoError(t, err)
	at := map[checkpoint.ID]map[string]string{first.ID: outputs(t, dir)}
	rowsIn(t, j, 120_000)
	second, err := j.Checkpoint("second")
	require.NoError(t, err)
	at[second.ID] = outputs(t, dir)
	require.NotEqual(t, at[first.ID], at[second.ID])
	rowsIn(t, j, 150_000)

	plan, err := j.PlanRollback(first.ID)
	require.NoError(t, err)
	require.Equal(t, second.ID, plan.Head)
	require.InDelta(t, 90_000, plan.Rows, 50_000)
	require.NotEmpty(t, plan.Outputs)
	require.Negative(t, plan.Sources[0].Rows)
	require.Equal(t, Running, j.State())

	for _, to := range []checkpoint.ID{first.ID, second.ID, first.ID} { // back, forward to the branch that was left, and back again
		done, err := j.Rollback(to, true)
		require.NoError(t, err)
		t.Logf("rollback to checkpoint %d took %v, %d rows in flight put back", to, done.Took, done.Flight)
		require.Less(t, done.Took, 20*time.Second) // 0.2 s on an idle machine
		require.Equal(t, Paused, j.State())
		require.Equal(t, at[to], outputs(t, dir))
		require.Equal(t, done.To.Stats["rows_in"], j.Totals().RowsIn)
		require.Equal(t, to, j.Totals().Checkpoint)
		time.Sleep(20 * time.Millisecond)
		require.Equal(t, at[to], outputs(t, dir), "it stands still")
	}
	third, err := j.Checkpoint("at-once")
	require.NoError(t, err)
	require.Greater(t, third.ID, second.ID)
	require.Equal(t, first.Stats["rows_in"], third.Stats["rows_in"])
	require.NoError(t, j.Resume())
	rowsIn(t, j, 100_000)
	_, err = j.Rollback(third.ID, false)
	require.NoError(t, err)
	require.Equal(t, Running, j.State())
	<-j.Done()
	require.NoError(t, j.Err())
	require.Equal(t, Finished, j.State())
	same(t, want, outputs(t, dir))

	// What is over goes back, too.
	_, err = j.Rollback(second.ID, true)
	require.NoError(t, err)
	require.Equal(t, at[second.ID], outputs(t, dir))
	require.NoError(t, j.Resume())
	<-j.Done()
	same(t, want, outputs(t, dir))
}

// What cannot be done is refused, and the job goes on as before.
func TestRollbackIsRefused(t *testing.T) {
	dir := t.TempDir()
	j := start(t, dir, counting)
	refused := func(id checkpoint.ID, text string) {
		t.Helper()
		var r *planner.RefusedError
		_, err := j.PlanRollback(id)
		require.ErrorAs(t, err, &r)
		require.ErrorContains(t, err, text)
		_, err = j.Rollback(id, true)
		require.ErrorAs(t, err, &r)
		require.ErrorContains(t, err, text)
		require.Equal(t, Running, j.State())
		n := j.Totals().RowsIn
		rowsIn(t, j, n+200)
	}
	refused(1, "checkpoint 1")
	a, err := j.Checkpoint("")
	require.NoError(t, err)
	b, err := j.Checkpoint("")
	require.NoError(t, err)
	refused(99, "99")
	require.NoError(t, j.Delete(a.ID))
	refused(a.ID, "checkpoint 1")

	// a fresh start lies between
	require.NoError(t, j.Stop())
	j = start(t, dir, counting, func(o *Options) { o.Launch.Fresh = true })
	rowsIn(t, j, 300)
	c, err := j.Checkpoint("")
	require.NoError(t, err)
	refused(b.ID, "fresh start")

	// somebody else has changed the output
	rowsIn(t, j, 1000)
	_, err = j.Checkpoint("")
	require.NoError(t, err)
	require.NoError(t, os.Truncate(filepath.Join(dir, "out.csv"), 10))
	refused(c.ID, "somebody else has changed it")
}

// A job without checkpoints is not rolled back.
func TestRollbackWithoutCheckpoints(t *testing.T) {
	j := start(t, t.TempDir(), counting, func(o *Options) { o.Launch.Mode = "none" })
	_, err := j.Rollback(1, false)
	require.ErrorContains(t, err, "takes no checkpoints")
	require.Equal(t, Running, j.State())
}

// Damage in a checkpoint is found before anything is stopped.
func TestRollbackToADamagedCheckpoint(t *testing.T) {
	dir := t.TempDir()
	j := start(t, dir, threeSinks)
	rowsIn(t, j, 30_000)
	m, err := j.Checkpoint("")
	require.NoError(t, err)
	_, err = j.Checkpoint("")
	require.NoError(t, err)
	var ref checkpoint.Ref
	m.Refs(func(r checkpoint.Ref) {
		if r.Length > ref.Length {
			ref = r
		}
	})
	segments, _ := filepath.Glob(filepath.Join(dir, "cp", "*"))
	broken := false
	for _, s := range segments {
		f, err := os.OpenFile(s, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > int64(ref.Offset)+int64(ref.Length) {
			one := make([]byte, 1)
			at := int64(ref.Offset) + int64(ref.Length)/2
			f.ReadAt(one, at)
			one[0] ^= 0x40
			f.WriteAt(one, at)
			broken = true
		}
		f.Close()
	}
	require.True(t, broken)
	_, err = j.Rollback(m.ID, true)
	var r *planner.RefusedError
	require.ErrorAs(t, err, &r)
	require.ErrorContains(t, err, "damaged")
	n := j.Totals().RowsIn
	require.Equal(t, Running, j.State())
	rowsIn(t, j, n+200)
}

// A rollback while a checkpoint is under way.
func TestRollbackMeetsACheckpoint(t *testing.T) {
	dir := t.TempDir()
	j := start(t, dir, counting)
	rowsIn(t, j, 500)
	m, err := j.Checkpoint("")
	require.NoError(t, err)
	for range 20 {
		answer := make(chan error, 1)
		go func() {
			_, err := j.Checkpoint("")
			answer <- err
		}()
		time.Sleep(time.Duration(time.Now().UnixNano()%3) * time.Millisecond)
		_, err := j.Rollback(m.ID, false)
		require.NoError(t, err)
		select {
		case <-answer:
		case <-time.After(time.Minute):
			t.Fatal("whoever asked for a checkpoint waits for ever")
		}
	}
	n := j.Totals().RowsIn
	rowsIn(t, j, n+1000)
	require.NoError(t, j.Stop())
	rows, err := os.ReadFile(filepath.Join(dir, "out.csv"))
	require.NoError(t, err)
	checkCounting(t, rows, j.Totals().RowsIn-j.taken[len(j.taken)-1].FlightRows)
}

// same compares outputs by their rows: a gzip file has a member for each checkpoint.
func same(t *testing.T, want, got map[string]string) {
	t.Helper()
	require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)))
	for name := range want {
		a, b := rowsOf(t, name, want[name]), rowsOf(t, name, got[name])
		require.Equal(t, len(a), len(b), "rows of %s", name)
		for i := range a {
			require.Equal(t, a[i], b[i], "row %d of %s", i, name)
		}
	}
}

func rowsOf(t *testing.T, name, text string) []string {
	t.Helper()
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(strings.NewReader(text))
		require.NoError(t, err)
		data, err := io.ReadAll(z)
		require.NoError(t, err)
		rows := strings.Split(string(data), "\n") // of several tasks
		slices.Sort(rows)
		return rows
	}
	return strings.Split(text, "\n")
}
