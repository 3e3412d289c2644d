package planner

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWindowsBehindASleeper has a source that several tasks make fall idle between its rows, and lets jobs live through crashes at
// changing widths. While the source sleeps nobody else closes a window, so what comes out is what one task makes of it.
func TestWindowsBehindASleeper(t *testing.T) {
	source := `source g = generate({id: "sequence", at: "time", v: "int 1..9"}, count: 80, rate: 1_000, step: 10ms, disorder: 30ms) time at lag 20ms idle 1us
`
	for name, script := range map[string]string{
		"tumbling": `g |> aggregate n = count(), s = sum(id) by v window tumbling(100ms) |> aggregate n = sum(n), s = sum(s), c = count() window hopping(300ms, every: 100ms)`,
		"count":    `g |> aggregate n = count(), s = sum(id) by v window count(1) |> aggregate n = sum(n), s = sum(s) by w = v % 2 window tumbling(50ms)`,
		"session":  `g |> aggregate n = count(), s = sum(id) by v window session(30ms) |> aggregate n = sum(n), s = sum(s), c = count() window tumbling(80ms)`,
		"sort":     `g |> sort by v, id window tumbling(50ms) |> aggregate n = count(), ids = collect(id) window tumbling(100ms)`,
		"union": `stream a = g |> aggregate n = count() by v window tumbling(40ms)
g |> aggregate n = count() by v window count(2) |> union a |> aggregate n = sum(n), c = count() by v window tumbling(120ms)`,
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			for seed := range uint64(5) {
				s := newSurvivor(t, written(source+script), nil, nil, seed)
				for n := 0; ; n++ {
					l := life{width: 1 + s.rng.IntN(4), mode: pick(s.rng, "unaligned", "aligned"), crash: s.rng.IntN(250)}
					if n > 2 || seed == 0 {
						l.crash = 0
					}
					done, err := s.live(l)
					require.NoError(t, err)
					if done {
						break
					}
				}
				if want == nil {
					want = s.net(nil)
					require.NotEmpty(t, want)
				}
				require.Equal(t, want, s.net(nil), "seed %d", seed)
			}
		})
	}
}
