package fn

import (
	"fmt"
	"time"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "truncate", Group: "time", Signature: `truncate(t: time, to: duration | string, zone: string = "UTC") -> time`,
		Text: "A time rounded down: to a multiple of a duration since 1970, or to the start of its \"year\", \"quarter\", \"month\", \"week\" (Monday), \"day\", " +
			"\"hour\", \"minute\" or \"second\". In a zone other than UTC multiples are those of its clock.",
		Examples: []spec.Example{{Code: "truncate(@2026-01-31T17:05:09Z, 15m)", Want: "@2026-01-31T17:00:00Z"},
			{Code: `truncate(@2026-01-31T17:05:09Z, "month")`, Want: "@2026-01-01T00:00:00Z"}, {Code: `truncate(@2026-01-31T23:30:00Z, "day", "Europe/Berlin")`, Want: "@2026-01-31T23:00:00Z"}}},
	Overloads: []spec.Overload{
		{Sig: types.Sig{Params: []types.Type{timeT, durationT}, Infer: truncateType, Rare: true}, Kernel: try2(truncateDuration)},
		{Sig: types.Sig{Params: []types.Type{timeT, stringT}, Infer: truncateType, Rare: true}, Kernel: try2(truncateUnit)},
		{Sig: types.Sig{Params: []types.Type{timeT, durationT, stringT}, Infer: truncateType, Rare: true}, Kernel: func(c *eval.Call) {
			to := of[int64](c.Args[1])
			truncateLocal(c, func(i int, clock int64) (int64, bool, error) {
				at, err := truncateDuration(clock, to.at(i))
				return at, to.at(i)%nsDay == 0, err
			})
		}},
		{Sig: types.Sig{Params: []types.Type{timeT, stringT, stringT}, Infer: truncateType, Rare: true}, Kernel: func(c *eval.Call) {
			to := of[string](c.Args[1])
			truncateLocal(c, func(i int, clock int64) (int64, bool, error) {
				at, err := truncateUnit(clock, to.at(i))
				unit := to.at(i)
				return at, unit != "second" && unit != "minute" && unit != "hour", err
			})
		}},
	},
})

func truncateType(args []*types.Expr) (types.Type, error) {
	if args[1].Op == types.OpConst {
		var err error
		switch to := args[1].Value.(type) {
		case int64:
			_, err = truncateDuration(0, to)
		case string:
			_, err = truncateUnit(0, to)
		}
		if err != nil {
			return types.Type{}, err
		}
	}
	return timeT, checkZone(args, 2)
}

func truncateDuration(t, d int64) (int64, error) {
	if d <= 0 {
		return 0, fmt.Errorf("cannot truncate to %s: the duration must be greater than zero", types.FormatDuration(d))
	}
	return t - types.FloorMod(t, d), nil
}

func truncateUnit(t int64, unit string) (int64, error) {
	switch unit {
	case "second":
		return t - types.FloorMod(t, nsSecond), nil
	case "minute":
		return t - types.FloorMod(t, nsMinute), nil
	case "hour":
		return t - types.FloorMod(t, nsHour), nil
	}
	days := daysOf(t)
	y, m, _ := types.DateOf(days)
	switch unit {
	case "day":
	case "week":
		days -= types.FloorMod(days+3, 7)
	case "month":
		days = types.DayOf(y, m, 1)
	case "quarter":
		days = types.DayOf(y, (m-1)/3*3+1, 1)
	case "year":
		days = types.DayOf(y, 1, 1)
	default:
		return 0, fmt.Errorf("cannot truncate to %q; it is one of second, minute, hour, day, week, month, quarter, year", short(unit))
	}
	return days * nsDay, nil
}

// truncateLocal truncates what the clock of a zone shows; f tells, too, whether it does so to whole days, which start at
// their first moment. Other moments that come twice or never (in the hour that daylight saving repeats or skips) are those
// that package time takes, yet never after the time itself.
func truncateLocal(c *eval.Call, f func(i int, clock int64) (at int64, days bool, err error)) {
	inZone(c, 2, func(i int, t time.Time) {
		_, offset := t.Zone()
		clock, days, err := f(i, c.Args[0].Col.Ints[i]+int64(offset)*nsSecond)
		if err != nil {
			c.Fail(i, err)
			return
		}
		u := time.Unix(0, clock).UTC()
		at := time.Date(u.Year(), u.Month(), u.Day(), u.Hour(), u.Minute(), u.Second(), u.Nanosecond(), t.Location())
		if days {
			at = firstMoment(at, u)
		} else if same := time.Unix(0, clock-int64(offset)*nsSecond).In(t.Location()); sameClock(same, u) {
			at = same // the same side of a clock change as the time
		}
		c.Out.Ints[i] = min(at.UnixNano(), c.Args[0].Col.Ints[i])
	})
}

// firstMoment returns when a day starts: the midnight at, or another moment where the clock of its zone is changed at
// midnight. u is the midnight in UTC.
func firstMoment(at, u time.Time) time.Time {
	from, to := at.ZoneBounds()
	if at.Day() != u.Day() { // midnight is skipped, and at is before the change
		return to
	}
	if from.IsZero() {
		return at
	}
	if before := from.Add(-1); before.Day() == u.Day() && at.Sub(before) < 24*time.Hour { // midnight comes twice
		_, offset := before.Zone()
		return u.Add(-time.Duration(offset) * time.Second)
	}
	return at
}

func sameClock(a, b time.Time) bool {
	return a.Day() == b.Day() && a.Hour() == b.Hour() && a.Minute() == b.Minute()
}
