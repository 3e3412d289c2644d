package testrun

import (
	"fmt"
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

func run(t *testing.T, text string, o Options) *Report {
	t.Helper()
	r := &Report{}
	s := r.Add(Text{Name: "job.ebb", Text: text}, o)
	require.NotNil(t, s, "%+v", r.Broken)
	return r
}

// TestChaos runs a script with all kinds of state under many storms.
func TestChaos(t *testing.T) {
	o := Options{Chaos: 40, Seed: 1}
	if testing.Short() {
		o.Chaos = 5
	}
	r := run(t, script, o)
	require.Zero(t, r.Failed(), r.Results[0].Show())
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
