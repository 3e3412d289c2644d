package inspect

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/repl/job"
	"github.com/ebb-lang/ebb/stdlib"
)

// A state that cannot be looked at after every row within the time for it is looked at now and then: what has become true
// and stays so is found to the row, what was true for a moment may be missed, and both are said to be coarse.
func TestBisectCoarsely(t *testing.T) {
	dir := t.TempDir()
	const rows, odd = 3 * vec.MaxRows, 2*vec.MaxRows + 333
	var in strings.Builder
	in.WriteString("k,n\n")
	for i := range rows {
		n := i + 1
		if n == odd {
			n = 1_000_000
		}
		fmt.Fprintf(&in, "%d,%d\n", i%10, n)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "in.csv"), []byte(in.String()), 0o644))
	lib, cp := stdlib.New(), filepath.Join(dir, "cp")
	j, err := job.Start(context.Background(), job.Options{Name: "test.ebb", Lib: lib, Env: exec.OS(), Plan: planner.Options{Parallelism: 1}, Paused: true,
		Launch: planner.Launch{Dir: cp, Interval: int64(time.Hour)},
		Text: fmt.Sprintf(`source s = csv("%[1]s/in.csv", follow: true) schema { k: int, n: int }
stream totals = s |> aggregate c = count(), top = max(n) by k emit changes
totals |> into jsonl("%[1]s/out.jsonl", changes: true)`, dir)})
	require.NoError(t, err)
	defer j.Kill()
	_, err = j.Checkpoint("a")
	require.NoError(t, err)
	require.NoError(t, j.Resume())
	require.Eventually(t, func() bool { t := j.Totals(); return t.RowsIn == rows && t.FlightRows == 0 }, time.Minute, time.Millisecond)
	_, err = j.Checkpoint("b")
	require.NoError(t, err)
	require.NoError(t, j.Stop())

	f, err := Open(cp)
	require.NoError(t, err)
	defer f.Close()
	var ends [2]checkpoint.Info
	for k, name := range []string{"a", "b"} {
		ends[k], err = f.Find(name)
		require.NoError(t, err)
	}
	bisect := func(condition string) *Bisected {
		b, err := f.Bisect(ends[0], ends[1], "", condition, lib)
		require.NoError(t, err)
		return b
	}
	const lasting, brief = "top > 999_999", "c == 100 and k == 5"
	defer func(d time.Duration) { exactTime = d }(exactTime)
	exactTime = time.Hour
	b := bisect(brief)
	require.True(t, b.Found && !b.Coarse)
	require.EqualValues(t, 996, b.Row)
	exactTime = 0
	b = bisect(lasting)
	require.True(t, b.Found && b.Coarse)
	require.EqualValues(t, odd, b.Row)
	require.Equal(t, 1, b.Many)
	require.Contains(t, b.Text, `"n":1000000`)
	require.Equal(t, 1, b.Hit.N)
	b = bisect(brief)
	require.True(t, b.Coarse)
	require.False(t, b.Found)
}
