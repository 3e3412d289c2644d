package planner

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A naive evaluator, row by row, of what random scripts do: written from the language's page and from nothing else.

// row is a row of the random sources. Values are nil, int64, float64, string or bool.
type row struct {
	id         int64
	k, v, f, s any
	t          int64 // event time, nanoseconds
	mark       int64 // highest event time before it in its file, minus the lag
	pos        int   // number over all files
}

// json prints fields as the engine prints a row.
func jsonRow(names []string, values []any) string {
	var s strings.Builder
	for i, n := range names {
		fmt.Fprintf(&s, ",%q:%s", n, jsonValue(values[i]))
	}
	return "{" + strings.TrimPrefix(s.String(), ",") + "}"
}

type instant int64

func jsonValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case int64:
		return strconv.FormatInt(v, 10)
	case bool:
		return strconv.FormatBool(v)
	case string:
		return strconv.Quote(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "null"
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	case instant:
		t := time.Unix(0, int64(v)).UTC()
		switch n := t.Nanosecond(); {
		case n == 0:
			return t.Format(`"2006-01-02T15:04:05Z"`)
		case n%1_000_000 == 0:
			return t.Format(`"2006-01-02T15:04:05.000Z"`)
		case n%1_000 == 0:
			return t.Format(`"2006-01-02T15:04:05.000000Z"`)
		}
		return t.Format(`"2006-01-02T15:04:05.000000000Z"`)
	case []any:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = jsonValue(x)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case window:
		return jsonRow([]string{"start", "end"}, []any{instant(v.start), instant(v.end)})
	}
	panic(fmt.Sprintf("%T", v))
}

// order is the order of values in sort, min and max: NaN above all numbers, nulls last.
func order(a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	switch a := a.(type) {
	case int64:
		return cmp.Compare(a, b.(int64))
	case string:
		return strings.Compare(a, b.(string))
	case float64:
		x, y := math.IsNaN(a), math.IsNaN(b.(float64))
		switch {
		case x && y:
			return 0
		case x:
			return 1
		case y:
			return -1
		}
		return cmp.Compare(a, b.(float64))
	}
	panic(fmt.Sprintf("%T", a))
}

type window struct{ start, end int64 }

// windowing says how rows are put into windows.
type windowing struct {
	kind               string
	size, step, offset int64 // of a session: gap, max; of a count: number
}

func (w windowing) String() string {
	d := func(n int64) string { return time.Duration(n).String() }
	switch w.kind {
	case "tumbling":
		if w.offset != 0 {
			return fmt.Sprintf("tumbling(%s, offset: %s)", d(w.size), d(w.offset))
		}
		return fmt.Sprintf("tumbling(%s)", d(w.size))
	case "hopping":
		return fmt.Sprintf("hopping(%s, every: %s, offset: %s)", d(w.size), d(w.step), d(w.offset))
	case "cumulate":
		return fmt.Sprintf("cumulate(%s, step: %s)", d(w.size), d(w.step))
	case "session":
		if w.step > 0 {
			return fmt.Sprintf("session(%s, max: %s)", d(w.size), d(w.step))
		}
		return fmt.Sprintf("session(%s)", d(w.size))
	}
	return fmt.Sprintf("count(%d)", w.size)
}

func floorTo(t, size, offset int64) int64 {
	t -= offset
	r := t % size
	if r < 0 {
		r += size
	}
	return t - r + offset
}

// of returns the windows of the grid that hold t.
func (w windowing) of(t int64) []window {
	var out []window
	switch w.kind {
	case "tumbling":
		s := floorTo(t, w.size, w.offset)
		out = append(out, window{s, s + w.size})
	case "hopping":
		for s := floorTo(t, w.step, w.offset); s > t-w.size; s -= w.step {
			out = append(out, window{s, s + w.size})
		}
	case "cumulate":
		s := floorTo(t, w.size, w.offset)
		for e := s + w.step; ; e += w.step {
			e := min(e, s+w.size)
			if t < e {
				out = append(out, window{s, e})
			}
			if e == s+w.size {
				break
			}
		}
	}
	return out
}

// pane is the rows of one key in one window.
type pane struct {
	key    []any
	window window
	rows   []*row
}

// panes puts rows into windows by key, and tells which are late for all of theirs. allow keeps windows open.
func (w windowing) panes(rows []*row, key func(*row) []any, allow int64) (out []*pane, late []*row) {
	byKey := map[string][]*row{}
	var keys []string
	grid := w.kind == "tumbling" || w.kind == "hopping" || w.kind == "cumulate"
	at := map[string]*pane{}
	for _, r := range rows {
		k := fmt.Sprintf("%#v", keyText(key(r)))
		if !grid {
			if r.t < satSub(r.mark, allow) {
				late = append(late, r)
				continue
			}
			if byKey[k] == nil {
				keys = append(keys, k)
			}
			byKey[k] = append(byKey[k], r)
			continue
		}
		all := w.of(r.t)
		in := false
		for _, x := range all {
			if x.end <= satSub(r.mark, allow) {
				continue
			}
			in = true
			name := fmt.Sprint(k, x)
			p := at[name]
			if p == nil {
				p = &pane{key: key(r), window: x}
				at[name] = p
				out = append(out, p)
			}
			p.rows = append(p.rows, r)
		}
		if !in && len(all) > 0 {
			late = append(late, r)
		}
	}
	for _, k := range keys {
		list := inOrder(byKey[k])
		var p *pane
		for _, r := range list {
			last := int64(0)
			if p != nil {
				last = p.rows[len(p.rows)-1].t
			}
			switch {
			case p == nil,
				w.kind == "session" && (r.t-last > w.size || w.step > 0 && r.t-p.rows[0].t >= w.step),
				w.kind == "count" && int64(len(p.rows)) == w.size:
				p = &pane{key: key(r)}
				out = append(out, p)
			}
			p.rows = append(p.rows, r)
			p.window = window{p.rows[0].t, r.t + w.size}
			if w.kind == "session" && w.step > 0 {
				p.window.end = min(p.window.end, p.window.start+w.step)
			}
			if w.kind == "count" {
				p.window.end = r.t + 1
			}
		}
	}
	return out, late
}

func satSub(a, b int64) int64 {
	if a < math.MinInt64+b {
		return math.MinInt64
	}
	return a - b
}

func keyText(key []any) string {
	parts := make([]string, len(key))
	for i, k := range key {
		parts[i] = fmt.Sprintf("%T:%v", k, k)
	}
	return strings.Join(parts, "|")
}

// inOrder sorts rows as the language orders them: by event time, ties by where they were read.
func inOrder(rows []*row) []*row {
	out := slices.Clone(rows)
	slices.SortStableFunc(out, func(a, b *row) int { return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.pos, b.pos)) })
	return out
}

// aggregateOf is an aggregate call with what it gives for the rows of a group, which are in order.
type aggregateOf struct {
	text    string
	ordered bool // depends on the order of rows
	of      func(rows []*row) any
}

func column(name string) func(*row) any {
	switch name {
	case "k":
		return func(r *row) any { return r.k }
	case "v":
		return func(r *row) any { return r.v }
	case "f":
		return func(r *row) any { return r.f }
	case "s":
		return func(r *row) any { return r.s }
	}
	return func(r *row) any { return r.id }
}

func valuesOf(rows []*row, col string) []any {
	var out []any
	get := column(col)
	for _, r := range rows {
		if x := get(r); x != nil {
			out = append(out, x)
		}
	}
	return out
}

func sumOf(xs []any) any {
	if len(xs) == 0 {
		return nil
	}
	switch xs[0].(type) {
	case int64:
		n := int64(0)
		for _, x := range xs {
			n += x.(int64)
		}
		return n
	}
	f := 0.0
	for _, x := range xs {
		f += x.(float64)
	}
	return f
}

func asFloat(v any) float64 {
	if n, ok := v.(int64); ok {
		return float64(n)
	}
	return v.(float64)
}

func aggregatesOver(col string) []aggregateOf {
	over := func(text string, f func(xs []any) any) aggregateOf {
		return aggregateOf{text: fmt.Sprintf(text, col), of: func(rows []*row) any { return f(valuesOf(rows, col)) }}
	}
	list := []aggregateOf{
		{text: "count()", of: func(rows []*row) any { return int64(len(rows)) }},
		over("count(%s)", func(xs []any) any { return int64(len(xs)) }),
		over("min(%s)", func(xs []any) any {
			if len(xs) == 0 {
				return nil
			}
			return slices.MinFunc(xs, order)
		}),
		over("max(%s)", func(xs []any) any {
			if len(xs) == 0 {
				return nil
			}
			return slices.MaxFunc(xs, order)
		}),
		over("distinct(%s)", func(xs []any) any {
			seen := map[string]bool{}
			for _, x := range xs {
				if f, ok := x.(float64); ok && f == 0 {
					x = 0.0 // not -0
				}
				seen[keyText([]any{x})] = true
			}
			return int64(len(seen))
		}),
		{text: "count_if(v > 2)", of: func(rows []*row) any {
			n := int64(0)
			for _, x := range valuesOf(rows, "v") {
				if x.(int64) > 2 {
					n++
				}
			}
			return n
		}},
	}
	if col == "v" || col == "f" {
		list = append(list, over("sum(%s)", sumOf),
			over("avg(%s)", func(xs []any) any {
				if len(xs) == 0 {
					return nil
				}
				return asFloat(sumOf(xs)) / float64(len(xs))
			}),
			aggregateOf{text: fmt.Sprintf("sum(%s) / count()", col), of: func(rows []*row) any {
				s := sumOf(valuesOf(rows, col))
				if s == nil {
					return nil
				}
				return asFloat(s) / float64(len(rows))
			}},
			over("median(%s)", func(xs []any) any {
				if len(xs) == 0 {
					return nil
				}
				s := slices.Clone(xs)
				slices.SortFunc(s, order)
				a, b := asFloat(s[(len(s)-1)/2]), asFloat(s[len(s)/2])
				if a == b {
					return a
				}
				return a + (b-a)*0.5
			}))
	}
	ordered := func(text string, f func(xs []any) any) {
		a := over(text, f)
		a.ordered = true
		list = append(list, a)
	}
	ordered("first(%s)", func(xs []any) any {
		if len(xs) == 0 {
			return nil
		}
		return xs[0]
	})
	ordered("last(%s)", func(xs []any) any {
		if len(xs) == 0 {
			return nil
		}
		return xs[len(xs)-1]
	})
	ordered("collect(%s)", func(xs []any) any {
		if len(xs) == 0 {
			return nil
		}
		return xs
	})
	list = append(list, aggregateOf{text: fmt.Sprintf("arg_max(id, %s)", col), ordered: true, of: func(rows []*row) any {
		var best *row
		get := column(col)
		for _, r := range rows {
			if get(r) != nil && (best == nil || order(get(r), get(best)) > 0) {
				best = r
			}
		}
		if best == nil {
			return nil
		}
		return best.id
	}})
	return list
}
