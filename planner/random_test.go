package planner

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	seeds    = flag.Int("seeds", 400, "how many random scripts TestRandomScripts runs")
	onlySeed = flag.Int("seed", 0, "the one seed to run")
)

// TestRandomScripts runs random scripts over random files and compares what they give with the naive evaluator, at random
// sizes. A failure names its seed: `go test ./planner -run TestRandomScripts -args -seed N`.
func TestRandomScripts(t *testing.T) {
	n := *seeds
	if testing.Short() {
		n /= 4
	}
	const workers = 2
	for w := range workers {
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			t.Parallel()
			for seed := 1 + w; seed <= n; seed += workers {
				if *onlySeed == 0 || *onlySeed == seed {
					runSeed(t, uint64(seed))
				}
			}
		})
	}
}

// randomSizes are the sizes at which a random script runs besides the usual ones.
func randomSizes(r *rand.Rand) sizes {
	z := sizes{parallelism: 1 + r.IntN(5)}
	if r.IntN(4) > 0 {
		z.chunk = int64(1 + r.IntN(300))
	}
	if r.IntN(4) > 0 {
		z.rows = 1 + r.IntN(20)
	}
	switch r.IntN(4) {
	case 0, 1:
		z.channel = 1 + r.IntN(30)
	case 2:
		z.sim = 1 + r.Uint64N(1000)
	}
	return z
}

func runSeed(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 7))
	g := newScript(r)
	dir := t.TempDir()
	writeFiles(t, dir, g.files)
	for i := range 2 {
		z := sizes{parallelism: 1}
		if i > 0 || r.IntN(2) == 0 {
			z = randomSizes(r)
		}
		got := runIn(t, dir, g.text, z, nil)
		where := fmt.Sprintf("seed %d at %v\n%s", seed, z, g.text)
		require.Empty(t, got.refused, where)
		require.NoError(t, got.err, where)
		lines := got.lines()
		switch {
		case g.ordered:
			lines = strings.Split(strings.TrimSuffix(got.stdout, "\n"), "\n")
			if got.stdout == "" {
				lines = nil
			}
		case g.changes:
			lines = fold(t, got.stdout)
		}
		if !slices.Equal(g.want, lines) {
			var files strings.Builder
			for name, text := range g.files {
				fmt.Fprintf(&files, "%s:\n%s", name, text)
			}
			require.Equal(t, g.want, lines, where+"\n"+files.String())
		}
		require.Equal(t, g.late, got.stats.Late.Load(), "late rows, "+where)
		require.Equal(t, g.failed, got.stats.Errors.Load(), "failed rows, "+where)
	}
}

// script is a random script with its input and what it must give.
type script struct {
	r       *rand.Rand
	files   map[string]string
	text    string
	timed   bool
	want    []string // lines, sorted unless ordered
	ordered bool
	changes bool
	late    int64
	failed  int64
	streams int
}

func newScript(r *rand.Rand) *script {
	g := &script{r: r, files: map[string]string{}}
	rows := g.source()
	name, unique := "e", true
	rows = g.stages(name, rows, r.IntN(4))
	name = g.last()
	switch r.IntN(4) {
	case 0:
		name, rows = g.union(name, rows)
		unique = false
	case 1:
		name, rows = g.split(name, rows)
	}
	if r.IntN(2) == 0 {
		rows = g.stages(name, rows, r.IntN(3))
		name = g.last()
	}
	g.end(name, rows, unique)
	if !g.ordered {
		slices.Sort(g.want)
	}
	return g
}

// last is the newest stream.
func (g *script) last() string { return fmt.Sprintf("s%d", g.streams) }

func (g *script) add(format string, args ...any) { g.text += fmt.Sprintf(format, args...) + "\n" }

func (g *script) stream(format string, args ...any) string {
	g.streams++
	g.add("stream %s = %s", g.last(), fmt.Sprintf(format, args...))
	return g.last()
}

func pick[T any](r *rand.Rand, xs ...T) T { return xs[r.IntN(len(xs))] }

// source writes one to three files of rows whose times are out of order, and reads them.
func (g *script) source() []*row {
	r := g.r
	lag := int64(r.IntN(12)) * int64(time.Second)
	g.timed = r.IntN(5) > 0
	start := pick(r, int64(0), 1_700_000_000, -50) * int64(time.Second)
	var rows []*row
	for f := range 1 + r.IntN(3) {
		var text strings.Builder
		text.WriteString("id,k,v,f,s,at\n")
		high := int64(math.MinInt64)
		for range r.IntN(80) {
			start += int64(r.IntN(3000)) * int64(time.Millisecond)
			x := &row{id: int64(len(rows)), pos: len(rows), t: start - int64(r.IntN(20_000))*int64(time.Millisecond)}
			if r.IntN(30) == 0 {
				start += 100 * int64(time.Second)
			}
			x.mark = math.MinInt64
			if high != math.MinInt64 {
				x.mark = high - lag
			}
			high = max(high, x.t)
			x.k = pick[any](r, "a", "b", "c", "", nil)
			x.v = pick[any](r, int64(r.IntN(10)), int64(r.IntN(10)-5), int64(0), nil)
			x.f = pick[any](r, float64(r.IntN(40))/4-5, float64(r.IntN(40))/4, 0.0, math.NaN(), math.Inf(1), nil)
			x.s = pick[any](r, "x", "xyz", "A, b", "q\"q", "", nil)
			text.WriteString(strings.Join([]string{strconv.FormatInt(x.id, 10), field(x.k), field(x.v), field(x.f), field(x.s),
				time.Unix(0, x.t).UTC().Format(time.RFC3339Nano)}, ",") + "\n")
			rows = append(rows, x)
		}
		name := fmt.Sprintf("e%d.csv", f)
		g.files[name] = text.String()
		if r.IntN(2) == 0 {
			start -= 30 * int64(time.Second)
		}
	}
	clause := ""
	if g.timed {
		clause = fmt.Sprintf(" time at lag %s", time.Duration(lag))
	} else {
		for _, x := range rows {
			x.t, x.mark = 0, math.MinInt64 // order is that of arrival
		}
	}
	g.add(`source e = csv("e*.csv") schema { id: int, k: string?, v: int?, f: float?, s: string?, at: time }%s`, clause)
	g.stream("e |> drop at")
	return rows
}

// field writes a value into a CSV file.
func field(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return `"` + strings.ReplaceAll(v, `"`, `""`) + `"`
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// condition is a random condition with three values.
func (g *script) condition(depth int) (string, func(*row) any) {
	r := g.r
	if depth > 0 && r.IntN(2) == 0 {
		a, fa := g.condition(depth - 1)
		b, fb := g.condition(depth - 1)
		switch r.IntN(3) {
		case 0:
			return fmt.Sprintf("(%s and %s)", a, b), func(x *row) any {
				p, q := fa(x), fb(x)
				switch {
				case p == false || q == false:
					return false
				case p == nil || q == nil:
					return nil
				}
				return true
			}
		case 1:
			return fmt.Sprintf("(%s or %s)", a, b), func(x *row) any {
				p, q := fa(x), fb(x)
				switch {
				case p == true || q == true:
					return true
				case p == nil || q == nil:
					return nil
				}
				return false
			}
		}
		return fmt.Sprintf("not (%s)", a), func(x *row) any {
			if p := fa(x); p != nil {
				return p == false
			}
			return nil
		}
	}
	n := int64(r.IntN(8) - 2)
	ordered := func(op string, get func(*row) any, c any) func(*row) any {
		return func(x *row) any {
			v := get(x)
			if v == nil {
				return nil
			}
			if f, ok := v.(float64); ok && math.IsNaN(f) {
				return false
			}
			o := order(v, c)
			switch op {
			case "<":
				return o < 0
			case "<=":
				return o <= 0
			case ">":
				return o > 0
			}
			return o >= 0
		}
	}
	op := pick(r, "<", "<=", ">", ">=")
	switch r.IntN(9) {
	case 0:
		return fmt.Sprintf("v %s %d", op, n), ordered(op, column("v"), n)
	case 1:
		return fmt.Sprintf("f %s %d.5", op, max(n, 0)), ordered(op, column("f"), float64(max(n, 0))+0.5)
	case 2:
		return `k == "a"`, func(x *row) any { return x.k == "a" }
	case 3:
		return `k in ["a", "b"]`, func(x *row) any { return x.k == "a" || x.k == "b" }
	case 4:
		return "v == nil", func(x *row) any { return x.v == nil }
	case 5:
		return `s contains "x"`, func(x *row) any { s, _ := x.s.(string); return strings.Contains(s, "x") }
	case 6:
		return fmt.Sprintf("v %% 3 == %d", n%3), func(x *row) any { v, ok := x.v.(int64); return ok && v%3 == n%3 }
	case 7:
		return fmt.Sprintf("s %s %q", op, "q"), ordered(op, column("s"), "q")
	}
	return fmt.Sprintf("id %% %d != 0", 2+n&3), func(x *row) any { return x.id%(2+n&3) != 0 }
}

// change is an assignment to a column.
type change struct {
	text string
	of   func(x *row) any
}

var changes = map[string][]change{
	"v": {
		{"v + 1", func(x *row) any { return onInt(x.v, func(n int64) any { return n + 1 }) }},
		{"v * 2 - id", func(x *row) any { return onInt(x.v, func(n int64) any { return n*2 - x.id }) }},
		{"-v", func(x *row) any { return onInt(x.v, func(n int64) any { return -n }) }},
		{"v % 3", func(x *row) any { return onInt(x.v, func(n int64) any { return n % 3 }) }},
		{"v > 2 ? v : nil", func(x *row) any {
			return onInt(x.v, func(n int64) any {
				if n > 2 {
					return n
				}
				return nil
			})
		}},
		{"div(v, 2)", func(x *row) any { return onInt(x.v, func(n int64) any { return n / 2 }) }},
		{"len(s)", func(x *row) any {
			if s, ok := x.s.(string); ok {
				return int64(len(s))
			}
			return nil
		}},
	},
	"f": {
		{"f + 0.5", func(x *row) any { return onFloat(x.f, func(f float64) any { return f + 0.5 }) }},
		{"f * 2", func(x *row) any { return onFloat(x.f, func(f float64) any { return f * 2 }) }},
		{"v / 2", func(x *row) any { return onInt(x.v, func(n int64) any { return float64(n) / 2 }) }},
		{"f > 1 ? f : float(v)", func(x *row) any {
			if f, ok := x.f.(float64); ok && f > 1 {
				return f
			}
			return onInt(x.v, func(n int64) any { return float64(n) })
		}},
		{"f ?? float(v)", func(x *row) any {
			if x.f != nil {
				return x.f
			}
			return onInt(x.v, func(n int64) any { return float64(n) })
		}},
	},
	"s": {
		{"upper(s)", func(x *row) any { return onText(x.s, func(s string) any { return strings.ToUpper(s) }) }},
		{`s + "x"`, func(x *row) any { return onText(x.s, func(s string) any { return s + "x" }) }},
		{"s ?? k", func(x *row) any {
			if x.s != nil {
				return x.s
			}
			return x.k
		}},
		{"substr(s, 0, 1)", func(x *row) any {
			return onText(x.s, func(s string) any { return s[:min(1, len(s))] })
		}},
	},
	"k": {
		{"lower(s)", func(x *row) any { return onText(x.s, func(s string) any { return strings.ToLower(s) }) }},
		{`v > 3 ? "hi" : k`, func(x *row) any {
			if v, ok := x.v.(int64); ok && v > 3 {
				return "hi"
			}
			return x.k
		}},
	},
}

func onInt(v any, f func(int64) any) any {
	if n, ok := v.(int64); ok {
		return f(n)
	}
	return nil
}

func onFloat(v any, f func(float64) any) any {
	if x, ok := v.(float64); ok {
		return f(x)
	}
	return nil
}

func onText(v any, f func(string) any) any {
	if s, ok := v.(string); ok {
		return f(s)
	}
	return nil
}

func (x *row) with(col string, v any) *row {
	y := *x
	switch col {
	case "k":
		y.k = v
	case "v":
		y.v = v
	case "f":
		y.f = v
	case "s":
		y.s = v
	}
	return &y
}

// stages makes a stream of n row-wise stages.
func (g *script) stages(from string, rows []*row, n int) []*row {
	if g.streams == 1 {
		from = g.last()
	}
	text := from
	for range n {
		text += " |> "
		switch g.r.IntN(4) {
		case 0:
			c, f := g.condition(2)
			text += "where " + c
			rows = filter(rows, func(x *row) bool { return f(x) == true })
		case 1, 2:
			var part string
			part, rows = g.derive(rows)
			text += part
		case 3: // rows that fail
			g.add("// rows with v = 0 fail")
			kept := filter(rows, func(x *row) bool { return x.v != int64(0) })
			g.failed += int64(len(rows) - len(kept))
			rows = nil
			for _, x := range kept {
				rows = append(rows, x.with("v", onInt(x.v, func(n int64) any { return 60 / n })))
			}
			text += "derive v = div(60, v) on_error drop"
		}
	}
	g.stream("%s", text)
	return rows
}

func (g *script) derive(rows []*row) (string, []*row) {
	col := pick(g.r, "k", "v", "f", "s")
	c := pick(g.r, changes[col]...)
	var out []*row
	for _, x := range rows {
		out = append(out, x.with(col, c.of(x)))
	}
	if g.r.IntN(3) > 0 {
		return fmt.Sprintf("derive %s = %s", col, c.text), out
	}
	items := []string{"id"}
	for _, name := range []string{"k", "v", "f", "s"} {
		if name == col {
			name += " = " + c.text
		}
		items = append(items, name)
	}
	return "select " + strings.Join(items, ", "), out
}

func filter(rows []*row, keep func(*row) bool) []*row {
	var out []*row
	for _, x := range rows {
		if keep(x) {
			out = append(out, x)
		}
	}
	return out
}

func (g *script) union(name string, rows []*row) (string, []*row) {
	c, f := g.condition(1)
	part, b := g.derive(rows)
	s1 := g.stream("%s |> where %s", name, c)
	s2 := g.stream("%s |> %s", name, part)
	a := filter(rows, func(x *row) bool { return f(x) == true })
	return g.stream("%s |> union %s", s1, s2), append(slices.Clone(a), b...)
}

func (g *script) split(name string, rows []*row) (string, []*row) {
	c, f := g.condition(1)
	g.streams++
	n := g.streams
	g.add("%s |> split {\n    when %s => yes%d\n    else => no%d\n}", name, c, n, n)
	var yes, no []*row
	for _, x := range rows {
		if f(x) == true {
			yes = append(yes, x)
		} else {
			no = append(no, x)
		}
	}
	part, yes := g.derive(yes)
	g.add("yes%d |> %s |> into s%d", n, part, n)
	part, no = g.derive(no)
	g.add("no%d |> %s |> into s%d", n, part, n)
	return g.last(), append(yes, no...)
}

var columns = []string{"id", "k", "v", "f", "s"}

func (x *row) values() []any { return []any{x.id, x.k, x.v, x.f, x.s} }

// end ends the script with rows, an order, or an aggregate.
func (g *script) end(name string, rows []*row, unique bool) {
	r := g.r
	switch n := r.IntN(10); {
	case n == 0:
		g.add("%s |> select %s", name, strings.Join(columns, ", "))
		for _, x := range rows {
			g.want = append(g.want, jsonRow(columns, x.values()))
		}
	case n == 1:
		g.sort(name, rows)
	case n == 2:
		g.add("%s |> unnest [v, id] as x |> where x > 1 |> select id, x", name)
		for _, x := range rows {
			for _, v := range []any{x.v, x.id} {
				if i, ok := v.(int64); ok && i > 1 {
					g.want = append(g.want, jsonRow([]string{"id", "x"}, []any{x.id, v}))
				}
			}
		}
	default:
		g.aggregate(name, rows, unique)
	}
}

func (g *script) sort(name string, rows []*row) {
	by := slices.Clone(columns)
	g.r.Shuffle(len(by), func(i, k int) { by[i], by[k] = by[k], by[i] })
	text, desc := make([]string, len(by)), make([]bool, len(by))
	for i, c := range by {
		text[i] = c
		if desc[i] = g.r.IntN(2) == 0; desc[i] {
			text[i] += " desc"
		}
	}
	g.add("%s |> sort by %s |> select %s", name, strings.Join(text, ", "), strings.Join(columns, ", "))
	g.ordered = true
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b *row) int {
		for i, c := range by {
			x, y := column(c)(a), column(c)(b)
			o := order(x, y)
			if desc[i] && x != nil && y != nil {
				o = -o
			}
			if o != 0 {
				return o
			}
		}
		return 0
	})
	for _, x := range rows {
		g.want = append(g.want, jsonRow(columns, x.values()))
	}
}

// keys are random keys of an aggregate.
func (g *script) keys() (names, text []string, of func(*row) []any) {
	var gets []func(*row) any
	for _, c := range []struct {
		name, text string
		get        func(*row) any
	}{
		{"k", "k", column("k")},
		{"odd", "odd = v % 2 != 0", func(x *row) any {
			v, ok := x.v.(int64)
			return !ok || v%2 != 0 // null is not equal to 0
		}},
		{"v", "v", column("v")},
		{"s", "s", column("s")},
		{"one", `one = "1"`, func(*row) any { return "1" }},
	} {
		if g.r.IntN(4) == 0 {
			names, text, gets = append(names, c.name), append(text, c.text), append(gets, c.get)
		}
	}
	return names, text, func(x *row) []any {
		var key []any
		for _, get := range gets {
			key = append(key, get(x))
		}
		return key
	}
}

func (g *script) aggregate(name string, rows []*row, unique bool) {
	r := g.r
	names, by, key := g.keys()
	var calls []aggregateOf
	var items []string
	for i := range 1 + r.IntN(4) {
		list := aggregatesOver(pick(r, "k", "v", "f", "s", "id"))
		c := pick(r, list...)
		if c.ordered && !unique {
			c = list[0]
		}
		calls = append(calls, c)
		items = append(items, fmt.Sprintf("a%d = %s", i, c.text))
	}
	text := fmt.Sprintf("%s |> aggregate %s", name, strings.Join(items, ", "))
	if len(by) > 0 {
		text += " by " + strings.Join(by, ", ")
	}
	windowed := r.IntN(4) > 0 && g.timed
	var panes []*pane
	out := slices.Clone(names)
	if windowed {
		w := g.window()
		if !unique && (w.kind == "count" || w.step > 0 && w.kind == "session") {
			w.kind, w.step = "session", 0
		}
		text += " window " + w.String()
		allow := int64(0)
		plain := w.kind != "count" && !(w.kind == "session" && w.step > 0)
		switch r.IntN(4) {
		case 0:
			text += " late drop"
		case 1:
			if plain {
				allow = int64(1+r.IntN(10)) * int64(time.Second)
				text += fmt.Sprintf(" late allow %s", time.Duration(allow))
				g.changes = true
			}
		case 2:
			text += " late into late"
		}
		if plain && r.IntN(4) == 0 {
			text += pick(r, " emit changes", " emit changes every 1h")
			g.changes = true
		}
		var late []*row
		panes, late = w.panes(rows, key, allow)
		g.late = int64(len(late))
		out = append(out, "window")
		if strings.Contains(text, "late into") {
			for _, x := range late {
				g.want = append(g.want, jsonRow([]string{"late"}, []any{x.id}))
			}
			defer g.add("late |> select late = id")
		}
	} else {
		at := map[string]*pane{}
		for _, x := range rows {
			k := keyText(key(x))
			if at[k] == nil {
				at[k] = &pane{key: key(x)}
				panes = append(panes, at[k])
			}
			at[k].rows = append(at[k].rows, x)
		}
		if len(rows) == 0 && len(by) == 0 {
			panes = []*pane{{}}
		}
		if r.IntN(3) == 0 {
			text += pick(r, " emit changes", " emit changes every 1h", " emit changes retain forever")
			g.changes = true
		}
	}
	for i := range calls {
		out = append(out, fmt.Sprintf("a%d", i))
	}
	for _, p := range panes {
		values := slices.Clone(p.key)
		if windowed {
			values = append(values, p.window)
		}
		list := inOrder(p.rows)
		for _, c := range calls {
			values = append(values, c.of(list))
		}
		g.want = append(g.want, jsonRow(out, values))
	}
	if len(names) > 0 && r.IntN(4) == 0 { // once more, over the groups
		g.again(text, names, panes)
		return
	}
	g.add("%s", text)
}

// again aggregates the groups by their first key.
func (g *script) again(text string, names []string, panes []*pane) {
	g.want = slices.DeleteFunc(g.want, func(l string) bool { return !strings.HasPrefix(l, `{"late"`) })
	type group struct {
		key  any
		n, m int64
	}
	at := map[string]*group{}
	for _, p := range panes {
		k := keyText(p.key[:1])
		if at[k] == nil {
			at[k] = &group{key: p.key[0]}
		}
		at[k].n++
		at[k].m += int64(len(p.rows))
	}
	text = strings.Replace(text, "|> aggregate ", "|> aggregate rows = count(), ", 1)
	text += fmt.Sprintf("\n    |> aggregate n = count(), m = sum(rows), d = distinct(rows) > 0 by %s", names[0])
	if g.changes && g.r.IntN(2) == 0 {
		text += " emit changes"
	} else if strings.Contains(text, " emit changes") || strings.Contains(text, " late allow") {
		text += " emit final"
	}
	g.add("%s", text)
	for _, x := range at {
		g.want = append(g.want, jsonRow([]string{names[0], "n", "m", "d"}, []any{x.key, x.n, x.m, true}))
	}
}

func (g *script) window() windowing {
	r := g.r
	s := int64(time.Second)
	size := int64(1+r.IntN(15)) * s
	switch r.IntN(6) {
	case 0:
		return windowing{kind: "tumbling", size: size, offset: int64(r.IntN(3)) * 700 * int64(time.Millisecond)}
	case 1:
		return windowing{kind: "hopping", size: size, step: int64(1+r.IntN(10)) * s, offset: int64(r.IntN(2)) * s}
	case 2:
		return windowing{kind: "cumulate", size: size, step: min(size, int64(1+r.IntN(5))*s)}
	case 3:
		return windowing{kind: "session", size: int64(1+r.IntN(50)) * 100 * int64(time.Millisecond)}
	case 4:
		return windowing{kind: "session", size: int64(1+r.IntN(5)) * s, step: int64(5+r.IntN(10)) * s}
	}
	return windowing{kind: "count", size: int64(1 + r.IntN(5))}
}

var _ = cmp.Compare[int]
