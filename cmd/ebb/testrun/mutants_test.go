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
	noticed := map[string][]string{
		script: {"forget-taken", "forget-end", "forget-queued", "record-beyond-mark", "run-over-mark", "never-aligned", "old-end-early", "mark-first-edge", "old-unmarked",
			"forget-feed", "reached-drops-cuts", "restore-loses-last", "restore-twice", "keys-off-by-one", "merge-first-only", "feed-not-restored", "first-task-only",
			"reuse-id", "no-fsync", "own-everything", "mark-early", "source-runs-on", "forget-old-flight", "publish-incomplete"},
		idle: {"forget-gate-watermark", "watermark-of-the-fastest", "old-watermark-unmerged", "forget-ended"},
	}
	for text, names := range noticed {
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				fault.Name = ""
				require.Zero(t, run(t, text, Options{}).Failed())
				fault.Name = name
				r := run(t, text, Options{Chaos: 150, Seed: 1})
				require.Equal(t, 1, r.Failed(), "hits: %d", fault.Hits.Load())
			})
		}
	}
}
