package fn

import (
	"fmt"
	"math"
	"time"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "time", Group: "conversion", Signature: `time(x: string | int, layout: string = known ones, zone: string = "UTC") -> time`,
		Text: "A text or number as a time. Without a layout the text is RFC 3339 or one of its relatives (a date alone, a space for the T, no zone); " +
			"a layout shows how 2006-01-02 15:04:05 would be written. For a number, or a text that is one, the layout is its unit: \"s\", \"ms\", \"us\" or \"ns\" since 1970. " +
			"What cannot be read is a row error.",
		Examples: []spec.Example{{Code: `time("2026-01-31 10:00:00")`, Want: "@2026-01-31T10:00:00Z"}, {Code: `time("31/Jan/2026:10:00:00 +0100", "02/Jan/2006:15:04:05 -0700")`, Want: "@2026-01-31T09:00:00Z"},
			{Code: `time(1769853600000, "ms")`, Want: "@2026-01-31T10:00:00Z"}, {Code: `time("2026-01-31 10:00", "2006-01-02 15:04", "Europe/Berlin")`, Want: "@2026-01-31T09:00:00Z"}}},
	Overloads: []spec.Overload{
		{Sig: sig(timeT, timeT), Kernel: map1(func(t int64) int64 { return t })},
		{Sig: parses(sig(timeT, stringT)), Kernel: try1(parseTime)},
		{Sig: parses(sig(timeT, stringT, stringT)), Kernel: try2(parseLayout)},
		{Sig: parses(types.Sig{Params: []types.Type{stringT, stringT, stringT}, Infer: zoned(timeT, 2)}), Kernel: parseInZone},
		{Sig: types.Sig{Params: []types.Type{intT, stringT}, Infer: epochType, Rare: true}, Kernel: try2(fromEpoch)},
		{Sig: types.Sig{Params: []types.Type{floatT, stringT}, Infer: epochType, Rare: true}, Kernel: try2(fromEpochFloat)},
	},
})

var epochUnits = map[string]int64{"s": nsSecond, "ms": 1e6, "us": 1e3, "ns": 1}

// epochType checks a constant unit.
func epochType(args []*types.Expr) (types.Type, error) {
	if s, ok := args[1].Value.(string); ok && args[1].Op == types.OpConst && epochUnits[s] == 0 {
		return types.Type{}, badUnit(s)
	}
	return timeT, nil
}

func badUnit(s string) error {
	return fmt.Errorf("a number as a time needs its unit, one of \"s\", \"ms\", \"us\" and \"ns\", not %q", short(s))
}

func fromEpoch(n int64, unit string) (int64, error) {
	u := epochUnits[unit]
	if u == 0 {
		return 0, badUnit(unit)
	}
	if n > math.MaxInt64/u || n < math.MinInt64/u {
		return 0, fmt.Errorf("%d%s since 1970 is beyond what a time can hold (1677 to 2262)", n, unit)
	}
	return n * u, nil
}

func fromEpochFloat(f float64, unit string) (int64, error) {
	u := epochUnits[unit]
	if u == 0 {
		return 0, badUnit(unit)
	}
	whole, frac := math.Modf(f)
	if !(math.Abs(whole) < float64(math.MaxInt64/u)) {
		return 0, fmt.Errorf("%v%s since 1970 is beyond what a time can hold (1677 to 2262)", f, unit)
	}
	return int64(whole)*u + int64(math.Round(frac*float64(u))), nil
}

// timeLayouts are tried after RFC 3339 and its relatives.
var timeLayouts = []string{time.RFC1123, time.RFC1123Z, time.RFC850, time.RFC822, time.RFC822Z, time.ANSIC, time.UnixDate}

// parseTime reads RFC 3339 and its relatives, then what package time has names for.
func parseTime(s string) (int64, error) {
	if ns, ok := types.ParseInstant(s); ok {
		return ns, nil
	}
	for _, l := range timeLayouts {
		if t, err := time.Parse(l, s); err == nil {
			return unixNano(t)
		}
	}
	return 0, fmt.Errorf("%q is no time; it should look like 2026-01-31T10:00:00Z, or give a layout", short(s))
}

func parseLayout(s, layout string) (int64, error) { return parseLayoutIn(s, layout, time.UTC) }

func parseLayoutIn(s, layout string, loc *time.Location) (int64, error) {
	if types.TimeIsNumber(layout) {
		if ns, ok := types.ParseTime(s, layout); ok {
			return ns, nil
		}
		if _, ok := types.ParseDecimal(s); ok {
			return 0, fmt.Errorf("%s%s since 1970 is beyond what a time can hold (1677 to 2262)", short(s), layout)
		}
		return 0, fmt.Errorf("%q is no number of %s since 1970", short(s), layout)
	}
	t, err := time.ParseInLocation(layout, s, loc)
	if err != nil {
		return 0, fmt.Errorf("%q is no time of the layout %q", short(s), short(layout))
	}
	return unixNano(t)
}

func parseInZone(c *eval.Call) {
	in, layouts, z := c.Args[0].Col.Strs, of[string](c.Args[1]), zones{names: of[string](c.Args[2])}
	each(c, func(i int) {
		loc, err := z.at(i)
		if err == nil {
			c.Out.Ints[i], err = parseLayoutIn(in[i], layouts.at(i), loc)
		}
		if err != nil {
			c.Fail(i, err)
		}
	})
}
