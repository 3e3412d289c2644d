package sim_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/sim"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// TestMain lets the collector come more seldom: stories keep little, and most of what they make is garbage at once.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// scripts are plans of every shape: fan-out, unions, exchanges, windows, late rows, limits.
var scripts = map[string]string{
	"rows":     `nexmark("bid", events: 20_000) |> where price % 7 == 1 |> select auction, price`,
	"limit":    `nexmark("bid") |> where price > 1000 |> limit 100 |> aggregate n = count(), s = sum(price)`,
	"keyed":    `nexmark("bid", events: 20_000) |> aggregate n = count(), s = sum(price), who = distinct(bidder) by auction`,
	"windowed": `nexmark("bid", events: 20_000) |> aggregate n = count() by bidder window hopping(1s, every: 200ms)`,
	"late": `source b = nexmark("bid", events: 20_000, disorder: 977) time date_time lag 10ms
b |> aggregate n = count() by channel window tumbling(100ms) late into behind
behind |> aggregate late = count(), s = sum(price)`,
	"session":    `nexmark("bid", events: 20_000) |> aggregate n = count(), first = min(price) by bidder window session(50ms)`,
	"global":     `nexmark("bid", events: 20_000) |> aggregate n = count(), m = median(price)`,
	"two levels": `nexmark("bid", events: 20_000) |> aggregate top = max(price) by auction, bidder |> aggregate a = avg(top), n = count() by auction |> where n > 3`,
	"fan": `stream b = nexmark("bid", events: 5_000)
stream dear = b |> where price > 1_000_000 |> select auction, tag = "dear"
stream odd = b |> where auction % 2 == 1 |> select auction, tag = "odd"
dear |> union odd |> aggregate n = count() by auction, tag |> sort by auction, tag`,
	"split": `nexmark("bid", events: 5_000) |> split {
    when price > 1_000_000 => dear
    when price > 10_000 => fair
    else => cheap
}
dear |> select price, c = 1 |> into all
fair |> select price, c = 2 |> into all
cheap |> select price, c = 3 |> into all
all |> aggregate n = count(), s = sum(price) by c`,
}

// TestScheduleDoesNotMatter runs each script under many schedules, at several widths, and wants the same rows.
func TestScheduleDoesNotMatter(t *testing.T) {
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want string
			for seed := range some(20) {
				width := []int{1, 2, 3, 5}[seed%4]
				got := result(t, script, width, seed)
				if want == "" {
					want = got
					require.NotEmpty(t, want)
				}
				require.Equal(t, want, got, "go test ./exec/sim -run %q -seeds %d # width %d, seed %d", t.Name(), seed+1, width, seed)
			}
		})
	}
}

func result(t *testing.T, script string, width int, seed uint64) string {
	env := exec.OS()
	var out bytes.Buffer
	env.Stdout = &out
	c, diags, err := planner.Compile("sim.ebb", script, stdlib.New(), env, planner.Options{Parallelism: width,
		Print: &types.ConnArgs{Name: "console", Args: map[string]any{"format": "jsonl"}}})
	require.NoError(t, err)
	require.NotNil(t, c, "%v", diags)
	require.NoError(t, sim.Run(c.Graph(stdlib.New(), env), env, exec.Setup{}, sim.Options{Seed: seed}))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	sort.Strings(lines)
	return fmt.Sprintf("%d rows\n%s\nlate %d", len(lines), strings.Join(lines, "\n"), env.Stats.Late.Load())
}

// TestFilesKeepTheirOrder copies a file through many schedules: the copy is the file.
func TestFilesKeepTheirOrder(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString("n,s\n")
	for i := range 60_000 {
		fmt.Fprintf(&text, "%d,%s\n", i, strings.Repeat("x", 1+i%97))
	}
	in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.csv")
	require.NoError(t, os.WriteFile(in, []byte(text.String()), 0o666))
	for seed := range uint64(8) {
		env := exec.OS()
		script := fmt.Sprintf("csv(%q) schema { n: int, s: string } |> where n >= 0 |> into csv(%q)", in, out)
		c, diags, err := planner.Compile("sim.ebb", script, stdlib.New(), env, planner.Options{Parallelism: 1 + int(seed%5)})
		require.NoError(t, err)
		require.NotNil(t, c, "%v", diags)
		require.NoError(t, sim.Run(c.Graph(stdlib.New(), env), env, exec.Setup{}, sim.Options{Seed: seed}))
		got, err := os.ReadFile(out)
		require.NoError(t, err)
		require.True(t, text.String() == string(got), "seed %d", seed)
	}
}
