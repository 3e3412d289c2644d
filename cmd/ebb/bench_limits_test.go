package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Limits that hold on any machine: what a run allocates, how much memory it takes, how long it takes to start.

// TestAllocations checks that the work of a row allocates nothing: batches do, so that four times the rows may cost a few
// more objects for each 4,096 of them, but not for each row.
func TestAllocations(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT RUN under -short: under the race detector other things allocate, too; the run without it has it")
	}
	dir := t.TempDir()
	const events = 50_000
	for _, format := range []string{"csv", "jsonl"} {
		small, large := filepath.Join(dir, "small."+format), filepath.Join(dir, "large."+format)
		writeBids(t, events, small)
		writeBids(t, 4*events, large)
		for _, query := range loopQueries {
			t.Run(format+"/"+query, func(t *testing.T) {
				count := func(in string) float64 {
					script := benchQuery(t, query, format, in, filepath.Join(dir, "out."+format))
					runScript(t, script, 1)
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					runScript(t, script, 1)
					runtime.ReadMemStats(&after)
					return float64(after.Mallocs - before.Mallocs)
				}
				perRow := (count(large) - count(small)) / float64(bidsOf(4*events)-bidsOf(events))
				t.Logf("%.4f allocations a row", perRow)
				require.Less(t, perRow, 0.02, "allocations a row")
			})
		}
	}
}

// TestLimits checks the binary as it is given to people.
func TestLimits(t *testing.T) {
	bin := filepath.Join(ebbDir(t), "ebb")
	t.Run("start", func(t *testing.T) { testStart(t, bin) })
	t.Run("memory", func(t *testing.T) { testPeakMemory(t, bin) })
	t.Run("keys", func(t *testing.T) { testKeyMemory(t, bin) })
}

// peakMemory runs a command and returns the most memory that it held at a time, in bytes. What the system counts for a
// child begins with the memory of its parent, so that the process is watched while it runs.
func peakMemory(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	status := func() int {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		if err != nil {
			return 0
		}
		_, rest, _ := bytes.Cut(text, []byte("VmHWM:"))
		kib, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
		n, _ := strconv.Atoi(string(kib))
		return n << 10
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	peak := 0
	for {
		select {
		case err := <-done:
			require.NoError(t, err, out.String())
			require.NotZero(t, peak)
			return peak
		case <-time.After(2 * time.Millisecond):
			peak = max(peak, status())
		}
	}
}

func linuxOnly(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("memory is read from /proc, which is not here")
	}
}

// testPeakMemory checks that a script without groups holds at most 256 MiB, however long its input is.
func testPeakMemory(t *testing.T, bin string) {
	linuxOnly(t)
	dir := t.TempDir()
	in := filepath.Join(dir, "bid.csv")
	writeBids(t, 1_700_000, in) // 270 MB
	for _, query := range []string{"q0", "q21"} {
		t.Run(query, func(t *testing.T) {
			out := filepath.Join(dir, "out.csv")
			peak := peakMemory(t, exec.Command(bin, "run", "-c", benchQuery(t, query, "csv", in, out), "--set", "events=0"))
			t.Logf("%d MiB", peak>>20)
			require.LessOrEqual(t, peak>>20, 256, "MiB")
			require.NoError(t, os.Remove(out))
		})
	}
}

// testKeyMemory checks that a count of each int key takes at most 100 bytes a key.
func testKeyMemory(t *testing.T, bin string) {
	linuxOnly(t)
	dir := t.TempDir()
	in := filepath.Join(dir, "keys.csv")
	const few, many = 1_000_000, 5_000_000
	text := []byte("k\n")
	for i := range many {
		text = append(strconv.AppendInt(text, int64(i)*7919, 10), '\n')
	}
	peak := func(keys int) int {
		end := 2
		for range keys {
			end += bytes.IndexByte(text[end:], '\n') + 1
		}
		require.NoError(t, os.WriteFile(in, text[:end], 0o666))
		script := fmt.Sprintf("csv(%q) schema { k: int } |> aggregate n = count() by k |> where n > 1 |> into csv(%q)", in, filepath.Join(dir, "out.csv"))
		return peakMemory(t, exec.Command(bin, "run", "-c", script))
	}
	a, b := peak(few), peak(many)
	perKey := float64(b-a) / (many - few)
	t.Logf("%d MiB for %d keys, %d MiB for %d: %.0f bytes a key", a>>20, few, b>>20, many, perKey)
	require.LessOrEqual(t, perKey, 100.0, "bytes a key")
}

// testStart checks how long the binary takes for next to nothing, and how large it is.
func testStart(t *testing.T, bin string) {
	dir := t.TempDir()
	info, err := os.Stat(bin)
	require.NoError(t, err)
	t.Logf("%.1f MiB", float64(info.Size())/(1<<20))
	require.LessOrEqual(t, info.Size()>>20, int64(25), "MiB of the binary")

	in := filepath.Join(dir, "ten.csv")
	require.NoError(t, os.WriteFile(in, []byte("n\n"+strings.Repeat("1\n", 10)), 0o666))
	within := func(limit time.Duration, args ...string) {
		if !*speed {
			limit *= 5 // whatever else the machine does
		}
		best := time.Hour
		for i := 0; i < 200 && (best > limit || i < 20); i++ {
			cmd := exec.Command(bin, args...)
			start := time.Now()
			out, err := cmd.CombinedOutput()
			best = min(best, time.Since(start))
			require.NoError(t, err, string(out))
		}
		t.Logf("ebb %s: %v", args[0], best)
		require.LessOrEqual(t, best, limit, "ebb %s", args[0])
	}
	within(10*time.Millisecond, "version")
	within(30*time.Millisecond, "run", "-c", fmt.Sprintf("csv(%q) |> where n > 0", in))
}
