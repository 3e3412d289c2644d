package job

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/planner"
)

// stepped is a bounded script with an exchange, windows, a last result and partitions; %[2]s is its pace.
const stepped = `source s = generate({id: "sequence", k: "int 0..9", at: "time"}, count: 3_000, %[2]s step: 10ms, seed: 7) time at
s |> select id, k |> into csv("%[1]s/all.csv")
s |> where k < 5 |> select id, k |> into jsonl("%[1]s/parts", partition_by: k)
stream w = s |> aggregate n = count(), top = max(id) by k window tumbling(1s)
w |> into csv("%[1]s/windows.csv")
stream c = s |> aggregate n = count(), last = max(id) by k emit final
c |> into jsonl("%[1]s/all.jsonl")
`

// Who steps through a whole input, at any stage, by rows or by batches, with checkpoints in between and a rollback, gets the
// outputs of a run that nobody disturbs.
func TestStepsToTheEnd(t *testing.T) {
	calm := t.TempDir()
	j := start(t, calm, "// %s\n"+fmt.Sprintf(stepped, calm, ""))
	<-j.Done()
	require.NoError(t, j.Err())
	want := sorted(outputs(t, calm))
	for _, c := range []struct {
		stage, paced string
		rows, width  int
	}{{"w", "", 4096, 2}, {"w", "rate: 3000,", 100, 1}, {"c", "", 7, 3}, {"s", "rate: 5000,", 64, 2}, {"w/aggregate", "", 1, 2}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			dir := t.TempDir()
			j := start(t, dir, "// %s\n"+fmt.Sprintf(stepped, dir, c.paced), func(o *Options) { o.Plan.Parallelism = c.width; o.Paused = true })
			p, err := j.Passage(c.stage)
			require.NoError(t, err)
			rng := rand.New(rand.NewPCG(uint64(c.rows), 1))
			rolled := false
			for k := 0; ; k++ {
				passed, err := j.Step(p, Step{Rows: c.rows, Patience: 10 * time.Second})
				if errors.Is(err, exec.ErrStageEnded) {
					break
				}
				require.NoError(t, err)
				require.NotEmpty(t, passed)
				for _, x := range passed {
					if !x.Out && x.Item.Kind == exec.Rows {
						require.LessOrEqual(t, x.Item.Batch.Rows(), max(c.rows*2, 64))
					}
				}
				if state := j.State(); state.Over() {
					break
				}
				require.Equal(t, Paused, j.State())
				if rng.IntN(100) == 0 {
					_, err := j.Checkpoint("")
					require.NoError(t, err)
				}
				if k == 30 && !rolled {
					rolled = true
					m, err := j.Checkpoint("")
					require.NoError(t, err)
					for range 5 {
						_, err := j.Step(p, Step{Rows: c.rows, Patience: 10 * time.Second})
						if !errors.Is(err, exec.ErrStageEnded) {
							require.NoError(t, err)
						}
					}
					if !j.State().Over() {
						_, err = j.Rollback(m.ID, true)
						require.NoError(t, err)
					}
				}
			}
			if !j.State().Over() {
				require.NoError(t, j.Resume())
			}
			<-j.Done()
			require.NoError(t, j.Err())
			same(t, want, sorted(outputs(t, dir)))
		})
	}
}

// sorted puts the rows of outputs in order: those of several tasks come in any.
func sorted(out map[string]string) map[string]string {
	for name, text := range out {
		rows := strings.Split(text, "\n")
		slices.Sort(rows)
		out[name] = strings.Join(rows, "\n")
	}
	return out
}

// What cannot be stepped is refused.
func TestStepIsRefused(t *testing.T) {
	dir := t.TempDir()
	j := start(t, dir, counting)
	p, err := j.Passage("")
	require.NoError(t, err)
	_, err = j.Step(p, Step{Rows: 1, Patience: time.Second})
	require.ErrorContains(t, err, "the job is running")
	_, err = j.Passage("nonsense")
	require.ErrorContains(t, err, `no stage "nonsense"; it has `)
	require.NoError(t, j.Pause())
	_, err = j.Step(&planner.Passage{Parts: []planner.PassagePart{{ID: "x"}}}, Step{Rows: 1, Patience: time.Second})
	require.ErrorIs(t, err, exec.ErrNoStage)
	n := j.Totals().RowsOut
	for range 10 {
		_, err = j.Step(p, Step{Rows: 1, Patience: 5 * time.Second})
		require.NoError(t, err)
	}
	require.LessOrEqual(t, j.Totals().RowsOut-n, int64(10*4096))
	stop := make(chan struct{})
	close(stop)
	_, err = j.Step(p, Step{Rows: 1, Patience: time.Minute, Stop: stop})
	require.ErrorIs(t, err, exec.ErrNothingPassed)
	j.Kill()
	_, err = j.Step(p, Step{Rows: 1})
	require.ErrorContains(t, err, "failed")
}
