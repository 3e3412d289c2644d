package testrun

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/types"
)

// Row is a row that there is.
type Row struct {
	Values map[string]any // as Column.Value gives them
	Change vec.Change
}

// Diff is how the rows that there are differ from those that are expected.
type Diff struct {
	Step       *check.TestStep
	Columns    []string // that the expected rows name; all if there are none
	Expected   int
	Have       []Row
	Missing    []check.TestRow
	Unexpected []Row
	Pairs      [][2]int // of the missing and the unexpected: nearly equal ones
	Order      bool     // the rows are right and stand in another order
	Match      []int    // of each expected row: the row that it is, or -1
}

// changeColumn is how rows show what they do.
const changeColumn = "_change"

// compare returns nil if the rows are as expected. Each expected row stands for one row that is equal in the columns it names.
func compare(x *check.TestStep, have []Row, ordered bool) *Diff {
	d := &Diff{Step: x, Expected: len(x.Rows), Have: have, Columns: columnsOf(x)}
	d.Match = match(x, have)
	taken := make([]bool, len(have))
	for i, k := range d.Match {
		if k < 0 {
			d.Missing = append(d.Missing, x.Rows[i])
		} else {
			taken[k] = true
		}
	}
	for k, row := range have {
		if !taken[k] {
			d.Unexpected = append(d.Unexpected, row)
		}
	}
	if len(d.Missing)+len(d.Unexpected) > 0 {
		d.pair()
		return d
	}
	if ordered {
		for i, row := range x.Rows {
			if !fits(x, row, have[i]) {
				d.Order = true
				return d
			}
		}
	}
	return nil
}

// columnsOf are the columns that the expected rows name, in their order.
func columnsOf(x *check.TestStep) (names []string) {
	for _, row := range x.Rows {
		if row.Change != "" && !slices.Contains(names, changeColumn) {
			names = append(names, changeColumn)
		}
		for _, n := range row.Names {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	if names == nil && len(x.Rows) == 0 {
		if x.Mode == "changes" {
			names = append(names, changeColumn)
		}
		names = append(names, x.Schema.Names()...)
	}
	return names
}

// match finds for each expected row one that it fits, such that as many as possible have one; -1 stands for none.
func match(x *check.TestStep, have []Row) []int {
	// Rows that fit are equal in what can be compared as text, so only those are tried.
	groups := map[string]map[string][]int{}
	candidates := make([][]int, len(x.Rows))
	for i, row := range x.Rows {
		exact := exactColumns(x, row)
		set := strings.Join(exact, "\x00")
		byKey := groups[set]
		if byKey == nil {
			byKey = map[string][]int{}
			for k, h := range have {
				key := partKey(x.Schema, exact, h.Values)
				byKey[key] = append(byKey[key], k)
			}
			groups[set] = byKey
		}
		candidates[i] = byKey[partKey(x.Schema, exact, row.Values)]
	}
	owner := make([]int, len(have)) // expected row + 1
	var tried []int
	var find func(i, round int) bool
	find = func(i, round int) bool {
		for pass := range 2 {
			for _, k := range candidates[i] {
				if pass == 0 && owner[k] != 0 || tried[k] == round || !fits(x, x.Rows[i], have[k]) {
					continue
				}
				tried[k] = round
				if owner[k] == 0 || find(owner[k]-1, round) {
					owner[k] = i + 1
					return true
				}
			}
		}
		return false
	}
	tried = make([]int, len(have))
	for i := range x.Rows {
		find(i, i+1)
	}
	out := make([]int, len(x.Rows))
	for i := range out {
		out[i] = -1
	}
	for k, i := range owner {
		if i > 0 {
			out[i-1] = k
		}
	}
	return out
}

// exactColumns are the named columns whose values are equal if their text is.
func exactColumns(x *check.TestStep, row check.TestRow) (names []string) {
	for _, n := range row.Names {
		switch x.Schema.Fields[x.Schema.Index(n)].Type.Kind {
		case types.Bool, types.Int, types.String, types.Bytes, types.Time, types.Duration:
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}

func partKey(schema types.Schema, names []string, values map[string]any) string {
	var b strings.Builder
	for _, n := range names {
		b.WriteString(format(schema.Fields[schema.Index(n)].Type, values[n]))
		b.WriteByte(0)
	}
	return b.String()
}

// fits reports whether a row is what is expected, as far as the expected row says.
func fits(x *check.TestStep, want check.TestRow, have Row) bool {
	if want.Change != "" && want.Change != have.Change.String() {
		return false
	}
	for _, n := range want.Names {
		if !same(x.Schema.Fields[x.Schema.Index(n)].Type, want.Values[n], have.Values[n]) {
			return false
		}
	}
	return true
}

// closeEnough is by which part of themselves floats may differ: sums depend on the order of their terms.
const closeEnough = 1e-9

// same compares a value of a test with one of a row.
func same(t types.Type, want, have any) bool {
	if want == nil || have == nil {
		return want == nil && have == nil
	}
	switch t.Kind {
	case types.Float:
		a, b := want.(float64), have.(float64)
		if math.IsInf(a, 0) || math.IsInf(b, 0) {
			return a == b
		}
		return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= closeEnough*max(math.Abs(a), math.Abs(b))
	case types.List:
		a, b := want.([]any), have.([]any)
		return slices.EqualFunc(a, b, func(p, q any) bool { return same(*t.Elem, p, q) })
	case types.Record:
		a, b := want.(map[string]any), have.(map[string]any)
		for _, f := range t.Fields {
			if !same(f.Type, a[f.Name], b[f.Name]) {
				return false
			}
		}
		return true
	case types.Any:
		text, _ := json.Marshal(want)
		var a, b any
		if json.Unmarshal(text, &a) != nil || json.Unmarshal([]byte(have.(string)), &b) != nil {
			return string(text) == have
		}
		return reflect.DeepEqual(a, b)
	}
	return want == have
}

// mostPaired bounds how many rows are looked at for their nearest.
const mostPaired = 200

// pair finds for missing rows the unexpected ones that are nearly equal, the best first.
func (d *Diff) pair() {
	type guess struct{ i, k, equal int }
	var all []guess
	for i := range d.Missing[:min(len(d.Missing), mostPaired)] {
		for k := range d.Unexpected[:min(len(d.Unexpected), mostPaired)] {
			n := 0
			for _, c := range d.Missing[i].Names {
				if same(d.Step.Schema.Fields[d.Step.Schema.Index(c)].Type, d.Missing[i].Values[c], d.Unexpected[k].Values[c]) {
					n++
				}
			}
			all = append(all, guess{i, k, n})
		}
	}
	slices.SortStableFunc(all, func(a, b guess) int { return b.equal - a.equal })
	rows, others := map[int]bool{}, map[int]bool{}
	for _, g := range all {
		alone := len(d.Missing) == 1 && len(d.Unexpected) == 1
		if rows[g.i] || others[g.k] || g.equal == 0 && !alone {
			continue
		}
		rows[g.i], others[g.k] = true, true
		d.Pairs = append(d.Pairs, [2]int{g.i, g.k})
	}
	slices.SortFunc(d.Pairs, func(a, b [2]int) int { return a[0] - b[0] })
}
