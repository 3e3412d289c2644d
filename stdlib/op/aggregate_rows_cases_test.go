package op

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

func TestCasesFeldera(t *testing.T) {
	var cases []struct {
		ID         string
		Columns    map[string]string `json:"rows_columns"`
		Rows       []map[string]any
		By         []string
		Aggregates map[string]struct {
			Function string
			Of       []string
			Distinct bool
			Only     string `json:"only_rows_where"`
		}
		Expected []map[string]any
		Exact    []map[string]any `json:"expected_exact"`
		Decision string
	}
	decode(t, casesFile(t, "feldera/cases.json"), &cases)
	only := map[string]func(r map[string]any) bool{
		"":          func(map[string]any) bool { return true },
		"c8>2":      func(r map[string]any) bool { return number(r["c8"]) > 2 },
		"len(c1)>4": func(r map[string]any) bool { s, ok := r["c1"].(string); return ok && len(s) > 4 },
		"len(c2)>4": func(r map[string]any) bool { s, ok := r["c2"].(string); return ok && len(s) > 4 },
		"c1 < 1":    func(r map[string]any) bool { return r["c1"] != nil && number(r["c1"]) < 1 },
		"(c5+C6)> 3": func(r map[string]any) bool {
			return r["c5"] != nil && r["c6"] != nil && number(r["c5"])+number(r["c6"]) > 3
		},
	}
	ran := 0
	for _, c := range cases {
		names := make([]string, 0, len(c.Columns))
		for n := range c.Columns {
			names = append(names, n)
		}
		sort.Strings(names)
		outs := make([]string, 0, len(c.Aggregates))
		usable := c.Decision == ""
		for n, g := range c.Aggregates {
			outs = append(outs, n)
			if len(g.Of) == 0 {
				g.Of = []string{"*"}
			}
			for i, of := range g.Of {
				g.Of[i] = strings.ToLower(of)
				if _, ok := c.Columns[g.Of[i]]; !ok && g.Of[i] != "*" {
					usable = false // an expression
				}
			}
			c.Aggregates[n] = g
			if g.Distinct && g.Function != "count" && g.Function != "max" && g.Function != "min" || aggNamed(g.Function) == nil && g.Function != "stddev (sample)" ||
				g.Function == "collect" || only[g.Only] == nil {
				usable = false // distinct inside another aggregate, the population's deviation: not in the language
			}
		}
		if !usable {
			continue
		}
		sort.Strings(outs)
		ran++
		t.Run(c.ID, func(t *testing.T) {
			a := &aggregateTest{in: types.Stream{Bounded: true}}
			for _, n := range names {
				a.in.Schema.Fields = append(a.in.Schema.Fields, types.Field{Name: n, Type: typeNamed(c.Columns[n])})
			}
			// The argument of each aggregate as a column of its own, null where the row does not count.
			for _, out := range outs {
				for k, of := range c.Aggregates[out].Of {
					if of == "*" {
						a.in.Schema.Fields = append(a.in.Schema.Fields, types.Field{Name: fmt.Sprintf("%s.%d", out, k), Type: types.T(types.Int).Null()})
					} else {
						a.in.Schema.Fields = append(a.in.Schema.Fields, types.Field{Name: fmt.Sprintf("%s.%d", out, k), Type: typeNamed(c.Columns[of]).Null()})
					}
				}
			}
			a.by(c.By...)
			for _, out := range outs {
				g := c.Aggregates[out]
				var cols []string
				for k := range g.Of {
					cols = append(cols, fmt.Sprintf("%s.%d", out, k))
				}
				name := g.Function
				if name == "count" && g.Distinct {
					name = "distinct"
				}
				if name == "stddev (sample)" {
					name = "stddev"
				}
				a.call(name, cols)
			}
			for _, r := range c.Rows {
				var values []any
				conv := map[string]any{}
				for _, n := range names {
					conv[n] = caseValue(typeNamed(c.Columns[n]), r[n])
					values = append(values, conv[n])
				}
				for _, out := range outs {
					g := c.Aggregates[out]
					for _, of := range g.Of {
						v := conv[of]
						if of == "*" {
							v = int64(1)
						}
						if !only[g.Only](conv) {
							v = nil
						}
						values = append(values, v)
					}
				}
				a.add(0, values)
			}
			want := c.Expected
			if c.Exact != nil {
				want = c.Exact
			}
			var rows []string
			for _, r := range want {
				var parts []string
				for _, k := range c.By {
					parts = append(parts, valueText(caseValue(typeNamed(c.Columns[k]), r[k])))
				}
				for i, out := range outs {
					v := caseValue(a.args.Aggs[i].Result, r[out])
					parts = append(parts, valueText(v))
				}
				rows = append(rows, strings.Join(parts, "|"))
			}
			a.gives(t, rows)
			// Further rows that come and are taken back change nothing.
			a.in.Updating = true
			plain := a.rows
			for _, r := range plain[:(len(plain)+1)/2] {
				r.pos += 1000
				a.rows = append([]testRow{r}, a.rows...)
				r.change = vec.Delete
				a.rows = append(a.rows, r)
			}
			a.gives(t, rows)
		})
	}
	require.Greater(t, ran, 20)
}

func TestCasesArroyo(t *testing.T) {
	lines := func(name string) (out []map[string]any) {
		sc := bufio.NewScanner(bytes.NewReader(casesFile(t, "arroyo/"+name)))
		for sc.Scan() {
			var m map[string]any
			decode(t, sc.Bytes(), &m)
			out = append(out, m)
		}
		return out
	}
	cars := lines("inputs/cars.json")
	impulse := lines("inputs/impulse.json")
	second := int64(time.Second)
	check := func(name string, a *aggregateTest, want []string) {
		t.Run(name, func(t *testing.T) {
			sort.Strings(want)
			for seed := range uint64(3) {
				a.width = int(seed)
				if a.args.Window.Kind == types.Session {
					a.width = 0
				}
				a.run(t, rand.New(rand.NewPCG(seed, 1)).IntN)
				require.Equal(t, want, a.out)
			}
		})
	}
	load := func(a *aggregateTest, rows []map[string]any, values func(m map[string]any) []any) {
		top := types.MinInstant
		for i, m := range rows {
			at := caseTime(m["timestamp"].(string))
			mark := types.MinInstant
			if i > 0 {
				mark = top - a.lag
			}
			top = max(top, at)
			a.rows = append(a.rows, testRow{time: at, mark: mark, pos: uint64(i), values: values(m)})
		}
	}

	a := &aggregateTest{in: types.Stream{Time: true, Bounded: true, Schema: types.NewSchema(types.Field{Name: "user", Type: types.T(types.Int)})}}
	a.args.Window = &types.Window{Kind: types.Session, Size: 20 * second}
	a.by("user")
	a.call("count", nil)
	load(a, impulse, func(m map[string]any) []any {
		n := caseValue(types.T(types.Int), m["counter"]).(int64)
		if n%10 == 0 {
			n = 0
		}
		return []any{n}
	})
	var want []string
	for _, m := range lines("golden/session_window.json") {
		want = append(want, fmt.Sprintf("%v|%s|%v", m["user_id"], windowAs(caseTime(m["start"].(string)), caseTime(m["end"].(string))), m["rows"]))
	}
	check("session_window", a, want)

	a = &aggregateTest{in: types.Stream{Time: true, Bounded: true, Schema: types.NewSchema(types.Field{Name: "event", Type: types.T(types.String)})}, lag: 60 * second}
	a.args.Window = &types.Window{Kind: types.Tumbling, Size: 3600 * second}
	a.by("event")
	a.call("count", nil)
	load(a, cars, func(m map[string]any) []any { return []any{m["event_type"]} })
	want = nil
	for _, m := range lines("golden/hourly_by_event_type.json") {
		start := caseTime(m["hour"].(string))
		want = append(want, fmt.Sprintf("%v|%s|%v", m["event_type"], windowAs(start, start+3600*second), m["count"]))
	}
	check("hourly_by_event_type", a, want)

	b := *a
	b.args.By = nil
	month := 30 * 86400 * second
	b.args.Window = &types.Window{Kind: types.Tumbling, Size: month}
	want = nil
	for _, m := range lines("golden/month_loose_watermark.json") {
		start := caseTime(m["month"].(string))
		want = append(want, fmt.Sprintf("%s|%v", windowAs(start, start+month), m["count"]))
	}
	check("month_loose_watermark", &b, want)
}
