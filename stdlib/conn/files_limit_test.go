package conn

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/stdlib/spec"
	"github.com/stretchr/testify/require"
)

// A limit stops the reading of a file, whatever the number of tasks; rows that fail do not count.
func TestFilesLimit(t *testing.T) {
	if testing.Short() { // under the race detector: one goroutine
		t.Skip()
	}
	var text strings.Builder
	text.WriteString("n,s\n")
	for i := range 20_000 {
		switch i % 2 {
		case 0:
			fmt.Fprintf(&text, "%d,x\n", i)
		default:
			text.WriteString("bad,x\n")
		}
	}
	files := map[string]string{"a.csv": text.String(), "b.csv": "n,s\n7,y\n", "a.csv.gz": gzipped(t, text.String())}
	paths := []any{"a.csv", []any{"a.csv.gz", "b.csv"}, "a.csv.gz", []any{"a.csv", "b.csv"}}
	limits := []int64{10, 9_999, 1 << 40, 1, 1000}
	for _, path := range paths {
		r := read{args: map[string]any{"path": path}, schema: numberSchema, time: "n"}
		all := r.run(t, memEnv(files), openCSV(1000))
		require.NoError(t, all.err)
		for _, limit := range limits {
			for width := 1; width <= 3; width++ {
				r.limited = true
				r.width, r.shuffle = width, rand.New(rand.NewPCG(uint64(limit), uint64(width)))
				g := r.run(t, memEnv(files), func(s *spec.Scan) ([]exec.Source, error) {
					s.Limit = limit
					return openCSV(1000)(s)
				})
				require.NoError(t, g.err)
				want := min(limit, int64(len(all.rows)))
				require.GreaterOrEqual(t, int64(len(g.rows)), want, "%v %d %d", path, limit, width)
				require.Equal(t, all.rows[:want], g.rows[:want])
				if path == "a.csv" && limit <= 1000 {
					require.Less(t, int64(len(g.rows)), limit+200, "%v %d %d", path, limit, width)
				}
			}
		}
	}
}
