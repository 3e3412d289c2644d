package conn

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

var allFields = record(
	"id", "sequence", "even", "sequence 0 by 2", "n", "int -5..5", "wide", "int -9223372036854775808..9223372036854775807",
	"page", "skewed 1..1000", "price", "float 1..100 by 0.01", "f", "float -1..1", "temp", "normal 20 5", "ok", "bool 0.1", "coin", "bool",
	"s", "string 3..6", "fixed", "string 4", "h", "hex 16", "u", "uuid", "ip", "ip", "at", "time", "born", "time 1990-01-01..2000-01-01",
	"d", "duration 1s..5m", "maybe", "int 1..9 null 0.25", "city", []any{"Rome", "Rome", "Oslo", nil}, "k", []any{int64(1), 2.5},
	"geo", record("lat", "float -90..90", "tag", []any{"a", "b"}), "v", int64(3))

func TestGenerateTasks(t *testing.T) {
	if testing.Short() { // under the race detector: one goroutine
		t.Skip()
	}
	args := map[string]any{"fields": allFields, "count": int64(9000), "disorder": int64(time.Second), "late": 0.01, "step": int64(100 * time.Millisecond)}
	run := func(width int) string { return rowsText(newSourceRun(t, "generate", args, width).run()) }
	want := run(1)
	if strings.Count(want, "\n") != 9000 {
		t.Errorf("%d rows", strings.Count(want, "\n"))
	}
	if late := strings.Count(want, " late for "); late < 50 || late > 130 {
		t.Errorf("%d late rows", late)
	}
	for width := 2; width < 4; width++ {
		if run(width) != want {
			t.Errorf("other rows with %d tasks", width)
		}
	}
	args["seed"] = int64(2)
	if run(1) == want {
		t.Error("another seed, the same rows")
	}
	args["disorder"], args["late"] = int64(0), 0.0
	if strings.Contains(run(2), " late for ") {
		t.Error("late rows in order")
	}
}

func TestGenerateFields(t *testing.T) {
	const n = 20_000
	r := newSourceRun(t, "generate", map[string]any{"fields": allFields, "count": int64(n)}, 1)
	b := vec.Concat(r.run())
	col := func(name string) *vec.Column { return b.Cols[r.info.Schema.Index(name)] }
	if want := "{at: time, born: time, city: string?, coin: bool, d: duration, even: int, f: float, fixed: string, geo: {lat: float, tag: string}, h: string, id: int, " +
		"ip: string, k: float, maybe: int?, n: int, ok: bool, page: int, price: float, s: string, temp: float, u: string, v: int, wide: int}"; r.info.Schema.String() != want {
		t.Errorf("schema %s", r.info.Schema)
	}
	if r.info.Time != "at" || !r.info.Bounded {
		t.Errorf("time %q, bounded %v", r.info.Time, r.info.Bounded)
	}
	ints := func(name string, low, high int64, distinct int) {
		t.Helper()
		c := col(name)
		seen := map[int64]bool{}
		for i := range n {
			if c.Null(i) {
				continue
			}
			if v := c.Ints[i]; v < low || v > high {
				t.Fatalf("%s: %d", name, v)
			}
			seen[c.Ints[i]] = true
		}
		if len(seen) < distinct {
			t.Errorf("%s: %d values", name, len(seen))
		}
	}
	ints("id", 1, n, n)
	ints("even", 0, 2*n-2, n)
	ints("n", -5, 5, 11)
	ints("wide", math.MinInt64, math.MaxInt64, n)
	ints("page", 1, 1000, 900)
	ints("d", int64(time.Second), int64(5*time.Minute), 15_000)
	ints("born", time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano(), time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano(), n-100)
	ints("maybe", 1, 9, 9)
	ints("v", 3, 3, 1)
	near := func(what string, got, want, by float64) {
		t.Helper()
		if math.Abs(got-want) > by {
			t.Errorf("%s: %v, not about %v", what, got, want)
		}
	}
	mean := func(f func(i int) float64) float64 {
		sum := 0.0
		for i := range n {
			sum += f(i)
		}
		return sum / n
	}
	is := func(ok bool) float64 {
		if ok {
			return 1
		}
		return 0
	}
	near("first page", mean(func(i int) float64 { return is(col("page").Ints[i] == 1) }), 0.1, 0.02)
	near("mean price", mean(func(i int) float64 { return col("price").Floats[i] }), 50.5, 1)
	near("mean temp", mean(func(i int) float64 { return col("temp").Floats[i] }), 20, 0.2)
	near("temp spread", mean(func(i int) float64 { d := col("temp").Floats[i] - 20; return d * d }), 25, 1.5)
	near("ok", mean(func(i int) float64 { return is(col("ok").Bools[i]) }), 0.1, 0.01)
	near("coin", mean(func(i int) float64 { return is(col("coin").Bools[i]) }), 0.5, 0.02)
	near("nulls", mean(func(i int) float64 { return is(col("maybe").Null(i)) }), 0.25, 0.02)
	near("Rome", mean(func(i int) float64 { return is(!col("city").Null(i) && col("city").Strs[i] == "Rome") }), 0.5, 0.02)
	near("no city", mean(func(i int) float64 { return is(col("city").Null(i)) }), 0.25, 0.02)
	near("k", mean(func(i int) float64 { return col("k").Floats[i] }), 1.75, 0.05)
	for name, form := range map[string]string{"s": `^[a-z]{3,6}$`, "fixed": `^[a-z]{4}$`, "h": `^[0-9a-f]{16}$`,
		"u": `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, "ip": `^([1-9]|[1-9]\d|1\d\d|2[01]\d|22[0-3])(\.(\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])){3}$`} {
		re := regexp.MustCompile(form)
		seen := map[string]bool{}
		for _, s := range col(name).Strs {
			if !re.MatchString(s) {
				t.Fatalf("%s: %q", name, s)
			}
			seen[s] = true
		}
		if len(seen) < 10_000 {
			t.Errorf("%s: %d values", name, len(seen))
		}
	}
	for i := range n {
		p := col("price").Floats[i]
		if text := fmt.Sprint(p); p < 1 || p > 100 || len(text)-strings.IndexByte(text+".", '.') > 3 {
			t.Fatalf("price %s", text)
		}
		if at, want := b.Time[i], time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC).UnixNano(); at != want {
			t.Fatalf("row %d at %d", i, at)
		}
	}
	if lat := col("geo").Kids[0].Floats; slices.Max(lat) < 85 || slices.Min(lat) > -85 {
		t.Error("lat")
	}
}

// TestGenerateStable: a field's values do not depend on the other fields, nor on how much is read.
func TestGenerateStable(t *testing.T) {
	whole := newSourceRun(t, "generate", map[string]any{"fields": allFields, "count": int64(5000)}, 2)
	all := vec.Concat(whole.run())
	for i, f := range whole.info.Schema.Fields {
		r := newSourceRun(t, "generate", map[string]any{"fields": record(f.Name, allFields[f.Name])}, 1)
		r.scan.Limit = 5000
		one := vec.Concat(r.run())
		for row := range all.N {
			if vec.Compare(all.Cols[i], row, one.Cols[0], row) != 0 {
				t.Fatalf("%s row %d: %v alone, else %v", f.Name, row, one.Cols[0].Value(row), all.Cols[i].Value(row))
			}
		}
	}
}

func TestGenerateTime(t *testing.T) {
	r := newSourceRun(t, "generate", map[string]any{"fields": record("t", "time"), "count": int64(100), "rate": 20.0, "start": int64(0)}, 1)
	b := vec.Concat(r.run())
	if b.Time[99] != 99*50e6 || r.now < 4.9e9 {
		t.Errorf("last row of %v came at %v", time.Duration(b.Time[99]), time.Duration(r.now))
	}
	r = newSourceRun(t, "generate", map[string]any{"fields": record("t", "time"), "count": int64(5000), "disorder": int64(time.Minute)}, 1)
	if r.info.Lag != int64(time.Minute) {
		t.Error("the lag is the disorder")
	}
	unordered, high := 0, int64(0)
	for _, at := range vec.Concat(r.run()).Time {
		if at < high {
			unordered++
		}
		high = max(high, at)
	}
	if unordered < 4000 {
		t.Errorf("%d rows out of order", unordered)
	}
}

func TestGenerateErrors(t *testing.T) {
	c := connector(t, "generate")
	for _, x := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"fields": record("a", "integer 1..5")}, `field a: "integer 1..5" is no kind of value`},
		{map[string]any{"fields": record("a", "flot 1..5")}, `did you mean "float"?`},
		{map[string]any{"fields": record("a", "Rome")}, `A constant text is a list of one: ["Rome"]`},
		{map[string]any{"fields": record("a", "")}, `is no kind of value`},
		{map[string]any{"fields": record("a", "int")}, `one range is wanted; the form is "int LOW..HIGH"`},
		{map[string]any{"fields": record("a", "int 5")}, `"5" is no range`},
		{map[string]any{"fields": record("a", "int 5..x")}, `"x" does not fit`},
		{map[string]any{"fields": record("a", "int 5..1")}, `the range is empty`},
		{map[string]any{"fields": record("a", "int 1..5 by 2")}, `it takes no ` + "`by`"},
		{map[string]any{"fields": record("a", "int 1..5 null")}, "a value follows `null`"},
		{map[string]any{"fields": record("a", "int 1..5 null 2")}, `"2" is no share of nulls`},
		{map[string]any{"fields": record("a", "float 1..nan")}, `is no range of numbers`},
		{map[string]any{"fields": record("a", "float 1..2 by 0")}, `"0" is no step`},
		{map[string]any{"fields": record("a", "normal 1")}, `two numbers are wanted`},
		{map[string]any{"fields": record("a", "string 1..5000")}, `a length is from 0 to 4096`},
		{map[string]any{"fields": record("a", "hex x")}, `a length is from 0 to 4096`},
		{map[string]any{"fields": record("a", "bool 7")}, `a share from 0 to 1 is wanted`},
		{map[string]any{"fields": record("a", "time 2026-01-01..2026-02-31")}, `"2026-02-31" does not fit`},
		{map[string]any{"fields": record("a", "uuid 4")}, `nothing follows it`},
		{map[string]any{"fields": record("a", "sequence x")}, `its numbers are ints`},
		{map[string]any{"fields": record("a", []any{})}, `at least one value`},
		{map[string]any{"fields": record("a", []any{int64(1), "x"})}, `value 2 of the list: int and string differ`},
		{map[string]any{"fields": record("a", record("b", "x"))}, `field a.b: "x" is no kind of value`},
		{map[string]any{"fields": record("a", nil)}, `nil is no kind of value`},
		{map[string]any{"fields": record()}, `at least one field`},
		{map[string]any{"fields": "int 1..5"}, `a record is wanted`},
		{map[string]any{"fields": record("a", "ip"), "count": int64(-1)}, `count: -1`},
		{map[string]any{"fields": record("a", "ip"), "rate": -1.0}, `rate: -1`},
		{map[string]any{"fields": record("a", "ip"), "step": int64(-1)}, `step: event time does not go back`},
		{map[string]any{"fields": record("a", "ip"), "count": int64(1 << 40), "step": int64(time.Hour)}, `beyond the year 2262`},
		{map[string]any{"fields": record("a", "ip"), "disorder": int64(-1)}, `disorder`},
		{map[string]any{"fields": record("a", "ip"), "late": 1.5}, `late: 1.5`},
		{map[string]any{"fields": record("a", "ip"), "late_by": int64(0)}, `late_by`},
	} {
		if _, err := c.Info(callArgs(c, x.args), nil, exec.OS()); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v: %v, want %s", x.args, err, x.want)
		}
	}
	s := types.NewSchema(types.Field{Name: "a", Type: types.T(types.Int)})
	if _, err := c.Info(callArgs(c, map[string]any{"fields": record("a", "ip")}), &s, exec.OS()); err == nil || !strings.Contains(err.Error(), "leave out `schema`; it is {a: string}") {
		t.Error(err)
	}
}

// FuzzGenerateField: whatever the text says, it is refused or makes values.
func FuzzGenerateField(f *testing.F) {
	for _, v := range allFields {
		if s, ok := v.(string); ok {
			f.Add(s)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := newGenField("x", text, types.Type{}, 1)
		if err != nil {
			return
		}
		c := g.column(1<<39, 10, &genClock{step: 1})
		if c.Len() != 10 {
			t.Fatalf("%q: %d values", text, c.Len())
		}
		for i := range 10 {
			c.Value(i)
		}
	})
}

func BenchmarkGenerate(b *testing.B) {
	r := newSourceRun(b, "generate", map[string]any{"fields": record("id", "sequence", "page", "int 1..1000", "city", []any{"Rome", "Oslo"}, "price", "float 1..100", "at", "time")}, 1)
	source := r.open()[0]
	rows := 0
	out := exec.NewTap(func(_ int, it exec.Item) {
		if it.Kind == exec.Rows {
			rows += it.Batch.N
		}
	})
	b.ReportAllocs()
	for b.Loop() {
		source.Poll(out)
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
