//go:build mutants

package testrun

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint/fault"
)

// TestChaosNoticesFaults switches faults of the engine on: the storms over a good test must fail.
func TestChaosNoticesFaults(t *testing.T) {
	defer func() { fault.Name = "" }()
	for _, name := range []string{"forget-feed", "feed-not-restored", "restore-loses-last", "merge-first-only", "own-everything",
		"forget-end", "first-task-only", "run-over-mark", "no-fsync"} {
		t.Run(name, func(t *testing.T) {
			fault.Name = ""
			require.Zero(t, run(t, script, Options{}).Failed())
			fault.Name = name
			r := run(t, script, Options{Chaos: 150, Seed: 1})
			require.Equal(t, 1, r.Failed(), "hits: %d", fault.Hits.Load())
		})
	}
}
