package repl

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/repl/inspect"
	"github.com/ebb-lang/ebb/repl/job"
)

// Rates are what has passed in the last three seconds, of the job and of each stage; what a run before has counted is no
// part of them.
func TestMeter(t *testing.T) {
	var m meter
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	take := func(in, out, took int64) {
		at = at.Add(sampled)
		m.take(sampleOf(at, job.Totals{RowsIn: in, RowsOut: out}, []exec.StageCount{{ID: "a", In: took, Out: 2 * took}}))
	}
	take(1000, 10, 1000)
	whole, stages := m.rates()
	require.Zero(t, whole)
	require.Empty(t, stages)
	for i := range int64(20) {
		take(1000+100*i, 10+i, 1000+50*i)
	}
	whole, stages = m.rates()
	require.Equal(t, inspect.Rates{In: 400, Out: 4}, whole)
	require.Equal(t, map[string]inspect.Rates{"a": {In: 200, Out: 400}}, stages)
	// A rollback: the totals go back, those of stages begin anew.
	take(1500, 15, 0)
	take(1600, 16, 50)
	whole, stages = m.rates()
	require.Equal(t, inspect.Rates{In: 400, Out: 4}, whole)
	require.Equal(t, inspect.Rates{In: 200, Out: 400}, stages["a"])
	for range looked { // nothing passes any more
		take(1600, 16, 50)
	}
	whole, stages = m.rates()
	require.Zero(t, whole)
	require.Zero(t, stages["a"])
}
