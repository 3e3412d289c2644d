package planner

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/sim"
)

// A run that starts afresh after one that was killed, at any operation, adds its rows behind whole ones: what the killed
// run had put into the output in part is completed first.
func TestFreshBehindWholeRows(t *testing.T) {
	rows := make([]string, 60)
	for i := range rows {
		rows[i] = fmt.Sprintf("%d,row %d", i, i)
	}
	killed := errors.New("killed")
	partly := 0
	for n := 1; ; n += 2 {
		s := newSurvivor(t, "csv(\"in.csv\") |> into csv(\"out.csv\", append: true)\n", map[string]string{"in.csv": "n,text\n" + strings.Join(rows, "\n") + "\n"}, nil, 7)
		run := func(fresh bool) error {
			env := exec.OS()
			env.FS, env.Now, env.Stdin, env.Stdout, env.Chunk, env.Inline = s.fs, s.clock.Now, strings.NewReader(""), io.Discard, 100, 3
			env.StepRows = func() int { return 1 + s.rng.IntN(3) }
			c, _, err := Compile("job.ebb", s.script, library(), env, Options{Parallelism: 1})
			require.NoError(t, err)
			l, err := c.Launch("job.ebb", s.script, library(), env, Launch{Dir: "kept", Mode: "unaligned", Interval: 3_000, Fresh: fresh})
			if err != nil {
				return err
			}
			return errors.Join(sim.Run(l.Graph, env, l.Setup, sim.Options{Seed: 3, Clock: s.clock}), l.Close())
		}
		var left atomic.Int64 // some files are written at the same time
		left.Store(int64(n))
		s.fs.Before = func(string, string) error {
			if left.Add(-1) <= 0 {
				return killed
			}
			return nil
		}
		if err := run(false); err == nil {
			break
		}
		s.fs = s.fs.Kill()
		require.NoError(t, run(true), "killed at operation %d", n)
		f, err := s.fs.Open("out.csv")
		require.NoError(t, err)
		b, err := io.ReadAll(f)
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		had := len(lines) - 1 - len(rows)
		require.GreaterOrEqual(t, had, 0, "killed at operation %d: %s", n, b)
		require.Equal(t, append(append([]string{"n,text"}, rows[:had]...), rows...), lines, "killed at operation %d", n)
		if had > 0 && had < len(rows) {
			partly++
		}
	}
	require.Greater(t, partly, 2)
}
