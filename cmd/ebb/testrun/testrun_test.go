package testrun

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// script has a stage of each kind that keeps state.
const script = `
source logs = jsonl("logs.jsonl", follow: true) schema { ts: time, service: string, ms: int? } time ts lag 5s
source people = csv("people.csv") schema { name: string, service: string }
stream bursts = logs |> aggregate n = count(), slow = max(ms), list = collect(ms) by service window hopping(1m, every: 30s) late into too_late
stream totals = logs |> aggregate n = count(), d = distinct(ms) by service emit changes
stream sessions = logs |> aggregate n = count() by service window session(10s)
stream who = people |> select service
stream both = logs |> select service |> union who
stream names = people |> sort by name |> limit 3
test "all" {
    given logs = [
        {ts: @2026-01-01T00:00:00Z, service: "api", ms: 1},
        {ts: @2026-01-01T00:00:40Z, service: "web", ms: 2},
        {ts: @2026-01-01T00:00:01Z, service: "api", ms: 3},
        {ts: @2026-01-01T00:00:38Z, service: "db"},
    ]
    given people = [{name: "c", service: "api"}, {name: "b", service: "api"}, {name: "a", service: "web"}, {name: "d", service: "db"}]
    expect too_late = []
    given logs = [
        {ts: @2026-01-01T00:02:00Z, service: "api", ms: 1},
        {ts: @2026-01-01T00:00:20Z, service: "api", ms: 5},
        {ts: @2026-01-01T00:02:01Z, service: "api", ms: 1},
    ]
    checkpoint
    given logs = [{ts: @2026-01-01T00:02:05Z, service: "web", ms: 7}, {ts: @2026-01-01T00:02:03Z, service: "web", ms: 8}]
    expect too_late = [{service: "api", ms: 5}]
    expect totals = [{service: "api", n: 5, d: 3}, {service: "web", n: 3, d: 3}, {service: "db", n: 1, d: 0}]
    expect sessions = [{service: "api", n: 1}, {service: "web", n: 1}, {service: "db", n: 1}, {service: "api", n: 2}, {service: "web", n: 2}]
    expect bursts = [
        {service: "api", n: 1, window: {start: @2025-12-31T23:59:30Z, end: @2026-01-01T00:00:30Z}},
        {service: "api", n: 2, slow: 3},
        {service: "web", n: 1},
        {service: "web", n: 1},
        {service: "db", n: 1},
        {service: "db", n: 1, slow: nil},
        {service: "api", n: 2, slow: 1, list: [1, 1]},
        {service: "api", n: 2},
        {service: "web", n: 2},
        {service: "web", n: 2},
    ]
    expect both = [{service: "api"}, {service: "api"}, {service: "api"}, {service: "api"}, {service: "api"}, {service: "api"}, {service: "api"}, {service: "web"}, {service: "web"}, {service: "web"}, {service: "web"}, {service: "db"}, {service: "db"}]
    expect names = [{name: "a"}, {name: "b"}, {name: "c"}]
}
`

// idle has sources that fall idle, and time that passes.
const idle = `
source a = csv("a.csv", follow: true) schema { ts: time, key: string, v: int } time ts lag 10s idle 1m
source b = csv("b.csv", follow: true) schema { ts: time, key: string, v: int } time ts lag 1s idle 1m
stream both = a |> union b
stream minutes = both |> aggregate n = count() by key window tumbling(1m)
stream quiet = both |> aggregate n = count() by key window tumbling(1m, clock: "processing")
test "idle" {
    given a = [{ts: @2026-01-01T00:00:01Z, key: "x", v: 1}, {ts: @2026-01-01T00:00:02Z, key: "y", v: 1}, {ts: @2026-01-01T00:00:12Z, key: "z", v: 1}]
    given b = [{ts: @2026-01-01T00:05:00Z, key: "y", v: 1}, {ts: @2026-01-01T00:05:02Z, key: "z", v: 1}]
    expect minutes = []
    advance 2m
    expect minutes = [{key: "x", n: 1}, {key: "y", n: 1}, {key: "z", n: 1}]
    expect quiet = [{key: "x", n: 1}, {key: "y", n: 2}, {key: "z", n: 2}]
    given b = [{ts: @2026-01-01T00:07:00Z, key: "y", v: 1}, {ts: @2026-01-01T00:08:02Z, key: "z", v: 1}]
    expect minutes = [{key: "x", n: 1}, {key: "y", n: 1}, {key: "z", n: 1}, {key: "y", n: 1}, {key: "z", n: 1}, {key: "y", n: 1}]
    given b = []
    expect quiet = [{key: "x", n: 1}, {key: "y", n: 2}, {key: "z", n: 2}, {key: "y", n: 1}, {key: "z", n: 1}]
}
`

// asleep has a source that has fallen idle when a run goes on at another width: event time goes on without it, in both windows.
const asleep = `
source a = csv("a.csv", follow: true) schema { ts: time, key: string } time ts lag 1s idle 1m
source b = csv("b.csv", follow: true) schema { ts: time, key: string } time ts lag 1s idle 1h
stream first = a |> union b |> aggregate n = count() by key window tumbling(1m)
stream second = first |> aggregate n = sum(n), keys = count() window tumbling(2m)
test "asleep" {
    given a = [{ts: @2026-01-01T00:00:01Z, key: "x"}]
    given b = [{ts: @2026-01-01T00:00:02Z, key: "y"}]
    advance 2m
    checkpoint
    crash
    restore parallelism 3
    given b = [{ts: @2026-01-01T00:00:50Z, key: "z"}, {ts: @2026-01-01T00:01:02Z, key: "y"}]
    given b = [{ts: @2026-01-01T00:05:00Z, key: "y"}]
    given b = []
    expect first = [{key: "x", n: 1}, {key: "y", n: 1}, {key: "z", n: 1}, {key: "y", n: 1}]
    checkpoint
    crash
    restore parallelism 2
    given b = []
    expect second = [{n: 4, keys: 4}]
    given b = [{ts: @2026-01-01T00:09:00Z, key: "y"}]
    given b = []
    expect second = [{n: 4, keys: 4}, {n: 1, keys: 1}, {n: 1, keys: 1}]
}
`

// ordered has streams whose order is that of their source.
const ordered = `
source a = csv("a.csv") schema { v: int }
source b = csv("b.csv") schema { v: int }
stream kept = a |> where v > 1 |> derive w = v * 2
a |> where v > 2 |> select x = v, v |> into csv("big.csv")
stream few = kept |> sort by v desc |> limit 3
stream all = kept |> select v |> union b
test "order" {
    given a = [{v: 1}, {v: 9}, {v: 3}, {v: 2}, {v: 7}, {v: 4}, {v: 8}]
    given b = [{v: 5}]
    given a = [{v: 6}, {v: 2}]
    expect ordered kept = [{v: 9}, {v: 3}, {v: 2}, {v: 7}, {v: 4}, {v: 8}, {v: 6}, {v: 2}]
    expect ordered few = [{v: 9}, {v: 8}, {v: 7}]
    expect ordered "big.csv" = [{x: 9}, {x: 3}, {x: 7}, {x: 4}, {x: 8}, {x: 6}]
    expect all = [{v: 9}, {v: 3}, {v: 2}, {v: 7}, {v: 4}, {v: 8}, {v: 6}, {v: 2}, {v: 5}]
}
`

func run(t *testing.T, text string, o Options) *Report {
	t.Helper()
	r := &Report{}
	s := r.Add(Text{Name: "job.ebb", Text: text}, o)
	require.NotNil(t, s, "%+v", r.Broken)
	return r
}

// TestChaos runs scripts with all kinds of state under many storms.
func TestChaos(t *testing.T) {
	o := Options{Chaos: 40, Seed: 1}
	if testing.Short() {
		o.Chaos = 5
	}
	for _, text := range []string{script, idle, asleep, ordered} {
		r := run(t, text, o)
		require.Zero(t, r.Failed(), r.Results[0].Show())
	}
}

// TestOrderUnderChaos: rows of one source come in their order whatever happens, those of two in none.
func TestOrderUnderChaos(t *testing.T) {
	s, _ := Load(Text{Name: "job.ebb", Text: ordered}, Options{})
	require.NotNil(t, s)
	x := newTestRun(s, s.Tests[0], newStorm(1, 4))
	require.Empty(t, x.do())
	require.Equal(t, map[string]bool{"stream kept": true, "stream few": true, "stream all": false, "sink job.ebb:5:45": true}, x.ordered)
}

// TestSameSeedSameRun steps the same test twice under the same storm: the same is done, step by step.
func TestSameSeedSameRun(t *testing.T) {
	s, _ := Load(Text{Name: "job.ebb", Text: script}, Options{})
	require.NotNil(t, s)
	trace := func(seed uint64) string {
		x := newTestRun(s, s.Tests[0], newStorm(seed, 4))
		require.Empty(t, x.do())
		return fmt.Sprint(x.job.crashes, " crashes, ", x.job.taken, x.job.rng.Uint64(), x.job.storm.rng.Uint64(), "\n", x.job.memory)
	}
	for seed := range uint64(4) {
		require.Equal(t, trace(seed), trace(seed))
	}
	require.NotEqual(t, trace(1), trace(2))
}

// TestMatch compares the matching of rows with one that tries everything.
func TestMatch(t *testing.T) {
	schema := types.NewSchema(types.Field{Name: "a", Type: types.T(types.Int)}, types.Field{Name: "b", Type: types.T(types.Float)})
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		x := &check.TestStep{TestStep: &syntax.TestStep{Name: &syntax.Ident{Name: "s"}}, Schema: schema}
		for range rng.IntN(5) {
			row := check.TestRow{Values: map[string]any{}}
			if rng.IntN(2) == 0 {
				row.Names, row.Values["a"] = append(row.Names, "a"), int64(rng.IntN(2))
			}
			if rng.IntN(2) == 0 {
				row.Names, row.Values["b"] = append(row.Names, "b"), float64(rng.IntN(2))
			}
			x.Rows = append(x.Rows, row)
		}
		var have []Row
		for range rng.IntN(5) {
			have = append(have, Row{Values: map[string]any{"a": int64(rng.IntN(2)), "b": float64(rng.IntN(2)) * (1 + 1e-12)}})
		}
		got, used := 0, map[int]bool{}
		for i, k := range match(x, have) {
			if k < 0 {
				continue
			}
			require.True(t, fits(x, x.Rows[i], have[k]))
			require.False(t, used[k])
			used[k] = true
			got++
		}
		require.Equal(t, most(x, have, 0, 0), got)
	}
}

// most is the largest number of expected rows, from the i-th on, that fit a row of their own.
func most(x *check.TestStep, have []Row, i, used int) int {
	if i == len(x.Rows) {
		return 0
	}
	best := most(x, have, i+1, used)
	for k := range have {
		if used&(1<<k) == 0 && fits(x, x.Rows[i], have[k]) {
			best = max(best, 1+most(x, have, i+1, used|1<<k))
		}
	}
	return best
}

// TestSame compares values of tests with those of rows.
func TestSame(t *testing.T) {
	record := types.RecordOf(types.Field{Name: "x", Type: types.ListOf(types.T(types.Float))})
	for _, c := range []struct {
		t          types.Type
		want, have any
		same       bool
	}{
		{types.T(types.Float), 0.3, 0.1 + 0.2, true},
		{types.T(types.Float), 0.3, 0.3001, false},
		{types.T(types.Float), nil, 0.0, false},
		{types.T(types.Float), math.Inf(1), math.Inf(-1), false},
		{types.T(types.Float), math.Inf(1), 1e308, false},
		{types.T(types.Float), 1.0, math.Inf(1), false},
		{types.T(types.Float), math.Inf(-1), math.Inf(-1), true},
		{types.T(types.Float), math.NaN(), math.NaN(), true},
		{types.T(types.Float), math.NaN(), 1.0, false},
		{record, map[string]any{"x": []any{0.3}}, map[string]any{"x": []any{0.1 + 0.2}}, true},
		{record, map[string]any{"x": []any{0.3}}, map[string]any{"x": []any{}}, false},
		{types.T(types.Any), map[string]any{"a": int64(1), "b": nil}, `{"b":null,"a":1.0}`, true},
		{types.T(types.Any), "1", `1`, false},
	} {
		require.Equal(t, c.same, same(c.t, c.want, c.have), "%v %v", c.want, c.have)
	}
}

// TestAgain says how a failure that only chaos brings about is repeated.
func TestAgain(t *testing.T) {
	r := &Result{File: "my scripts/a.ebb", LineNo: 3, Name: "what's (new)?", Stormy: true, Seed: 17, Failures: []Failure{{Text: "no"}}}
	require.Contains(t, r.Show(), `ebb test 'my scripts/a.ebb' --run '^what'\''s \(new\)\?$' --seed 17 --chaos 1`)
	require.True(t, strings.HasPrefix(r.Show(), "FAIL  my scripts/a.ebb:3: what's (new)?\n    "))
}

// TestUpdatedRowsAreRead: the rows that --update writes are those that came, whatever their values are.
func TestUpdatedRowsAreRead(t *testing.T) {
	text := `source x = jsonl("x") schema { s: string?, f: float?, t: time?, d: duration?, b: bool?, l: [string?]?, r: { @"odd name": int?, n: { v: float } }?, @"a b": int? }
test "values" {
    given x = [
        {s: "a\"b\\c\nd\té\u0007", f: -1.5e300, t: @2026-01-01T00:00:00.000000001Z, d: 0s - 90m, b: true, l: ["x", nil], r: {@"odd name": nil, n: {v: 1}}, @"a b": -5},
        {},
    ]
    expect x = []
}
`
	r := &Report{}
	s := r.Add(Text{Name: "x.ebb", Text: text}, Options{})
	require.NotNil(t, s, "%+v", r.Broken)
	require.Equal(t, 1, r.Failed())
	u, err := s.Update(r.Results)
	require.NoError(t, err)
	require.Equal(t, 1, u.Count)
	require.Zero(t, run(t, u.Text, Options{}).Failed(), u.Text)
}

// TestLeftOf: rows that are taken back are gone, the last of equal ones first.
func TestLeftOf(t *testing.T) {
	schema := types.NewSchema(types.Field{Name: "a", Type: types.T(types.Int)})
	row := func(a int64, c vec.Change) Row { return Row{Values: map[string]any{"a": a}, Change: c} }
	got := leftOf(schema, []Row{row(1, vec.Insert), row(2, vec.Insert), row(1, vec.Insert), row(1, vec.Delete), row(2, vec.UpdateBefore), row(3, vec.UpdateAfter)})
	var values []int64
	for _, r := range got {
		values = append(values, r.Values["a"].(int64))
	}
	require.Equal(t, []int64{1, 3}, values)
	require.False(t, slices.ContainsFunc(got, func(r Row) bool { return r.Change != vec.Insert }))
}

// TestLargeRows: rows that are wide, and values that are long, are shown such that people see what differs.
func TestLargeRows(t *testing.T) {
	long := strings.Repeat("x", 5000)
	var columns strings.Builder
	for i := range 300 {
		fmt.Fprintf(&columns, ", c%d: int?", i)
	}
	r := run(t, `source a = csv("a.csv") schema { s: string`+columns.String()+` }
test "wide" {
    given a = [{s: "`+long+`z", c0: 1}]
    expect a = []
    expect a = [{s: "`+long+`y", c0: 1}]
}
test "screen" {
    given a = [{s: "日本 😀", c0: 1}]
    expect a = [{s: "日本 😀", c0: 2}]
}
`, Options{})
	wide, screen := r.Results[0].Failures, r.Results[1].Failures
	require.Len(t, wide, 2)
	for _, f := range wide {
		require.Less(t, len(f.Text), 3000)
	}
	lines := strings.Split(wide[1].Text, "\n")
	require.Equal(t, `  - {s: …`+long[:40]+`y", c0: 1}`, lines[1])
	require.Equal(t, `  + {s: …`+long[:40]+`z", c0: 1}`, lines[2])
	lines = strings.Split(screen[0].Text, "\n")
	require.Equal(t, `  + {s: "日本 😀", c0: 1}`, lines[2])
	require.Equal(t, `                       ~`, lines[3], "wide runes take two columns of the screen")
}

// TestMoments: time that would pass in too many steps ends the test.
func TestMoments(t *testing.T) {
	r := run(t, `source a = csv("a.csv", follow: true) schema { id: int }
stream out = a |> aggregate n = count() by id emit changes every 1us
test "ticks" {
    given a = [{id: 1}]
    advance 1000w
    expect out = [{id: 1, n: 1}]
}
`, Options{})
	require.Equal(t, 1, r.Failed())
	require.Contains(t, r.Results[0].Failures[0].Text, "1000000 times")
	r = run(t, `source a = csv("a.csv") schema { id: int }
test "the end of time" {
    advance 10000w
    advance 10000w
    expect a = []
}
`, Options{})
	require.Equal(t, 1, r.Failed())
	require.Contains(t, r.Results[0].Failures[0].Text, "2262")
}
