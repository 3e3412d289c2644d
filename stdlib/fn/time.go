package fn

import (
	"fmt"
	"math"
	"strconv"
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
		{Sig: sig(timeT, stringT), Kernel: try1(parseTime)},
		{Sig: sig(timeT, stringT, stringT), Kernel: try2(parseLayout)},
		{Sig: types.Sig{Params: []types.Type{stringT, stringT, stringT}, Infer: zoned(timeT, 2)}, Kernel: parseInZone},
		{Sig: types.Sig{Params: []types.Type{intT, stringT}, Infer: epochType}, Kernel: try2(fromEpoch)},
		{Sig: types.Sig{Params: []types.Type{floatT, stringT}, Infer: epochType}, Kernel: try2(fromEpochFloat)},
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

// parseTime reads RFC 3339 and its relatives by hand, then what package time has names for.
func parseTime(s string) (int64, error) {
	if ns, ok := parseISO(s); ok {
		return ns, nil
	}
	for _, l := range timeLayouts {
		if t, err := time.Parse(l, s); err == nil {
			return unixNano(t)
		}
	}
	return 0, fmt.Errorf("%q is no time; it should look like 2026-01-31T10:00:00Z, or give a layout", short(s))
}

// parseISO reads YYYY-MM-DD, then T or a space and HH:MM[:SS[.fraction]], then Z, +HH:MM, +HHMM or +HH.
func parseISO(s string) (int64, bool) {
	if len(s) < 10 || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	ok := true
	num := func(p string) int {
		n := 0
		for i := range len(p) {
			d := p[i] - '0'
			ok = ok && d <= 9
			n = n*10 + int(d)
		}
		return n
	}
	y, m, d := num(s[:4]), num(s[5:7]), num(s[8:10])
	if !ok || y < 1678 || y > 2261 || m < 1 || m > 12 || d < 1 || d > 31 {
		return 0, false
	}
	days := dayNumber(y, m, d)
	if _, m2, _ := civil(days); m2 != m {
		return 0, false
	}
	ns := days * nsDay
	if s = s[10:]; s == "" {
		return ns, true
	}
	if s[0] != 'T' && s[0] != ' ' && s[0] != 't' || len(s) < 6 || s[3] != ':' {
		return 0, false
	}
	h, mi, sec := num(s[1:3]), num(s[4:6]), 0
	if s = s[6:]; len(s) >= 3 && s[0] == ':' {
		sec = num(s[1:3])
		s = s[3:]
	}
	if !ok || h > 23 || mi > 59 || sec > 59 {
		return 0, false
	}
	ns += int64(h)*nsHour + int64(mi)*nsMinute + int64(sec)*nsSecond
	if len(s) > 1 && (s[0] == '.' || s[0] == ',') {
		unit := nsSecond / 10
		k := 1
		for ; k < len(s) && s[k]-'0' <= 9; k++ {
			ns += int64(s[k]-'0') * unit
			unit /= 10
		}
		if k == 1 {
			return 0, false
		}
		s = s[k:]
	}
	if s != "" && s[0] == ' ' {
		s = s[1:]
	}
	if s == "" || s == "Z" || s == "z" {
		return ns, true
	}
	if s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	oh, om := 0, 0
	switch {
	case len(s) == 6 && s[3] == ':':
		oh, om = num(s[1:3]), num(s[4:6])
	case len(s) == 5:
		oh, om = num(s[1:3]), num(s[3:5])
	case len(s) == 3:
		oh = num(s[1:3])
	default:
		return 0, false
	}
	if !ok || oh > 23 || om > 59 {
		return 0, false
	}
	offset := int64(oh)*nsHour + int64(om)*nsMinute
	if s[0] == '-' {
		offset = -offset
	}
	return ns - offset, true
}

func parseLayout(s, layout string) (int64, error) { return parseLayoutIn(s, layout, time.UTC) }

func parseLayoutIn(s, layout string, loc *time.Location) (int64, error) {
	if epochUnits[layout] != 0 {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			f, ferr := strconv.ParseFloat(s, 64)
			if ferr != nil {
				return 0, fmt.Errorf("%q is no number of %s since 1970", short(s), layout)
			}
			return fromEpochFloat(f, layout)
		}
		return fromEpoch(n, layout)
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
