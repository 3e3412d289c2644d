package types

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// How times and durations are written in text, whatever the text is: a file, a message, an argument of a function.
// Parsing functions keep nothing of their text and report failure as a bool: whoever asks says what was wanted
// (TimeHint). Append functions do not allocate once their buffer is large enough.

const secondsPerDay = 86400

// ParseTime reads a time as the Format of a types.Type says: a number of "s", "ms", "us" or "ns" since 1970, a layout
// of package time, or for "" RFC 3339 and its relatives. The result is in nanoseconds; text without a zone is UTC.
func ParseTime(s, format string) (int64, bool) {
	switch format {
	case "":
		return ParseInstant(s)
	case "s":
		return parseEpoch(s, 9)
	case "ms":
		return parseEpoch(s, 6)
	case "us":
		return parseEpoch(s, 3)
	case "ns":
		return parseEpoch(s, 0)
	}
	t, err := time.Parse(format, s)
	if err != nil {
		return 0, false
	}
	return UnixNano(t.Unix(), int64(t.Nanosecond()))
}

// TimeHint says in words what ParseTime wants.
func TimeHint(format string) string {
	switch format {
	case "":
		return "RFC 3339, such as 2026-01-31T10:00:00Z"
	case "s":
		return "seconds since 1970"
	case "ms":
		return "milliseconds since 1970"
	case "us":
		return "microseconds since 1970"
	case "ns":
		return "nanoseconds since 1970"
	}
	return "layout " + strconv.Quote(format)
}

// TimeIsNumber reports whether times of the format are written as numbers.
func TimeIsNumber(format string) bool {
	return format == "ms" || format == "s" || format == "us" || format == "ns"
}

// UnixNano joins seconds since 1970 and nanoseconds; it fails outside of the years 1677 to 2262.
func UnixNano(sec, nanos int64) (int64, bool) {
	const limit = math.MaxInt64 / 1_000_000_000
	if sec >= limit || sec <= -limit {
		return 0, false
	}
	return sec*1_000_000_000 + nanos, true
}

// parseEpoch reads a number of units of 10^exp nanoseconds since 1970; what is below a nanosecond is cut off.
func parseEpoch(s string, exp int) (int64, bool) {
	if d, ok := ParseDecimal(s); ok {
		return d.Integer(exp, true)
	}
	return 0, false
}

// ParseInstant reads RFC 3339 and its relatives: a date alone, `T` or a blank before the time, seconds and fraction
// optional, `/` in the date, and as zone nothing (UTC), `Z`, `UTC`, `+02:00`, `+0200` or `+02`.
func ParseInstant(s string) (int64, bool) {
	if len(s) < 10 || s[4] != '-' && s[4] != '/' || s[7] != s[4] {
		return 0, false
	}
	year, month, day := twoDigits(s, 0)*100+twoDigits(s, 2), twoDigits(s, 5), twoDigits(s, 8)
	if year < 0 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	sec := DayOf(year, month, day) * secondsPerDay
	if len(s) == 10 {
		return UnixNano(sec, 0)
	}
	if len(s) < 16 || s[10] != 'T' && s[10] != ' ' && s[10] != 't' || s[13] != ':' {
		return 0, false
	}
	hour, minute := twoDigits(s, 11), twoDigits(s, 14)
	if hour < 0 || hour > 23 || minute < 0 || minute > 59 {
		return 0, false
	}
	sec += int64(hour*3600 + minute*60)
	nanos := int64(0)
	s = s[16:]
	if len(s) >= 3 && s[0] == ':' {
		second := twoDigits(s, 1)
		if second < 0 || second > 59 {
			return 0, false
		}
		sec += int64(second)
		s = s[3:]
		if len(s) > 1 && (s[0] == '.' || s[0] == ',') {
			i, unit := 1, int64(100_000_000)
			for ; i < len(s) && s[i]-'0' <= 9; i++ {
				nanos += int64(s[i]-'0') * unit
				unit /= 10
			}
			if i == 1 {
				return 0, false
			}
			s = s[i:]
		}
	}
	zone, ok := parseZone(s)
	if !ok {
		return 0, false
	}
	return UnixNano(sec-zone, nanos)
}

// parseZone reads what follows a time of day and returns it as seconds east of UTC.
func parseZone(s string) (int64, bool) {
	if s != "" && s[0] == ' ' {
		s = s[1:]
		if s == "" {
			return 0, false
		}
	}
	switch {
	case s == "" || s == "Z" || s == "z" || s == "UTC":
		return 0, true
	case s[0] != '+' && s[0] != '-' || len(s) < 3:
		return 0, false
	}
	hour, minute := twoDigits(s, 1), 0
	switch {
	case len(s) == 3:
	case len(s) == 5:
		minute = twoDigits(s, 3)
	case len(s) == 6 && s[3] == ':':
		minute = twoDigits(s, 4)
	default:
		return 0, false
	}
	if hour < 0 || hour > 23 || minute < 0 || minute > 59 {
		return 0, false
	}
	if s[0] == '-' {
		return -int64(hour*3600 + minute*60), true
	}
	return int64(hour*3600 + minute*60), true
}

// twoDigits reads two digits at i; without them the result is far below zero.
func twoDigits(s string, i int) int {
	a, b := s[i]-'0', s[i+1]-'0'
	if a > 9 || b > 9 {
		return -1 << 20
	}
	return int(a)*10 + int(b)
}

// AppendTime writes a time as format says (see ParseTime): "" is RFC 3339 in UTC with Z and 0, 3, 6 or 9 digits of
// fraction as needed; numbers are cut to their unit.
func AppendTime(b []byte, t int64, format string) []byte {
	switch format {
	case "":
		return AppendInstant(b, t)
	case "s":
		return AppendInt(b, FloorDiv(t, 1_000_000_000))
	case "ms":
		return AppendInt(b, FloorDiv(t, 1_000_000))
	case "us":
		return AppendInt(b, FloorDiv(t, 1_000))
	case "ns":
		return AppendInt(b, t)
	}
	return time.Unix(0, t).UTC().AppendFormat(b, format)
}

// AppendInstant is AppendTime for the format "".
func AppendInstant(b []byte, t int64) []byte {
	sec := FloorDiv(t, 1_000_000_000)
	nanos := uint32(t - sec*1_000_000_000)
	days := FloorDiv(sec, secondsPerDay)
	clock := uint32(sec - days*secondsPerDay)
	year, month, day := DateOf(days)
	b = append(b, digits[year/100*2], digits[year/100*2+1], digits[year%100*2], digits[year%100*2+1], '-',
		digits[month*2], digits[month*2+1], '-', digits[day*2], digits[day*2+1], 'T')
	hour, minute, second := clock/3600*2, clock/60%60*2, clock%60*2
	b = append(b, digits[hour], digits[hour+1], ':', digits[minute], digits[minute+1], ':', digits[second], digits[second+1])
	if nanos != 0 {
		n := 9
		for n > 3 && nanos%1000 == 0 {
			nanos /= 1000
			n -= 3
		}
		b = append(b, ".000000000"[:n+1]...)
		for i := len(b) - 1; nanos > 0; i-- {
			b[i] = byte('0' + nanos%10)
			nanos /= 10
		}
	}
	return append(b, 'Z')
}

// ParseDuration reads `1h30m`, `250ms`, `1.5h`, `-7d`, `2w`, `0`: Go's text and days and weeks.
func ParseDuration(s string) (int64, bool) {
	if strings.IndexByte(s, 'd') < 0 && strings.IndexByte(s, 'w') < 0 {
		d, err := time.ParseDuration(s)
		return int64(d), err == nil
	}
	neg := s[0] == '-'
	if neg || s[0] == '+' {
		s = s[1:]
	}
	total := int64(0)
	for s != "" {
		n := 0
		for n < len(s) && (s[n]-'0' <= 9 || s[n] == '.') {
			n++
		}
		u := n
		for u < len(s) && s[u]-'0' > 9 && s[u] != '.' {
			u++
		}
		unit, times := s[n:u], int64(1)
		switch unit {
		case "d":
			unit, times = "h", 24
		case "w":
			unit, times = "h", 24*7
		}
		d, err := time.ParseDuration(s[:n] + unit)
		if n == 0 || err != nil || int64(d) > (math.MaxInt64-total)/times {
			return 0, false
		}
		total += int64(d) * times
		s = s[u:]
	}
	if neg {
		total = -total
	}
	return total, true
}

var durationUnits = []struct {
	name string
	size int64
}{{"h", int64(time.Hour)}, {"m", int64(time.Minute)}, {"s", int64(time.Second)}, {"ms", int64(time.Millisecond)}, {"us", int64(time.Microsecond)}, {"ns", 1}}

// FormatDuration prints nanoseconds as `1h30m`, `250ms`, `0s`; whole days stay hours, as Go's own text does.
func FormatDuration(d int64) string { return string(AppendDuration(nil, d)) }

// AppendDuration appends what FormatDuration prints.
func AppendDuration(b []byte, d int64) []byte {
	if d == 0 {
		return append(b, "0s"...)
	}
	u := uint64(d)
	if d < 0 {
		b = append(b, '-')
		u = -u
	}
	for _, unit := range durationUnits {
		if n := u / uint64(unit.size); n > 0 {
			b = strconv.AppendUint(b, n, 10)
			b = append(b, unit.name...)
			u -= n * uint64(unit.size)
		}
	}
	return b
}
