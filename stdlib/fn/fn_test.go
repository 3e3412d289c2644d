package fn_test

import (
	"fmt"
	"math"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/fn"
)

// samples are values of each kind, awkward ones among them.
func sample(r *rand.Rand, t types.Type) any {
	pick := func(vs ...any) any { return vs[r.Intn(len(vs))] }
	switch t.Kind {
	case types.Bool:
		return r.Intn(2) == 0
	case types.Int:
		return pick(int64(0), int64(1), int64(-1), int64(2), int64(3), int64(7), int64(64), int64(-5), int64(math.MaxInt64), int64(math.MinInt64))
	case types.Float:
		return pick(0.0, 1.0, -1.5, 2.5, 1e300, math.NaN(), math.Inf(-1), 0.1)
	case types.String:
		return pick("", "a", "A/b/c", "Ünïcödé ß", "  x ", "12", "-3.5", "2026-01-31T10:00:00Z", "1h", "true", "month", "UTC", "Europe/Berlin", "asc", "/", "ab(", "[a-z]+", "{\"a\":1}", "\xff\xfeX", "eyJhIjoxfQ==",
			strings.Repeat("LongText/", 9))
	case types.Bytes:
		return pick("", "\x00\xff", "abc")
	case types.Time:
		return pick(int64(0), int64(-1), int64(1769853600123456789), int64(math.MinInt64), int64(math.MaxInt64), int64(-86400e9))
	case types.Duration:
		return pick(int64(0), int64(-1), int64(time.Hour), int64(90*time.Second), int64(math.MaxInt64), int64(math.MinInt64))
	case types.Any:
		return pick(`{"a":1,"b":[2,null]}`, `[["k",1],["l",{}]]`, `[]`, `{}`, `"te\"xt"`, "3", "-2.5", "true", `[1,[2]]`)
	case types.List:
		xs := []any{}
		for range r.Intn(4) {
			if t.Elem.Nullable && r.Intn(4) == 0 {
				xs = append(xs, nil)
			} else {
				xs = append(xs, sample(r, *t.Elem))
			}
		}
		return xs
	case types.Record:
		m := map[string]any{}
		for _, f := range t.Fields {
			m[f.Name] = sample(r, f.Type)
		}
		return m
	}
	panic(t)
}

// concrete are types that stand for a parameter.
func concrete(p types.Type) []types.Type {
	switch {
	case p.Kind == types.Invalid:
		return []types.Type{types.T(types.Int), types.T(types.String), types.T(types.Duration), types.ListOf(types.T(types.Float))}
	case p.Kind == types.List && p.Elem.Kind == types.Invalid:
		return []types.Type{types.ListOf(types.T(types.Int).Null()), types.ListOf(types.T(types.String)), types.ListOf(types.ListOf(types.T(types.Int)))}
	case p.Kind == types.Record:
		return []types.Type{types.RecordOf(types.Field{Name: "a", Type: types.T(types.Int)}, types.Field{Name: "b", Type: types.T(types.Int).Null()})}
	}
	return []types.Type{p}
}

// TestEveryOverload gives every kernel awkward values: whatever they are it neither panics nor depends on how rows lie in
// batches: all, with nulls, by a selection, each on its own, and the arguments after the first as constants.
func TestEveryOverload(t *testing.T) {
	w := newWorld()
	r := rand.New(rand.NewSource(1))
	for _, f := range fn.All() {
		for k, s := range w.Func(f.Name) {
			for _, first := range concrete(s.Params[0]) {
				params := []types.Type{first}
				for _, p := range s.Params[1:] {
					c := concrete(p)[0]
					if p.Kind == types.List && p.Elem.Kind == types.Invalid {
						c = first
					}
					params = append(params, c)
				}
				if s.Variadic {
					params = append(params, params[len(params)-1])
				}
				t.Run(fmt.Sprintf("%s/%d/%s", f.Name, k, first), func(t *testing.T) { overload(t, w, r, f.Name, s, params) })
			}
		}
	}
}

func overload(t *testing.T, w *world, r *rand.Rand, name string, s *types.Sig, params []types.Type) {
	call := &types.Expr{Op: types.OpCall, Name: name, Sig: s}
	schema := types.Schema{}
	for i, p := range params {
		schema.Fields = append(schema.Fields, types.Field{Name: fmt.Sprint("c", i), Type: p.Null()})
		call.Args = append(call.Args, types.ColRef(schema, i))
	}
	if name == "captures" {
		call.Args[1] = types.Const(types.T(types.String), "(?P<x>[a-z]+)(?P<y>/)?")
	}
	result := s.Result
	if s.Infer != nil {
		var err error
		if result, err = s.Infer(call.Args); err != nil {
			return // not for these types
		}
	}
	call.Type = result.OrNull(!s.Loose)
	rows := make([][]any, 70)
	for i := range rows {
		for _, p := range params {
			var v any
			if r.Intn(8) > 0 {
				v = sample(r, p)
			}
			rows[i] = append(rows[i], v)
		}
	}
	b := vec.FromRows(schema, rows)
	run := func(e *types.Expr, b *vec.Batch) (*vec.Column, []eval.Fail) {
		p, err := eval.Compile(e, w)
		require.NoError(t, err)
		var x eval.Ctx
		p.Eval(&x, b, nil)
		c := p.Eval(&eval.Ctx{}, b, nil) // with warm buffers
		return c, x.Failed()
	}
	failure := func(fails []eval.Fail, row int) string {
		for _, f := range fails {
			if f.Row == row {
				return f.Err.Error()
			}
		}
		return ""
	}
	all, fails := run(call, b)
	if s.Fails == nil && len(fails) > 0 {
		require.True(t, s.Rare, "%s: neither Sig.Fails nor Sig.Rare says that it fails: %v", name, fails[0].Err)
	}
	var sel []uint32
	for i := range rows {
		if i%3 != 1 {
			sel = append(sel, uint32(i))
		}
	}
	some, someFails := run(call, b.Select(sel))
	for i := range rows {
		one, oneFails := run(call, b.Gather([]uint32{uint32(i)}))
		constant := *call
		constant.Args = append([]*types.Expr(nil), call.Args...)
		for k := 1; k < len(params); k++ {
			if constant.Args[k].Op == types.OpCol {
				constant.Args[k] = types.Const(params[k].Null(), rows[i][k])
			}
		}
		fixed, fixedFails := run(&constant, b.Gather([]uint32{uint32(i)}))
		want := failure(fails, i)
		require.Equal(t, want, failure(oneFails, 0), "%v", rows[i])
		require.Equal(t, want, failure(fixedFails, 0), "%v", rows[i])
		if i%3 != 1 {
			require.Equal(t, want, failure(someFails, i), "%v", rows[i])
		}
		if want != "" {
			require.NotContains(t, want, "runtime error")
			continue
		}
		text := fmt.Sprint(all.Value(i))
		require.Equal(t, text, fmt.Sprint(one.Value(0)), "%v", rows[i])
		require.Equal(t, text, fmt.Sprint(fixed.Value(0)), "%v", rows[i])
		if i%3 != 1 {
			require.Equal(t, text, fmt.Sprint(some.Value(i)), "%v", rows[i])
		}
	}
}

// timesOf makes a batch of a column at of random times, and the times.
func timesOf(n int) (*world, *vec.Batch, []time.Time) {
	w := newWorld(types.Field{Name: "at", Type: types.T(types.Time)})
	r := rand.New(rand.NewSource(3))
	rows := make([][]any, n)
	ts := make([]time.Time, n)
	for i := range rows {
		ns := r.Int63()
		if i%2 == 0 {
			ns = -ns
		}
		if i%3 == 0 { // around changes of day, month and year
			ns = time.Date(1900+r.Intn(300), time.Month(1+r.Intn(12)), 1, 0, 0, 0, -r.Intn(2), time.UTC).UnixNano()
		}
		rows[i], ts[i] = []any{ns}, time.Unix(0, ns).UTC()
	}
	return w, vec.FromRows(w.schema, rows), ts
}

func TestCalendarAgainstPackageTime(t *testing.T) {
	w, b, ts := timesOf(3000)
	parts := map[string]func(t time.Time) int{"year": time.Time.Year, "day": time.Time.Day, "hour": time.Time.Hour, "minute": time.Time.Minute, "second": time.Time.Second, "yearday": time.Time.YearDay,
		"month":       func(t time.Time) int { return int(t.Month()) },
		"weekday":     func(t time.Time) int { return int(t.Weekday()+6)%7 + 1 },
		"week":        func(t time.Time) int { _, w := t.ISOWeek(); return w },
		"millisecond": func(t time.Time) int { return t.Nanosecond() / 1e6 },
		"quarter":     func(t time.Time) int { return int(t.Month()+2) / 3 }}
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	for name, part := range parts {
		utc, local := w.run(t, name+"(at)", b), w.run(t, name+`(at, "Europe/Berlin")`, b)
		for i, at := range ts {
			require.Equal(t, int64(part(at)), utc.Ints[i], "%s of %s", name, at)
			require.Equal(t, int64(part(at.In(berlin))), local.Ints[i], "%s of %s", name, at.In(berlin))
		}
	}
	for _, layout := range []string{"2006-01-02", "15:04", "15-04", "2006-01-02T15:04:05Z", "02/01/2006 15:04:05", "2006-01-02 15:04:05.000", "Mon Jan _2", "2006-01-02T15:04:05-07:00", "20060102", "06", "01:02", "Z07:00", "no time", "", "2006.01.02"} {
		got := w.run(t, fmt.Sprintf("format(at, %q)", layout), b)
		for i, at := range ts {
			require.Equal(t, at.Format(layout), got.Strs[i])
		}
	}
	starts := map[string]func(t time.Time) time.Time{
		"day":   func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location()) },
		"month": func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, t.Location()) },
		"year":  func(t time.Time) time.Time { return time.Date(t.Year(), 1, 1, 0, 0, 0, 0, t.Location()) },
		"week": func(t time.Time) time.Time {
			return time.Date(t.Year(), t.Month(), t.Day()-int(t.Weekday()+6)%7, 0, 0, 0, 0, t.Location())
		},
		"hour": func(t time.Time) time.Time {
			return t.Add(-time.Duration(t.Minute())*time.Minute - time.Duration(t.Second())*time.Second - time.Duration(t.Nanosecond()))
		},
	}
	for unit, start := range starts {
		utc, local := w.run(t, fmt.Sprintf("truncate(at, %q)", unit), b), w.run(t, fmt.Sprintf(`truncate(at, %q, "Europe/Berlin")`, unit), b)
		for i, at := range ts {
			if at.Year() < 1900 { // zones then differed by odd seconds, and the start may be beyond what a time holds
				continue
			}
			require.Equal(t, start(at), time.Unix(0, utc.Ints[i]).UTC(), unit)
			require.Equal(t, start(at.In(berlin)).UTC(), time.Unix(0, local.Ints[i]).UTC(), "%s of %s", unit, at.In(berlin))
		}
	}
}

// Where clocks change at midnight a day may start at another time, and a midnight may come twice.
func TestDaysStartAtTheirFirstMoment(t *testing.T) {
	w := newWorld(types.Field{Name: "at", Type: types.T(types.Time)})
	for name, day := range map[string]time.Time{
		"America/Sao_Paulo": time.Date(2011, 10, 16, 0, 0, 0, 0, time.UTC), // begins at 1:00
		"Africa/Cairo":      time.Date(2023, 4, 28, 0, 0, 0, 0, time.UTC),
		"America/Santiago":  time.Date(2024, 4, 7, 0, 0, 0, 0, time.UTC),  // 23:00 to midnight of the day before comes twice
		"America/Havana":    time.Date(2024, 11, 3, 0, 0, 0, 0, time.UTC), // midnight to 1:00 comes twice
		"Europe/Berlin":     time.Date(2024, 3, 31, 0, 0, 0, 0, time.UTC),
	} {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		var rows [][]any
		var ts []time.Time
		for at := day.Add(-48 * time.Hour); at.Before(day.Add(60 * time.Hour)); at = at.Add(30 * time.Minute) {
			rows, ts = append(rows, []any{at.UnixNano()}), append(ts, at.In(zone))
		}
		b := vec.FromRows(w.schema, rows)
		days, long := w.run(t, fmt.Sprintf("truncate(at, \"day\", %q)", name), b), w.run(t, fmt.Sprintf("truncate(at, 1d, %q)", name), b)
		for i, at := range ts {
			start := time.Unix(0, days.Ints[i]).In(zone)
			require.False(t, start.After(at), at)
			require.Equal(t, at.Format("2006-01-02"), start.Format("2006-01-02"), "%s starts at %s", at, start)
			require.NotEqual(t, at.Format("2006-01-02"), start.Add(-1).Format("2006-01-02"), "%s starts before %s", at, start)
			require.Equal(t, days.Ints[i], long.Ints[i], at)
		}
	}
}

func TestTimeTexts(t *testing.T) {
	w := newWorld()
	for _, c := range []struct{ code, want string }{
		{`time("2026-01-31")`, "@2026-01-31T00:00:00Z"},
		{`time("2026-01-31 10:00")`, "@2026-01-31T10:00:00Z"},
		{`time("2026-01-31T10:00:00.25+02:00")`, "@2026-01-31T08:00:00.25Z"},
		{`time("2026-01-31T10:00:00 -0130")`, "@2026-01-31T11:30:00Z"},
		{`time("2026-01-31T10:00:00.123456789123Z")`, "@2026-01-31T10:00:00.123456789Z"},
		{`time("Sat, 31 Jan 2026 10:00:00 GMT")`, "@2026-01-31T10:00:00Z"},
		{`time("1769853600.5", "s")`, "@2026-01-31T10:00:00.5Z"},
		{`time(1769853600500, "ms")`, "@2026-01-31T10:00:00.5Z"},
		{`time(1769853600.25, "s")`, "@2026-01-31T10:00:00.25Z"},
		{`time("2026-06-01 00:00", "2006-01-02 15:04", "Europe/Berlin")`, "@2026-05-31T22:00:00Z"},
		{`duration("1w2d3h")`, "219h"},
		{`duration("-1d")`, "-24h"},
	} {
		got, failure := w.value(t, c.code)
		require.Equal(t, c.want, got+failure, c.code)
	}
	for _, c := range []struct{ code, want string }{
		{`time("2026-02-30")`, `"2026-02-30" is no time`},
		{`time("2026-13-01")`, "is no time"},
		{`time("today")`, "is no time"},
		{`time("9999-01-01T00:00:00Z", "2006-01-02T15:04:05Z")`, "beyond what a time can hold"},
		{`time("31.01.2026", "2006-01-02")`, `"31.01.2026" is no time of the layout "2006-01-02"`},
		{`time(9223372036854775807, "s")`, "beyond what a time can hold"},
		{`duration("5 minutes")`, "is no duration"},
		{`duration("d")`, "is no duration"},
		{`duration("")`, "is no duration"},
		{`int("4.5")`, `"4.5" is no int`},
		{`int(1e300)`, "no int holds 1e+300"},
		{`float("x")`, `"x" is no number`},
		{`bool("yes")`, `"yes" is neither true nor false`},
		{`div(1, 0)`, "integer division by zero in `div`"},
		{`fromJSON("{")`, "is no JSON"},
		{`fromBase64("?")`, "is no base64"},
		{`repeat("a", -1)`, "the count is from 0"},
		{`bitshl(1, -1)`, "must not be negative"},
		{`take([1], -1)`, "must not be negative"},
	} {
		_, failure := w.value(t, c.code)
		require.Contains(t, failure, c.want, c.code)
	}
	// What is constant and wrong is an error of the script.
	for _, c := range []struct{ code, want string }{
		{`hour(@2026-01-31, "Mars/Base")`, "unknown time zone"},
		{`format(@2026-01-31, "2006", "Local")`, "unknown time zone"},
		{`truncate(@2026-01-31, "fortnight")`, "cannot truncate to"},
		{`truncate(@2026-01-31, 0s)`, "must be greater than zero"},
		{`time(5, "minutes")`, "needs its unit"},
		{`extract("a", "(")`, "bad regular expression"},
		{`extract("a", "(a)", 2)`, "there is no group 2: the expression has one group"},
		{`captures("a", "a")`, "has no named groups"},
		{`sort([1], "down")`, `the order is "asc" or "desc"`},
		{`sort([{a: 1}])`, "have no order"},
		{`concat([1], ["a"])`, "do not go together"},
	} {
		_, err := w.exprs(c.code)
		require.ErrorContains(t, err, c.want, c.code)
	}
}

func TestTextAgainstPackageStrings(t *testing.T) {
	w := newWorld(types.Field{Name: "s", Type: types.T(types.String)}, types.Field{Name: "n", Type: types.T(types.Int)})
	r := rand.New(rand.NewSource(5))
	letters := []string{"a", "B", "/", "Z", "z", "@", "[", "`", "{", "ß", "Ä", "\xff", "\x00", "1", "ſ", "K"}
	var rows [][]any
	for range 5000 {
		var s strings.Builder
		for range r.Intn(30) {
			s.WriteString(letters[r.Intn(len(letters)-r.Intn(8))])
		}
		rows = append(rows, []any{s.String(), int64(r.Intn(9) - 4)})
	}
	b := vec.FromRows(w.schema, rows)
	lower, upper, pieces := w.run(t, "lower(s)", b), w.run(t, "upper(s)", b), w.run(t, `split(s, "/")`, b)
	part, nul, long := w.run(t, `part(s, "/", n)`, b), w.run(t, `part(s, "\x00", n)`, b), w.run(t, `part(s, "a/", n)`, b)
	rest := w.run(t, "substr(s, n, 3)", b)
	chars := w.run(t, `split(s, "", n)`, b)
	for i, row := range rows {
		s, n := row[0].(string), int(row[1].(int64))
		require.Equal(t, strings.ToLower(s), lower.Strs[i])
		require.Equal(t, strings.ToUpper(s), upper.Strs[i])
		require.Equal(t, fmt.Sprint(strings.Split(s, "/")), fmt.Sprint(pieces.Value(i)))
		require.Equal(t, fmt.Sprint(strings.SplitN(s, "", n)), fmt.Sprint(chars.Value(i)))
		for sep, got := range map[string]*vec.Column{"/": part, "\x00": nul, "a/": long} {
			all := strings.Split(s, sep)
			k := n
			if k < 0 {
				k += len(all)
			}
			if k < 0 || k >= len(all) {
				require.True(t, got.Null(i), "part %d of %q by %q is %q", n, s, sep, got.Strs[i])
				continue
			}
			require.False(t, got.Null(i))
			require.Equal(t, all[k], got.Strs[i])
		}
		runes := []rune(s)
		from := n
		if from < 0 {
			from += len(runes)
		}
		if strings.Contains(s, "\xff") {
			continue // []rune would replace it
		}
		want := ""
		for at := from; at < from+3; at++ { // what lies outside is left out, on both sides
			if at >= 0 && at < len(runes) {
				want += string(runes[at])
			}
		}
		require.Equal(t, want, rest.Strs[i], "substr(%q, %d, 3)", s, n)
	}
}

func TestNulls(t *testing.T) {
	w := newWorld(types.Field{Name: "s", Type: types.T(types.String).Null()}, types.Field{Name: "xs", Type: types.ListOf(types.T(types.Int).Null())})
	b := vec.FromRows(w.schema, [][]any{{nil, []any{int64(1), nil, int64(3)}}, {"Ab", []any{}}})
	for _, c := range []struct {
		code string
		want []any
	}{
		{"lower(s)", []any{nil, "ab"}},
		{"string(s)", []any{"<nil>", "Ab"}},
		{"type(s)", []any{"nil", "string"}},
		{"len(s) ?? -1", []any{int64(-1), int64(2)}},
		{"max(xs)", []any{nil, nil}},
		{"::sum(xs)", []any{nil, int64(0)}},
		{"mean(xs)", []any{nil, 0.0}},
		{"first(xs)", []any{int64(1), nil}},
		{"get(xs, 1)", []any{nil, nil}},
		{"sort(xs, \"desc\")", []any{[]any{int64(3), int64(1), nil}, []any{}}},
		{"toJSON(s)", []any{"null", `"Ab"`}},
	} {
		got := w.run(t, c.code, b)
		for i, v := range c.want {
			require.Equal(t, v, got.Value(i), "%s in row %d", c.code, i)
		}
	}
}
