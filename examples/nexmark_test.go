package examples

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const cases = "../../shared/cases/nexmark"

type golden struct {
	Rows    int
	SHA256  string
	Columns []string
}

// bidSchema is the schema of the files that the generator's rows are written to.
const bidSchema = `schema { auction: int, bidder: int, price: int, channel: string, url: string, date_time: time(ms), extra: string }
    time date_time lag 1s`

// TestNexmarkGoldens runs every Nexmark example from the generator, from CSV and from JSON lines, at several
// parallelisms, and compares the result with rows that DuckDB and a second implementation agree on. With EBB_LONG a million
// events, too: they take a minute and a half of two cores.
func TestNexmarkGoldens(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(cases, "golden.json"))
	if err != nil {
		t.Skipf("the cases are not here: %v", err)
	}
	var goldens map[string]map[string]golden
	require.NoError(t, json.Unmarshal(text, &goldens))
	sets := map[string]int{"10k": 10_000, "50k": 50_000}
	if os.Getenv("EBB_LONG") != "" {
		sets["1m"] = 1_000_000
	}
	for set, events := range sets {
		dir := t.TempDir()
		files := fmt.Sprintf(`param events: int = 0
source bids = nexmark("bid", events: events)
sink rows = csv(%q) schema { auction: int, bidder: int, price: int, channel: string, url: string, date_time: time(ms), extra: string }
sink objects = jsonl(%q) schema { auction: int, bidder: int, price: int, channel: string, url: string, date_time: time(ms), extra: string }
bids |> into rows
bids |> into objects`, filepath.Join(dir, "bid.csv"), filepath.Join(dir, "bid.jsonl"))
		ebbRun(t, dir, files, events, 2)
		if set == "10k" {
			ours, err := os.ReadFile(filepath.Join(dir, "bid.csv"))
			require.NoError(t, err)
			theirs, err := os.ReadFile(filepath.Join(cases, "bid-10k.csv"))
			require.NoError(t, err)
			require.True(t, bytes.Equal(theirs, ours), "the generator's rows as CSV")
		}
		sources := map[string]string{
			"generator": `source bids = nexmark("bid", events: events)`,
			"csv":       fmt.Sprintf("source bids = csv(%q)\n    %s", filepath.Join(dir, "bid.csv"), bidSchema),
			"jsonl":     fmt.Sprintf("source bids = jsonl(%q)\n    %s", filepath.Join(dir, "bid.jsonl"), bidSchema),
		}
		scripts, err := filepath.Glob("nexmark/q*.ebb")
		require.NoError(t, err)
		for _, script := range scripts {
			q := strings.TrimSuffix(filepath.Base(script), ".ebb")
			if q == "q10" || q == "q5" {
				continue // files, and the part of q5 without `top`: see TestExamples
			}
			body, err := os.ReadFile(script)
			require.NoError(t, err)
			want := goldens[set][map[string]string{"q11": "q11_flink"}[q]]
			if q != "q11" {
				want = goldens[set][q]
			}
			require.NotZero(t, want.Rows, q)
			for from, source := range sources {
				for _, parallelism := range []int{1, 2} {
					t.Run(fmt.Sprintf("%s/%s/%s/%d", set, q, from, parallelism), func(t *testing.T) {
						t.Parallel()
						out := t.TempDir()
						ebbRun(t, out, strings.Replace(string(body), sources["generator"], source, 1), events, parallelism)
						lines := sortedLines(t, filepath.Join(out, q+".jsonl"))
						require.Equal(t, want.Rows, len(lines))
						of, _ := canonicalSums.LoadOrStore(sumOf(lines), sync.OnceValue(func() string { return canonicalSum(t, lines, q, want.Columns) }))
						require.Equal(t, want.SHA256, of.(func() string)())
					})
				}
			}
		}
	}
}

func ebbRun(t *testing.T, dir, script string, events, parallelism int) {
	t.Helper()
	cmd := exec.Command(ebb, "run", "-", "--set", fmt.Sprintf("events=%d", events), "--parallelism", fmt.Sprint(parallelism))
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Empty(t, string(out))
}

var isTime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)

// canonicalSums are those of canonicalSum by the sums of the lines as they were written: a million rows take long, and six runs
// are to give the same ones.
var canonicalSums sync.Map

func sortedLines(t *testing.T, path string) []string {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
	sort.Strings(lines)
	return lines
}

func sumOf(lines []string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(lines, "\n"))))
}

// canonicalSum brings JSON lines to the form that the goldens are hashed in: arrays without white space, ints bare,
// other numbers with six digits, times as milliseconds, lines sorted.
func canonicalSum(t *testing.T, objects []string, query string, columns []string) string {
	lines := make([]string, len(objects))
	for i, object := range objects {
		dec := json.NewDecoder(strings.NewReader(object))
		dec.UseNumber()
		var row map[string]any
		require.NoError(t, dec.Decode(&row))
		var out bytes.Buffer
		for i, c := range columns {
			sep := byte(',')
			if i == 0 {
				sep = '['
			}
			out.WriteByte(sep)
			writeCanonical(t, &out, query+"."+c, row[c])
		}
		lines[i] = out.String() + "]"
	}
	sort.Strings(lines)
	return sumOf(lines)
}

// decimals are the columns that are no ints even where a value happens to be whole.
var decimals = map[string]bool{"q1.price": true, "q14.price": true, "q17.avg_price": true}

func writeCanonical(t *testing.T, out *bytes.Buffer, column string, v any) {
	switch x := v.(type) {
	case nil:
		out.WriteString("null")
	case json.Number:
		if f, err := x.Float64(); err == nil && (strings.ContainsAny(x.String(), ".e") || decimals[column]) {
			fmt.Fprintf(out, "%.6f", f)
			return
		}
		out.WriteString(x.String())
	case string:
		if isTime.MatchString(x) {
			at, err := time.Parse(time.RFC3339Nano, x)
			require.NoError(t, err)
			fmt.Fprint(out, at.UnixMilli())
			return
		}
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		require.NoError(t, enc.Encode(x))
		out.Truncate(out.Len() - 1)
	default:
		t.Fatalf("column %s: %T", column, v)
	}
}
