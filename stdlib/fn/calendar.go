package fn

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// Calendar arithmetic for UTC by integers alone; package time is asked where a zone other than UTC is named.

const (
	nsSecond = int64(time.Second)
	nsMinute = int64(time.Minute)
	nsHour   = int64(time.Hour)
	nsDay    = 24 * nsHour
)

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 {
	m := a % b
	if m < 0 {
		m += b
	}
	return m
}

// daysOf returns the day of a time, in days since 1970.
func daysOf(ns int64) int64 { return floorDiv(ns, nsDay) }

// civil returns year, month and day of a day of the Gregorian calendar.
func civil(days int64) (year, month, day int) {
	z := uint64(days + 719468) // days since 1 March of year 0: never negative for an int64 time
	era, doe := z/146097, uint32(z%146097)
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	year, month, day = int(yoe)+int(era)*400, int(mp)+3, int(doy-(153*mp+2)/5)+1
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}

// dayNumber is the inverse of civil.
func dayNumber(year, month, day int) int64 {
	y, m := int64(year), int64(month)
	if m <= 2 {
		y--
		m += 12
	}
	era := floorDiv(y, 400)
	yoe := y - era*400
	doy := (153*(m-3)+2)/5 + int64(day) - 1
	return era*146097 + yoe*365 + yoe/4 - yoe/100 + doy - 719468
}

// zones are the time zones of an argument: one for all rows, or looked up as they change.
type zones struct {
	names arg[string]
	last  string
	loc   *time.Location
}

func (z *zones) at(i int) (*time.Location, error) {
	name := z.names.at(i)
	if z.loc != nil && z.last == name {
		return z.loc, nil
	}
	loc, err := zone(name)
	if err != nil {
		return nil, err
	}
	z.loc, z.last = loc, strings.Clone(name)
	return loc, nil
}

// zone looks up a time zone by its IANA name.
func zone(name string) (*time.Location, error) {
	if name == "Local" { // would depend on the machine
		return nil, fmt.Errorf("unknown time zone %q; use a name like \"Europe/Berlin\"", name)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("unknown time zone %q; use a name like \"Europe/Berlin\"", short(name))
	}
	return loc, nil
}

// checkZone is a part of the Infer of functions whose argument k is a zone: a constant must be one.
func checkZone(args []*types.Expr, k int) error {
	if k < len(args) && args[k].Op == types.OpConst {
		if name, ok := args[k].Value.(string); ok {
			_, err := zone(name)
			return err
		}
	}
	return nil
}

// zoned is the Infer of a function of (time, zone) with the result t.
func zoned(t types.Type, k int) func(args []*types.Expr) (types.Type, error) {
	return func(args []*types.Expr) (types.Type, error) { return t, checkZone(args, k) }
}

// clockPart is the definition of a part of a time: utc computes it for UTC, local for a time in a zone.
func clockPart(doc spec.Doc, utc eval.Kernel, local func(t time.Time) int64) spec.Func {
	doc.Group = "time"
	doc.Signature = doc.Name + `(t: time, zone: string = "UTC") -> int`
	return spec.Func{Doc: doc, Overloads: []spec.Overload{
		{Sig: sig(intT, timeT), Kernel: utc},
		{Sig: types.Sig{Params: []types.Type{timeT, stringT}, Infer: zoned(intT, 1)}, Kernel: func(c *eval.Call) {
			inZone(c, 1, func(i int, t time.Time) { c.Out.Ints[i] = local(t) })
		}},
	}}
}

// inZone calls f with the time of each row in the zone that argument k names.
func inZone(c *eval.Call, k int, f func(i int, t time.Time)) {
	z := zones{names: of[string](c.Args[k])}
	in := c.Args[0].Col.Ints
	each(c, func(i int) {
		loc, err := z.at(i)
		if err != nil {
			c.Fail(i, err)
			return
		}
		f(i, time.Unix(0, in[i]).In(loc))
	})
}

// unixNano returns t as nanoseconds since 1970, an error if that is beyond the years 1678 to 2261.
func unixNano(t time.Time) (int64, error) {
	s := t.Unix()
	if s < math.MinInt64/nsSecond+1 || s > math.MaxInt64/nsSecond-1 {
		return 0, fmt.Errorf("the time %s is beyond what a time can hold (1677 to 2262)", t.Format("2006-01-02"))
	}
	return t.UnixNano(), nil
}
