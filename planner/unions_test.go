package planner

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/stdlib"
)

// doubled makes scripts in which each of n steps takes all rows of the step before it twice.
var doubled = map[string]func(i int) string{
	"union": func(i int) string { return fmt.Sprintf("stream a%d = a%d |> union a%d", i, i-1, i-1) },
	"stages": func(i int) string {
		return fmt.Sprintf("stream a%d = a%d |> derive v = v + 1 |> union a%d", i, i-1, i-1)
	},
	"into": func(i int) string { return fmt.Sprintf("a%d |> into a%d\na%d |> into a%d", i-1, i, i-1, i) },
	"tee":  func(i int) string { return fmt.Sprintf("a%d |> tee a%d |> into a%d", i-1, i, i) },
	"split": func(i int) string {
		return fmt.Sprintf("a%d |> split {\n    when v > 1 => a%d\n    else => b%d\n}\nb%d |> into a%d\na%d |> into a%d", i-1, i, i, i, i, i-1, i)
	},
	"errors": func(i int) string {
		return fmt.Sprintf("a%d |> derive x = div(1, v) on_error into e%d |> drop x |> into a%d\na%d |> into a%d", i-1, i, i, i-1, i)
	},
}

// A plan does not double with each stream that is united with itself: sixty times would be more operators than atoms.
func TestUnionsOfUnions(t *testing.T) {
	if testing.Short() { // under the race detector: one goroutine
		t.Skip()
	}
	for name, step := range doubled {
		t.Run(name, func(t *testing.T) {
			ops := map[int]int{}
			for _, n := range []int{30, 60} {
				lines := []string{`stream a0 = rows([{k: "a", v: 1}])`}
				if !strings.HasPrefix(step(1), "stream") {
					lines[0] = `rows([{k: "a", v: 1}]) |> into a0`
				}
				for i := range n {
					lines = append(lines, step(i+1))
				}
				lines = append(lines, fmt.Sprintf("a%d |> aggregate n = count() by k", n))
				c, diags, err := Compile("x.ebb", strings.Join(lines, "\n"), stdlib.New(), exec.OS(), Options{Parallelism: 2})
				require.NoError(t, err)
				require.NotNil(t, c, "%v", diags)
				ops[n] = len(c.Physical.Ops)
				_, err = c.Explain("json")
				require.NoError(t, err)
			}
			for n, made := range ops {
				require.Less(t, made, n*4*mostPlaces)
			}
		})
	}
}

// Streams that are met along more paths than a plan has places for give each row once a path, on time where it was.
func TestRowsOfManyPaths(t *testing.T) {
	const levels = 9 // 512 paths
	files := map[string]string{"e.csv": "id,at\n"}
	for i, s := range []int{1, 5, 3, 12, 2, 14, 25, 24, 4} {
		files["e.csv"] += fmt.Sprintf("%d,2026-01-01T00:00:%02dZ\n", i, s)
	}
	text := "source e = csv(\"e.csv\") schema { id: int, at: time } time at lag 2s\nstream a0 = e |> drop at\n"
	for i := range levels {
		text += doubled["union"](i+1) + "\n"
	}
	for _, z := range []sizes{{parallelism: 1}, {parallelism: 3, chunk: 1, rows: 2, channel: 1}, {parallelism: 4, chunk: 20, rows: 1, channel: 2, sim: 3}} {
		if testing.Short() && z.sim > 0 {
			continue // under the race detector: one goroutine
		}
		dir := t.TempDir()
		writeFiles(t, dir, files)
		got := runIn(t, dir, text+fmt.Sprintf("a%d |> aggregate n = count(), ids = sum(id) window tumbling(10s) late into l\nl |> aggregate late = count(), ids = sum(id)", levels), z, nil)
		require.NoError(t, got.err)
		require.Equal(t, []string{
			`{"late":1024,"ids":6144}`,
			`{"window":{"start":"2026-01-01T00:00:00Z","end":"2026-01-01T00:00:10Z"},"n":1536,"ids":1536}`,
			`{"window":{"start":"2026-01-01T00:00:10Z","end":"2026-01-01T00:00:20Z"},"n":1024,"ids":4096}`,
			`{"window":{"start":"2026-01-01T00:00:20Z","end":"2026-01-01T00:00:30Z"},"n":1024,"ids":6656}`,
		}, got.lines(), z.String())
		got = runIn(t, dir, text+fmt.Sprintf("a%d |> select id", levels), z, nil)
		require.NoError(t, got.err)
		seen := map[string]int{}
		for line := range strings.FieldsSeq(got.stdout) {
			seen[line]++
		}
		require.Len(t, seen, 9)
		for line, n := range seen {
			require.Equal(t, 512, n, line)
		}
	}
}
