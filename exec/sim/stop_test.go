package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStops ends a run with a final checkpoint again and again, at other widths; the last life goes on to the end.
func TestStops(t *testing.T) {
	for name, script := range jobs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peace := newWorld(t, script, 0, inputs())
			_, err := peace.run(life{width: 1, rows: 1000})
			require.NoError(t, err)
			for seed := uint64(*first); seed < uint64(*seeds); seed++ {
				w := newWorld(t, script, seed, inputs())
				for n := range 4 {
					l := life{seed: seed<<8 + uint64(n), width: 1 + w.rng.IntN(3), mode: []string{"auto", "aligned", "unaligned"}[w.rng.IntN(3)],
						interval: int64(20_000 + w.rng.IntN(2_000_000)), open: 1 + w.rng.IntN(3), rows: 1 << w.rng.IntN(8)}
					if n < 3 {
						l.stop = 1 + w.rng.IntN(2000)
					}
					_, err := w.run(l)
					require.NoError(t, err, "seed %d, life %d: %+v", seed, n, l)
				}
				for _, file := range []string{"out.csv", "late.jsonl"} {
					if d := difference(peace.output(file), w.output(file)); d != "" {
						t.Errorf("seed %d: %s:%s", seed, file, d)
					}
				}
			}
		})
	}
}
