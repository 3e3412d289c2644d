package planner

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// TestRun runs the scripts of the golden files at every size of the matrix: all must give the same rows.
//
//	file NAME          writes an input; `set` holds params
//	run [ordered] [changes] [large] [at=N] [k=v …]   runs a script; rows are compared sorted unless `ordered`; with `changes` the printed
//	                   changelog is folded to the rows that remain; `at=1` runs at parallelism 1
//	                   only, `large` at a few larger sizes
//
// The golden text is what was printed, the files that were made, the counts of late and failed rows, and the error.
func TestRun(t *testing.T) {
	datadriven.Walk(t, "testdata_run", func(t *testing.T, path string) {
		t.Parallel()
		dir, files := t.TempDir(), map[string]string{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "file":
				name, text := d.CmdArgs[0].Key, fileText(d.Input)
				files[name] = text
				writeFiles(t, dir, map[string]string{name: text})
				return ""
			case "run":
				return runMatrix(t, d, dir, files)
			}
			return fmt.Sprintf("unknown command %q", d.Cmd)
		})
	})
}

// fileText is an input as it stands in a golden file: `\r`, `\0` and `\e` (an empty line) are written so.
func fileText(s string) string {
	if s == "" {
		return ""
	}
	return strings.NewReplacer(`\r`, "\r", `\0`, "\x00", `\e`, "").Replace(s) + "\n"
}

// large are the sizes for scripts over many rows.
var large = []sizes{{parallelism: 1}, {parallelism: 3}, {parallelism: 5, rows: 700, channel: 900}}

// runMatrix runs a script over the files of a folder, which is left as it was.
func runMatrix(t *testing.T, d *datadriven.TestData, dir string, files map[string]string) string {
	set, ordered, changes, only, list := map[string]string{}, false, false, 0, matrix
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "ordered":
			ordered = true
		case "changes":
			changes = true
		case "large":
			list = large
			if testing.Short() {
				list = large[:2]
			}
		case "at":
			_, err := fmt.Sscan(a.Vals[0], &only)
			require.NoError(t, err)
		default:
			set[a.Key] = a.Vals[0]
		}
	}
	var want string
	for i, z := range list {
		if only > 0 && (z.parallelism != only || z.rows > 0) {
			continue
		}
		r := runIn(t, dir, d.Input, z, set)
		got := show(t, dir, files, r, ordered, changes)
		removeOutputs(t, dir, files)
		if i == 0 {
			want = got
		}
		if got != want {
			return fmt.Sprintf("at %v:\n%s\nbut at %v:\n%s", list[0], want, z, got)
		}
		if r.refused != "" {
			break
		}
	}
	return want
}

// show is the golden text of a run.
func show(t *testing.T, dir string, files map[string]string, r ran, ordered, changes bool) string {
	if r.refused != "" {
		return r.refused
	}
	var s strings.Builder
	put := func(text string, ordered bool) {
		if !ordered {
			text = strings.Join(sorted(text), "\n")
		}
		if text = strings.TrimSuffix(text, "\n"); text != "" {
			s.WriteString(text + "\n")
		}
	}
	if changes {
		for _, row := range fold(t, r.stdout) {
			s.WriteString(row + "\n")
		}
	} else {
		put(r.stdout, ordered)
	}
	made := outputs(t, dir, files)
	for _, name := range slices.Sorted(maps.Keys(made)) {
		fmt.Fprintf(&s, "-- %s\n", name)
		text := made[name]
		if head, rest, ok := strings.Cut(text, "\n"); ok && strings.HasSuffix(name, ".csv") && !ordered {
			s.WriteString(head + "\n")
			text = rest
		}
		put(text, ordered)
	}
	if r.err != nil {
		return "error: " + r.err.Error() + "\n" // which rows came before it is not fixed
	}
	if late, dropped, errors := r.stats.Late.Load(), r.stats.LateDropped.Load(), r.stats.Errors.Load(); late+dropped+errors > 0 {
		fmt.Fprintf(&s, "late=%d dropped=%d errors=%d\n", late, dropped, errors)
	}
	return s.String()
}

// fold applies a changelog as it was printed and returns the rows that remain, sorted. The rows of lines without a change
// are insertions.
func fold(t testing.TB, stdout string) []string {
	counts := map[string]int{}
	for _, line := range strings.Split(strings.TrimSuffix(stdout, "\n"), "\n") {
		if line == "" {
			continue
		}
		change, row := "+I", line
		if rest, ok := strings.CutPrefix(line, `{"_change":"`); ok {
			change, row = rest[:2], "{"+strings.TrimPrefix(rest[3:], ",")
		}
		require.True(t, json.Valid([]byte(row)), line)
		switch change {
		case "+I", "+U":
			counts[row]++
		case "-U", "-D":
			counts[row]--
		default:
			t.Fatalf("what change is this? %s", line)
		}
	}
	var out []string
	for row, n := range counts {
		require.GreaterOrEqual(t, n, 0, "taken back more often than given: %s\n%s", row, stdout)
		for range n {
			out = append(out, row)
		}
	}
	slices.Sort(out)
	return out
}
