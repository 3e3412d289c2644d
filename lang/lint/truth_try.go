package lint

import (
	"cmp"
	"math"
	"slices"

	"github.com/ebb-lang/ebb/lang/types"
)

// Conditions are judged by trying. What a condition compares with literals has only a few places that differ: below, at and
// above each literal, null, NaN. A formula is the condition over these places; if it is true at all of them, it always is.
// What is not understood is an unknown of its own that may be true or false. Unknowns are taken for independent, so what is
// found holds, and not all is found.

// place is where a value lies among the literals that it is compared with: 2i+1 at literal i, 2i below it, behind the last
// above it. Of two values that are compared with each other: less, equal, greater.
type place int

const (
	null  place = -1 // both, of two
	nan   place = -2
	nullL place = -3 // of two, the first alone
	nullR place = -4

	less    place = 0
	equal   place = 1
	greater place = 2
)

// unknown is a value that a formula tests.
type unknown struct {
	typ       types.Type
	values    []any // that it is compared with
	places    []place
	low, high int64 // of ints
	casing    func(string) string
	at        place // while it is tried
}

// compareValues compares two literals, ok is false if they have no common order.
func compareValues(a, b any) (c int, ok bool) {
	switch x := a.(type) {
	case int64:
		switch y := b.(type) {
		case int64:
			return cmp.Compare(x, y), true
		case float64:
			return cmp.Compare(float64(x), y), true
		}
	case float64:
		switch y := b.(type) {
		case int64:
			return cmp.Compare(x, float64(y)), true
		case float64:
			return cmp.Compare(x, y), true
		}
	case string:
		if y, is := b.(string); is {
			return cmp.Compare(x, y), true
		}
	case bool:
		if y, is := b.(bool); is {
			return cmp.Compare(asInt(x), asInt(y)), true
		}
	}
	return 0, false
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// settle finds the places of a value, once all literals are known. Of two values they are known before.
func (u *unknown) settle() {
	if u.typ.Kind == types.Invalid {
		return
	}
	if u.typ.Kind == types.Bool {
		u.values = append(u.values, false, true)
	}
	mixed := false
	for _, v := range u.values {
		if f, ok := v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
			u.places = nil
			return
		} else if ok {
			mixed = true
		}
	}
	for _, v := range u.values {
		if i, ok := v.(int64); ok && mixed && (i > 1<<53 || i < -1<<53) {
			u.places = nil
			return
		}
	}
	slices.SortFunc(u.values, func(a, b any) int { c, _ := compareValues(a, b); return c })
	u.values = slices.CompactFunc(u.values, func(a, b any) bool { c, ok := compareValues(a, b); return ok && c == 0 })
	u.places = u.places[:0]
	n := len(u.values)
	for i := 0; i <= n; i++ {
		if u.between(i, mixed) {
			u.places = append(u.places, place(2*i))
		}
		if i < n && u.takes(u.values[i]) {
			u.places = append(u.places, place(2*i+1))
		}
	}
	if u.typ.Nullable {
		u.places = append(u.places, null)
	}
	if u.typ.Kind == types.Float {
		u.places = append(u.places, nan)
	}
}

// takes reports whether the value can be this one.
func (u *unknown) takes(v any) bool {
	switch v := v.(type) {
	case int64:
		return u.typ.Kind == types.Float || v >= u.low && v <= u.high
	case float64:
		return u.typ.Kind == types.Float || v >= float64(u.low) && v <= float64(u.high) && v == math.Trunc(v)
	case string:
		return u.casing == nil || u.casing(v) == v
	}
	return true
}

// between reports whether the value can lie below literal i and above the one before it.
func (u *unknown) between(i int, mixed bool) bool {
	n := len(u.values)
	switch u.typ.Kind {
	case types.Bool:
		return false
	case types.String:
		return i > 0 || n == 0 || u.values[0] != ""
	case types.Int, types.Time, types.Duration:
		if mixed {
			lo, hi := float64(u.low), float64(u.high)
			if i > 0 {
				lo = max(lo, math.Floor(toFloat(u.values[i-1]))+1)
			}
			if i < n {
				hi = min(hi, math.Ceil(toFloat(u.values[i]))-1)
			}
			return lo <= hi
		}
		lo, hi := u.low, u.high
		if i > 0 {
			v := u.values[i-1].(int64)
			if v == math.MaxInt64 {
				return false
			}
			lo = max(lo, v+1)
		}
		if i < n {
			v := u.values[i].(int64)
			if v == math.MinInt64 {
				return false
			}
			hi = min(hi, v-1)
		}
		return lo <= hi
	}
	return true
}

func toFloat(v any) float64 {
	if i, ok := v.(int64); ok {
		return float64(i)
	}
	f, _ := v.(float64)
	return f
}

// unknowns lists what the formula tests.
func (f *formula) unknowns() []*unknown {
	if f.tested != nil {
		return f.tested
	}
	been := map[*unknown]bool{}
	var walk func(*formula)
	walk = func(g *formula) {
		if g.about != nil && !been[g.about] {
			been[g.about] = true
			f.tested = append(f.tested, g.about)
		}
		for _, a := range g.args {
			walk(a)
		}
	}
	walk(f)
	return f.tested
}

// size counts the tests of the formula.
func (f *formula) size() int {
	if f.tests == 0 {
		f.tests = 1
		for _, a := range f.args {
			f.tests += a.size()
		}
	}
	return f.tests
}

// value is what the formula is where its unknowns are.
func (f *formula) value() truth {
	switch f.op {
	case "not":
		return yes - f.args[0].value()
	case "and":
		v := yes
		for _, a := range f.args {
			v = min(v, a.value())
		}
		return v
	case "or":
		v := no
		for _, a := range f.args {
			v = max(v, a.value())
		}
		return v
	case "if":
		if f.args[0].value() == yes {
			return f.args[1].value()
		}
		return f.args[2].value()
	case "??":
		if v := f.args[0].value(); v != unsure {
			return v
		}
		return f.args[1].value()
	}
	if f.about == nil {
		return f.is
	}
	return f.test(f.about.at)
}

// maxTries bounds how many places are tried for one question, and maxWork how many tests that takes. Of more operands than
// maxPairs only those are compared that are written alike, and of conditions in a row only so many are taken together.
const (
	maxTries = 4096
	maxWork  = 1 << 20
	maxPairs = 40
)

// try calls f at all places of the formulas' unknowns until it returns false. It returns whether it was true at all; known is
// false if there are too many.
func try(formulas []*formula, f func() bool) (all, known bool) {
	var list []*unknown
	tries, size := 1, 0
	for _, g := range formulas {
		size += g.size()
	}
	for _, g := range formulas {
		for _, u := range g.unknowns() {
			if !slices.Contains(list, u) {
				list = append(list, u)
				if tries *= len(u.places); tries > maxTries || tries*size > maxWork {
					return false, false
				}
			}
		}
	}
	var walk func(int) bool
	walk = func(i int) bool {
		if i == len(list) {
			return f()
		}
		for _, p := range list[i].places {
			list[i].at = p
			if !walk(i + 1) {
				return false
			}
		}
		return true
	}
	return walk(0), true
}

// always reports whether the formula is true for all values.
func (f *formula) always() bool {
	all, known := try([]*formula{f}, func() bool { return f.value() == yes })
	return all && known
}

// never reports whether the formula is true for no value; it may be null for some.
func (f *formula) never() bool {
	all, known := try([]*formula{f}, func() bool { return f.value() != yes })
	return all && known
}

// constant reports whether the formula is true, or false, for all values.
func (f *formula) constant(is truth) bool {
	all, known := try([]*formula{f}, func() bool { return f.value() == is })
	return all && known
}

// covers reports whether of `f op g` f alone would be the same.
func (f *formula) covers(g *formula, op string) bool {
	all, known := try([]*formula{f, g}, func() bool {
		a, b := f.value(), g.value()
		if op == "and" {
			return min(a, b) == a
		}
		return max(a, b) == a
	})
	return all && known
}

// shares reports whether two formulas speak of a common value.
func (f *formula) shares(g *formula) bool {
	mine := f.unknowns()
	return slices.ContainsFunc(g.unknowns(), func(u *unknown) bool { return slices.Contains(mine, u) })
}
