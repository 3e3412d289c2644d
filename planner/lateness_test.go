package planner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// shuffled writes n rows into files whose times are out of order by more than the lag, and returns them with their marks.
func shuffled(r *rand.Rand, prefix string, files, n int, lag, disorder int64, into map[string]string, first int) []*row {
	var rows []*row
	for f := range files {
		var text strings.Builder
		text.WriteString("id,k,at\n")
		high, now := int64(math.MinInt64), int64(r.IntN(20))*int64(time.Second)-10*int64(time.Second)
		for range n {
			now += int64(r.IntN(2000)) * int64(time.Millisecond)
			x := &row{id: int64(first + len(rows)), pos: first + len(rows), t: now - r.Int64N(disorder), mark: math.MinInt64, k: pick[any](r, "a", "b", nil)}
			x.t = x.t / int64(500*time.Millisecond) * int64(500*time.Millisecond) // so that there are ties and rows on the edges
			if high != math.MinInt64 {
				x.mark = high - lag
			}
			high = max(high, x.t)
			fmt.Fprintf(&text, "%d,%s,%s\n", x.id, field(x.k), time.Unix(0, x.t).UTC().Format(time.RFC3339Nano))
			rows = append(rows, x)
		}
		into[fmt.Sprintf("%s%d.csv", prefix, f)] = text.String()
	}
	return rows
}

// TestLateness puts rows with bounded disorder, larger than the lag, into every kind of window: results and late rows
// are those of the naive evaluator at every parallelism, chunk size and batch size.
func TestLateness(t *testing.T) {
	n := 12
	if testing.Short() {
		n = 3
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		s := int64(time.Second)
		files := map[string]string{}
		lagA, lagB := r.Int64N(5)*s, r.Int64N(8)*s
		rows := shuffled(r, "a", 1+r.IntN(3), 60, lagA, 12*s, files, 0)
		var b strings.Builder
		fmt.Fprintf(&b, "source a = csv(\"a*.csv\") schema { id: int, k: string?, at: time } time at lag %s\n", time.Duration(lagA))
		from := "a"
		if r.IntN(2) == 0 { // rows of two sources are late each by its own lag
			rows = append(rows, shuffled(r, "b", 1, 60, lagB, 12*s, files, len(rows))...)
			fmt.Fprintf(&b, "source b = csv(\"b*.csv\") schema { id: int, k: string?, at: time } time at lag %s\nstream all = a |> union b\n", time.Duration(lagB))
			from = "all"
		}
		var want []string
		total := 0
		for i, w := range []windowing{
			{kind: "tumbling", size: 4 * s, offset: s},
			{kind: "hopping", size: 5 * s, step: 2 * s},
			{kind: "hopping", size: 2 * s, step: 5 * s},
			{kind: "cumulate", size: 7 * s, step: 3 * s},
			{kind: "session", size: s},
			{kind: "session", size: 2 * s, step: 5 * s},
			{kind: "count", size: 3},
		} {
			by, key := "", func(*row) []any { return nil }
			names := []string{"i", "window", "n", "ids"}
			if r.IntN(3) > 0 {
				by, key, names = " by k", func(x *row) []any { return []any{x.k} }, slices.Insert(names, 1, "k")
			}
			fmt.Fprintf(&b, "%s |> aggregate n = count(), ids = collect(id)%s window %s late into late%d |> select i = %d%s, window, n, ids\n",
				from, by, w, i, i, strings.Replace(by, " by ", ", ", 1))
			fmt.Fprintf(&b, "late%d |> select i = %d, late = id, at\n", i, i)
			panes, late := w.panes(rows, key, 0)
			for _, p := range panes {
				var ids []any
				for _, x := range inOrder(p.rows) {
					ids = append(ids, x.id)
				}
				values := append([]any{int64(i)}, p.key...)
				want = append(want, jsonRow(names, append(values, p.window, int64(len(ids)), ids)))
			}
			for _, x := range late {
				want = append(want, jsonRow([]string{"i", "late", "at"}, []any{int64(i), x.id, instant(x.t)}))
			}
			total += len(late)
		}
		require.NotZero(t, total, "no row is late: the test tests nothing")
		slices.Sort(want)
		dir := t.TempDir()
		writeFiles(t, dir, files)
		for _, z := range append(slices.Clone(matrix), randomSizes(r), randomSizes(r)) {
			got := runIn(t, dir, b.String(), z, nil)
			require.Empty(t, got.refused, b.String())
			require.NoError(t, got.err)
			require.Equal(t, want, got.lines(), "seed %d at %v\n%s", seed, z, b.String())
			require.Equal(t, int64(total), got.stats.Late.Load())
			require.Zero(t, got.stats.LateDropped.Load())
		}
	}
}

// TestRowErrors makes some rows of a file fail in the source and some in a stage: exactly those arrive at their targets,
// named by file, row and reason, and no other row is lost.
func TestRowErrors(t *testing.T) {
	for seed := range 10 {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		files := map[string]string{}
		var want, names []string
		json := r.IntN(2) == 0
		for f := range 1 + r.IntN(3) {
			name := fmt.Sprintf("r%d.csv", f)
			var text strings.Builder
			if json {
				name = fmt.Sprintf("r%d.jsonl", f)
			} else {
				text.WriteString("id,v,s\n")
			}
			names = append(names, name)
			for i := range 50 + r.IntN(100) {
				v, bad := strconv.Itoa(r.IntN(4)), ""
				if r.IntN(8) == 0 {
					v, bad = "none", `"none" is not an int`
				}
				s := pick(r, "x", "multi\nline", "q\"q", "")
				line := fmt.Sprintf("%d,%s,%s", i, v, field(s))
				if json {
					q := v
					if bad != "" {
						q = `"none"`
					}
					line = fmt.Sprintf(`{"id": %d, "v": %s, "s": %s}`, i, q, strconv.Quote(s))
				}
				text.WriteString(line + "\n")
				where := []any{name, int64(i + 1)}
				switch {
				case bad != "":
					if json {
						bad += fmt.Sprintf(" (byte %d)", strings.Index(line, `"none"`)+1)
					}
					want = append(want, jsonRow([]string{"source", "position", "stage", "error", "raw"}, append(where, "r", "column v: "+bad, line)))
				case v == "0":
					want = append(want, jsonRow([]string{"source", "position", "stage", "error", "raw"}, append(where, "test.ebb:2:6: derive", "integer division by zero in `div`",
						fmt.Sprintf(`{"id":%d,"v":0,"s":%s}`, i, strconv.Quote(s)))))
				default:
					n, _ := strconv.Atoi(v)
					want = append(want, jsonRow([]string{"id", "q"}, []any{int64(i), int64(6 / n)}))
				}
			}
			files[name] = text.String()
		}
		script := fmt.Sprintf(`source r = %s schema { id: int, v: int, s: string } on_error into bad
r |> derive q = div(6, v) on_error into bad |> select id, q
bad |> select source, position, stage, error, raw`, map[bool]string{false: `csv("r*.csv")`, true: `jsonl("r*.jsonl")`}[json])
		slices.Sort(want)
		dir := t.TempDir()
		writeFiles(t, dir, files)
		for _, z := range append(slices.Clone(matrix), randomSizes(r)) {
			got := runIn(t, dir, script, z, nil)
			require.Empty(t, got.refused)
			require.NoError(t, got.err)
			require.Equal(t, want, got.lines(), "seed %d at %v", seed, z)
		}
		// Without a target the run stops and names one of them.
		for _, z := range matrix {
			got := runIn(t, dir, strings.ReplaceAll(script, " on_error into bad", "")[:strings.Index(script, "\nbad")-len(" on_error into bad")*2], z, nil)
			require.Empty(t, got.refused)
			require.ErrorContains(t, got.err, "row ")
			require.True(t, slices.ContainsFunc(names, func(n string) bool { return strings.Contains(got.err.Error(), n) }), got.err)
		}
	}
}

// TestLateTypeChange has a type inferred from 1,000 rows that a later row does not fit: the message says which row decided.
func TestLateTypeChange(t *testing.T) {
	dir := t.TempDir()
	text := "id,v\n" + strings.Repeat("1,2\n", 1500) + "1,two\n"
	writeFiles(t, dir, map[string]string{"t.csv": text})
	for _, z := range []sizes{{parallelism: 1}, {parallelism: 3, chunk: 500}} {
		got := runIn(t, dir, `csv("t.csv") |> aggregate s = sum(v)`, z, nil)
		require.ErrorContains(t, got.err, "t.csv: row 1501 (line 1502): ")
		require.ErrorContains(t, got.err, `"two" is not an int`)
		require.ErrorContains(t, got.err, "schema")
	}
}

// TestRandomChanges reads random changelogs, in which rows are inserted, updated and deleted, and aggregates them: what
// comes out is what the rows that remain give.
func TestRandomChanges(t *testing.T) {
	n := 60
	if testing.Short() {
		n = 15
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 11))
		var live []*row
		var text strings.Builder
		text.WriteString("_change,id,k,v,f,s\n")
		put := func(change string, x *row) {
			fmt.Fprintf(&text, "%s,%d,%s,%s,%s,%s\n", change, x.id, field(x.k), field(x.v), field(x.f), field(x.s))
		}
		made := func() *row {
			return &row{id: r.Int64N(6), k: pick[any](r, "a", "b", nil), v: pick[any](r, r.Int64N(5), r.Int64N(5), nil),
				f: pick[any](r, float64(r.IntN(8))/4, math.NaN(), nil), s: pick[any](r, "x", "y", "", nil)}
		}
		pos := 0
		for range r.IntN(150) {
			pos++
			switch n := r.IntN(4); {
			case n < 2 || len(live) == 0:
				x := made()
				x.pos = pos
				put("+I", x)
				live = append(live, x)
			default:
				gone := live[r.IntN(len(live))]
				// Of equal rows the first goes.
				at := slices.IndexFunc(live, func(x *row) bool { return keyText(x.values()) == keyText(gone.values()) })
				live = slices.Delete(live, at, at+1)
				if n == 2 {
					put("-D", gone)
					continue
				}
				put("-U", gone)
				x := made()
				pos++
				x.pos = pos
				put("+U", x)
				live = append(live, x)
			}
		}
		g := &script{r: r, files: map[string]string{"c.csv": text.String()}}
		g.add(`source c = csv("c.csv", changes: true) schema { id: int, k: string?, v: int?, f: float?, s: string? }`)
		rows := live
		if r.IntN(2) == 0 {
			c, f := g.condition(1)
			g.add("stream d = c |> where %s", c)
			rows = filter(rows, func(x *row) bool { return f(x) == true })
		} else {
			g.add("stream d = c")
		}
		g.aggregate("d", rows, false) // which of two rows that look the same to an aggregate has gone, it cannot know
		slices.Sort(g.want)
		dir := t.TempDir()
		writeFiles(t, dir, g.files)
		for _, z := range []sizes{{parallelism: 1}, randomSizes(r), randomSizes(r)} {
			got := runIn(t, dir, g.text, z, nil)
			require.Empty(t, got.refused, g.text)
			require.NoError(t, got.err)
			require.Equal(t, g.want, fold(t, got.stdout), "seed %d at %v\n%s%s", seed, z, g.text, text.String())
		}
	}
}

// Rows that take others back come behind those, whatever tasks there are: a group whose last row has gone starts anew.
func TestChangesStayInOrder(t *testing.T) {
	dir := t.TempDir()
	for i, rows := range []string{`+I 5`, `-D 5`, `+I null`, `+I 7`, `+U 5`, `+I 9`, `-U 7`, `+U 7`, `-D 9`, `-D 5`} {
		change, x, _ := strings.Cut(rows, " ")
		writeFiles(t, dir, map[string]string{fmt.Sprintf("c%d.jsonl", i): fmt.Sprintf("{\"_change\":%q,\"x\":%s}\n", change, x)})
	}
	script := `
source c = jsonl("c*.jsonl", changes: true) schema { x: int? }
c |> aggregate max = max(x), sum = sum(x), avg = avg(float(x)), v = variance(float(x)), n = count() by k = 1 %s`
	for _, emit := range []string{"emit final", "emit changes"} {
		for seed := range uint64(60) {
			z := sizes{parallelism: 1 + int(seed%5), chunk: 20, rows: 1, channel: 2, sim: seed}
			r := runIn(t, dir, fmt.Sprintf(script, emit), z, nil)
			require.Empty(t, r.refused)
			require.NoError(t, r.err)
			lines := r.lines()
			if emit == "emit changes" {
				lines = fold(t, r.stdout)
			}
			require.Equal(t, []string{`{"k":1,"max":7,"sum":7,"avg":7,"v":null,"n":2}`}, lines, "%v", z)
		}
	}
}

// TestLateAsTheyCame has stages that compute their keys and arguments: late rows are those of the input all the same, in a
// sink and in a union.
func TestLateAsTheyCame(t *testing.T) {
	for name, stage := range map[string]string{
		"key":      `aggregate n = count() by g = k + "!" window tumbling(1m)`,
		"argument": `aggregate n = sum(id * 2) by k window session(1m)`,
		"cast":     `aggregate n = median(id) window tumbling(1m)`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFiles(t, dir, map[string]string{"a.csv": "id,k,at\n1,x,2026-01-01T10:00:00Z\n2,y,2026-01-01T10:05:00Z\n3,z,2026-01-01T09:00:00Z\n"})
			script := `source a = csv("a.csv") schema { id: int, k: string, at: time } time at lag 1s
a |> where id > 1 |> STAGE late into l |> into blackhole()
a |> STAGE late into csv("late.csv") |> into blackhole()
a |> where id < 2 |> union l |> into jsonl("all.jsonl")`
			for _, z := range matrix {
				got := runIn(t, dir, strings.ReplaceAll(script, "STAGE", stage), z, nil)
				require.Empty(t, got.refused)
				require.NoError(t, got.err)
				require.Equal(t, []string{"id,k,at", "3,z,2026-01-01T09:00:00Z"}, fileLines(t, filepath.Join(dir, "late.csv")))
				require.ElementsMatch(t, []string{`{"id":1,"k":"x","at":"2026-01-01T10:00:00Z"}`, `{"id":3,"k":"z","at":"2026-01-01T09:00:00Z"}`},
					fileLines(t, filepath.Join(dir, "all.jsonl")))
			}
		})
	}
}
