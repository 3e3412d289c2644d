package inspect

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

func TestSizesAndSpans(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "0.98 KiB", 1024: "1.00 KiB", 12_600: "12.3 KiB", 400_000: "391 KiB", 1 << 20: "1.00 MiB",
		5 << 40: "5.00 TiB", 5000 << 40: "5000 TiB"} {
		require.Equal(t, want, Size(n), n)
	}
	const ms, second = 1_000_000, 1_000_000_000
	for n, want := range map[int64]string{-5: "0s", 0: "0s", 850_499: "850µs", 8_123_456: "8.12ms", 12_345_678: "12.3ms", 999 * ms: "999ms", 4*second + 512*ms: "4.5s",
		192 * second: "3m12s", 5*3600*second + 420*second: "5h7m", 12 * 86400 * second: "12d"} {
		require.Equal(t, want, Span(n), n)
	}
}

// TestRelations prints the same rows in every format, whole and filtered.
func TestRelations(t *testing.T) {
	s := types.NewSchema(
		types.Field{Name: "order id", Type: types.T(types.Int)},
		types.Field{Name: "at", Type: types.T(types.Time).Null()},
		types.Field{Name: "who", Type: types.RecordOf(types.Field{Name: "na me", Type: types.T(types.String)})},
		types.Field{Name: "tags", Type: types.ListOf(types.T(types.String))},
		types.Field{Name: "nothing", Type: types.T(types.Null)},
	)
	rows := vec.FromRows(s, [][]any{
		{int64(1), int64(1_700_000_000_000_000_000), map[string]any{"na me": "Ada"}, []any{"x", "y"}, nil},
		{int64(2), nil, map[string]any{"na me": "Bob"}, []any{}, nil},
	})
	print := func(format, where string) string {
		var out bytes.Buffer
		p := &Printer{Format: format, Out: &out}
		require.NoError(t, p.where(where, s, rows))
		return out.String()
	}
	one := `{"order id":1,"at":"2023-11-14T22:13:20Z","who":{"na me":"Ada"},"tags":["x","y"],"nothing":null}`
	two := `{"order id":2,"at":null,"who":{"na me":"Bob"},"tags":[],"nothing":null}`
	require.Equal(t, one+"\n"+two+"\n", print("jsonl", ""))
	require.Equal(t, "[\n  "+one+",\n  "+two+"\n]\n", print("json", ""))
	require.Equal(t, "[\n  "+one+",\n  "+two+"\n]\n", print("json", `@"order id" > 0`))
	require.Equal(t, "[]\n", print("json", `@"order id" > 7`))
	require.Equal(t, two+"\n", print("jsonl", `at == nil`))
	require.Equal(t, one+"\n", print("jsonl", `"x" in tags and at < @2024-01-01`))
	require.Equal(t, "2,", strings.Split(print("csv", `@"order id" == 2`), "\n")[1][:2])
	require.Len(t, strings.Split(strings.TrimSpace(print("table", `true`)), "\n"), 4)

	var out bytes.Buffer
	p := &Printer{Format: "table", Out: &out}
	require.NoError(t, p.list([]field{{"id", types.Int, nil}, {"bytes", types.Int, humanBytes}, {"note", types.String, nil}},
		[][]any{{int64(1), int64(999), "a"}, {int64(22), int64(1 << 20), nil}}))
	require.Equal(t, "id  bytes     note\n──  ────────  ────\n 1     999 B  a\n22  1.00 MiB  null\n", out.String())
}

// A number stands below the end of its name; where columns are too narrow for the name, the number is what is left.
func TestNumbersBelowNames(t *testing.T) {
	print := func(width int) string {
		var out bytes.Buffer
		p := &Printer{Format: "table", Out: &out, Width: width}
		require.NoError(t, PrintStages(p, []exec.StageCount{{ID: "hot/aggregate", In: 7, Out: 3, Waiting: 5, W: types.MinInstant}}, map[string]Rates{"hot/aggregate": {In: 70, Out: 30}}, nil))
		return out.String()
	}
	require.Contains(t, print(0), "\nhot/aggregate        7         3          5  70.0/s  30.0/s ")
	require.Regexp(t, `\nhot/aggregate  7 +3 +…\n`, print(40)) // the stage is whole, the last columns are left out
	require.Regexp(t, `\nhot\S+…  …\n`, print(20))
}

// Times stand to the left, however long they are.
func TestTimesBelowNames(t *testing.T) {
	var out bytes.Buffer
	p := &Printer{Format: "table", Out: &out, Width: 80}
	require.NoError(t, PrintStages(p, []exec.StageCount{{ID: "a", W: 1e18}, {ID: "b", W: 1e18 + 5e8}}, nil, nil))
	at := regexp.MustCompile(`(?m)^(.*) 2001-09-09T01:46:40`).FindAllStringSubmatch(out.String(), -1)
	require.Len(t, at, 2, out.String())
	require.Equal(t, len(at[0][1]), len(at[1][1]), out.String())
}
