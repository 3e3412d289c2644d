package op

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/ebb-lang/ebb/lang/types"
)

// expect computes what must come out, row at a time.
func (a *aggregateTest) expect() (out, late []string) {
	w := a.args.Window
	type window struct{ start, end, n int64 }
	groups := map[string]map[window][]testRow{}
	put := func(r testRow, win window) {
		k := a.keyText(r)
		if groups[k] == nil {
			groups[k] = map[window][]testRow{}
		}
		groups[k][win] = append(groups[k][win], r)
	}
	isLate := func(r testRow) { late = append(late, rowText(a.batch([]testRow{r}), 0)) }
	inOrder := slices.Clone(a.rows)
	slices.SortStableFunc(inOrder, func(x, y testRow) int { return cmp.Or(cmp.Compare(x.time, y.time), cmp.Compare(x.pos, y.pos)) })
	switch {
	case w == nil && a.args.Retain.For == 0:
		for _, r := range a.rows {
			put(r, window{})
		}
	case w == nil || w.Kind == types.Session && w.Max == 0:
		gap := a.args.Retain.For
		if w != nil {
			gap = w.Size
		}
		byKey := map[string][]testRow{}
		for _, r := range inOrder {
			if w != nil && r.time < satSub(r.mark, a.args.Late.Allow) {
				isLate(r)
				continue
			}
			byKey[a.keyText(r)] = append(byKey[a.keyText(r)], r)
		}
		for _, rows := range byKey {
			for i := 0; i < len(rows); {
				j := i + 1
				for j < len(rows) && rows[j].time-rows[j-1].time <= gap {
					j++
				}
				for _, r := range rows[i:j] {
					put(r, window{rows[i].time, rows[j-1].time + gap, 0})
				}
				i = j
			}
		}
	case w.Kind == types.Session || w.Kind == types.CountWindow:
		byKey := map[string][]testRow{}
		for _, r := range inOrder {
			if r.time < r.mark {
				isLate(r)
				continue
			}
			byKey[a.keyText(r)] = append(byKey[a.keyText(r)], r)
		}
		for _, rows := range byKey {
			for i := 0; i < len(rows); {
				j := i + 1
				for j < len(rows) && (w.Kind == types.CountWindow && j-i < int(w.Size) ||
					w.Kind == types.Session && rows[j].time-rows[j-1].time <= w.Size && rows[j].time-rows[i].time < w.Max) {
					j++
				}
				end := rows[j-1].time + 1
				if w.Kind == types.Session {
					end = min(rows[j-1].time+w.Size, rows[i].time+w.Max)
				}
				for _, r := range rows[i:j] {
					put(r, window{rows[i].time, end, int64(i)})
				}
				i = j
			}
		}
	default:
		for _, r := range a.rows {
			var wins []window
			switch w.Kind {
			case types.Tumbling:
				s := floorTo(r.time-w.Offset, w.Size) + w.Offset
				wins = append(wins, window{s, s + w.Size, 0})
			case types.Hopping:
				for s := floorTo(r.time-w.Offset, w.Step) + w.Offset; s > r.time-w.Size; s -= w.Step {
					wins = append(wins, window{s, s + w.Size, 0})
				}
			case types.Cumulate:
				s := floorTo(r.time-w.Offset, w.Size) + w.Offset
				for e := s + w.Step; ; e += w.Step {
					e := min(e, s+w.Size)
					if e > r.time {
						wins = append(wins, window{s, e, 0})
					}
					if e == s+w.Size {
						break
					}
				}
			}
			in := 0
			for _, win := range wins {
				if win.end+a.args.Late.Allow > r.mark {
					put(r, win)
					in++
				}
			}
			if in == 0 && len(wins) > 0 {
				isLate(r)
			}
		}
	}
	if w == nil && len(a.args.By) == 0 && len(groups) == 0 && a.args.Retain.For == 0 {
		groups[""] = map[window][]testRow{{}: nil}
	}
	for key, wins := range groups {
		for win, rows := range wins {
			rows = survivors(rows)
			if len(rows) == 0 && !(w == nil && len(a.args.By) == 0) {
				continue
			}
			slices.SortStableFunc(rows, func(x, y testRow) int { return cmp.Or(cmp.Compare(x.time, y.time), cmp.Compare(x.pos, y.pos)) })
			var parts []string
			if len(a.args.By) > 0 {
				parts = append(parts, key)
			}
			if w != nil {
				parts = append(parts, fmt.Sprintf("{end:%d start:%d }", win.end, win.start))
			}
			for i := range a.args.Aggs {
				parts = append(parts, valueText(a.naive(&a.args.Aggs[i], rows)))
			}
			out = append(out, strings.Join(parts, "|"))
		}
	}
	sort.Strings(out)
	sort.Strings(late)
	return out, late
}

func floorTo(t, n int64) int64 { return t - ((t%n)+n)%n }

func (a *aggregateTest) keyText(r testRow) string {
	var parts []string
	for _, k := range a.args.By {
		parts = append(parts, valueText(r.values[k.Expr.Col]))
	}
	return strings.Join(parts, "|")
}

// survivors applies the retractions among rows.
func survivors(rows []testRow) []testRow {
	var out []testRow
	for _, r := range rows {
		if !r.change.Retracts() {
			out = append(out, r)
		}
	}
	for _, r := range rows {
		if r.change.Retracts() {
			i := slices.IndexFunc(out, func(o testRow) bool {
				return o.time == r.time && o.pos == r.pos && fmt.Sprint(o.values) == fmt.Sprint(r.values)
			})
			out = slices.Delete(out, i, i+1)
		}
	}
	return out
}

func columnOf(e *types.Expr) int {
	for e.Op == types.OpCast {
		e = e.Args[0]
	}
	return e.Col
}

func number(v any) float64 {
	if i, ok := v.(int64); ok {
		return float64(i)
	}
	return v.(float64)
}

// naive computes an aggregate over rows that are in order.
func (a *aggregateTest) naive(c *types.AggCall, rows []testRow) any {
	var vals [][]any
	for _, r := range rows {
		var v []any
		null := false
		for i, e := range c.Args {
			if !c.Sig.Params[i].Constant {
				x := r.values[columnOf(e)]
				null = null || x == nil
				v = append(v, x)
			}
		}
		if !null {
			vals = append(vals, v)
		}
	}
	compare := func(x, y any) int {
		switch x := x.(type) {
		case int64:
			return cmp.Compare(x, y.(int64))
		case string:
			return cmp.Compare(x, y.(string))
		case bool:
			return cmp.Compare(fmt.Sprint(x), fmt.Sprint(y))
		}
		return cmp.Compare(x.(float64), y.(float64))
	}
	name := c.Sig.Name
	switch name {
	case "count":
		return int64(len(vals))
	case "count_if":
		n := int64(0)
		for _, v := range vals {
			if v[0].(bool) {
				n++
			}
		}
		return n
	case "distinct", "approx_distinct":
		set := map[any]bool{}
		for _, v := range vals {
			set[v[0]] = true
		}
		return int64(len(set))
	}
	if name == "sum_if" {
		vals = slices.DeleteFunc(vals, func(v []any) bool { return !v[1].(bool) })
		name = "sum"
	}
	if len(vals) == 0 {
		return nil
	}
	var nums []float64
	sum := 0.0
	isInt := false
	if _, s := vals[0][0].(string); !s {
		if _, b := vals[0][0].(bool); !b {
			for _, v := range vals {
				nums = append(nums, number(v[0]))
				sum += number(v[0])
			}
			_, isInt = vals[0][0].(int64)
		}
	}
	slices.Sort(nums)
	quantile := func(p float64) any {
		at := p * float64(len(nums)-1)
		lo := int(at)
		hi := min(lo+1, len(nums)-1)
		return nums[lo] + (nums[hi]-nums[lo])*(at-float64(lo))
	}
	switch name {
	case "sum":
		if isInt {
			return int64(sum)
		}
		return sum
	case "avg":
		return sum / float64(len(vals))
	case "min", "max":
		best := vals[0][0]
		for _, v := range vals {
			if o := compare(v[0], best); name == "min" && o < 0 || name == "max" && o > 0 {
				best = v[0]
			}
		}
		return best
	case "first":
		return vals[0][0]
	case "last":
		return vals[len(vals)-1][0]
	case "arg_min", "arg_max":
		best := vals[0]
		for _, v := range vals {
			if o := compare(v[1], best[1]); name == "arg_min" && o < 0 || name == "arg_max" && o > 0 {
				best = v
			}
		}
		return best[0]
	case "median":
		return quantile(0.5)
	case "quantile":
		return quantile(c.Args[1].Value.(float64))
	case "stddev", "variance":
		if len(nums) < 2 {
			return nil
		}
		mean, sq := sum/float64(len(nums)), 0.0
		for _, x := range nums {
			sq += (x - mean) * (x - mean)
		}
		v := sq / float64(len(nums)-1)
		if name == "stddev" {
			v = math.Sqrt(v)
		}
		return v
	case "collect":
		var list []any
		for _, v := range vals {
			list = append(list, v[0])
		}
		if len(c.Args) > 1 {
			list = list[:min(len(list), int(c.Args[1].Value.(int64)))]
		}
		return list
	case "top_k":
		counts := map[any]int64{}
		for _, v := range vals {
			counts[v[0]]++
		}
		var list []any
		for v, n := range counts {
			list = append(list, map[string]any{"value": v, "count": n})
		}
		slices.SortFunc(list, func(x, y any) int {
			mx, my := x.(map[string]any), y.(map[string]any)
			return cmp.Or(cmp.Compare(my["count"].(int64), mx["count"].(int64)), compare(mx["value"], my["value"]))
		})
		return list[:min(len(list), int(c.Args[1].Value.(int64)))]
	}
	panic(name)
}
