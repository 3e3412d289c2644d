package conn

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// How values are written in text, whatever the format of the file: one set of functions for csv, jsonl and their like.
// Parsing functions take views and keep nothing of them; they report failure as a bool, and the connector says what
// was wanted (timeHint). Append functions do not allocate once their buffer is large enough.

const secondsPerDay = 86400

// parseTime reads a time as the Format of a types.Type says: a number of "s", "ms", "us" or "ns" since 1970, a layout
// of package time, or for "" RFC 3339 and its relatives. The result is in nanoseconds; text without a zone is UTC.
func parseTime(s, format string) (int64, bool) {
	switch format {
	case "":
		return parseInstant(s)
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
	return unixNano(t.Unix(), int64(t.Nanosecond()))
}

// timeHint says in words what parseTime wants.
func timeHint(format string) string {
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

// timeIsNumber reports whether times of the format are written as numbers.
func timeIsNumber(format string) bool {
	return format == "ms" || format == "s" || format == "us" || format == "ns"
}

// unixNano joins seconds since 1970 and nanoseconds; it fails outside of the years 1677 to 2262.
func unixNano(sec, nanos int64) (int64, bool) {
	const limit = math.MaxInt64 / 1_000_000_000
	if sec >= limit || sec <= -limit {
		return 0, false
	}
	return sec*1_000_000_000 + nanos, true
}

// parseEpoch reads a number of units of 10^exp nanoseconds since 1970; what is below a nanosecond is cut off.
func parseEpoch(s string, exp int) (int64, bool) {
	if d, ok := parseDecimal(s); ok {
		return d.integer(exp, true)
	}
	return 0, false
}

// parseInstant reads RFC 3339 and its relatives: a date alone, `T` or a blank before the time, seconds and fraction
// optional, `/` in the date, and as zone nothing (UTC), `Z`, `UTC`, `+02:00`, `+0200` or `+02`.
func parseInstant(s string) (int64, bool) {
	if len(s) < 10 || s[4] != '-' && s[4] != '/' || s[7] != s[4] {
		return 0, false
	}
	year, month, day := two(s, 0)*100+two(s, 2), two(s, 5), two(s, 8)
	if year < 0 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	sec := daysTo(year, month, day) * secondsPerDay
	if len(s) == 10 {
		return unixNano(sec, 0)
	}
	if len(s) < 16 || s[10] != 'T' && s[10] != ' ' && s[10] != 't' || s[13] != ':' {
		return 0, false
	}
	hour, minute := two(s, 11), two(s, 14)
	if hour < 0 || hour > 23 || minute < 0 || minute > 59 {
		return 0, false
	}
	sec += int64(hour*3600 + minute*60)
	nanos := int64(0)
	s = s[16:]
	if len(s) >= 3 && s[0] == ':' {
		second := two(s, 1)
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
	return unixNano(sec-zone, nanos)
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
	hour, minute := two(s, 1), 0
	switch {
	case len(s) == 3:
	case len(s) == 5:
		minute = two(s, 3)
	case len(s) == 6 && s[3] == ':':
		minute = two(s, 4)
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

// two reads two digits at i; without them the result is far below zero.
func two(s string, i int) int {
	a, b := s[i]-'0', s[i+1]-'0'
	if a > 9 || b > 9 {
		return -1 << 20
	}
	return int(a)*10 + int(b)
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// daysTo returns the days from 1970-01-01 to a date of the Gregorian calendar. The year is counted from March, so that
// the leap day is its last.
func daysTo(year, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := year / 400
	if year < 0 {
		era = (year - 399) / 400
	}
	of := year - era*400
	return int64(era*146097 + of*365 + of/4 - of/100 + (153*(month-3)+2)/5 + day - 1 - 719468)
}

// dateOf is the inverse of daysTo.
func dateOf(days int64) (year, month, day int) {
	days += 719468
	era := days / 146097
	if days < 0 {
		era = (days - 146096) / 146097
	}
	of := int(days - era*146097)
	y := (of - of/1460 + of/36524 - of/146096) / 365
	d := of - (365*y + y/4 - y/100)
	m := (5*d + 2) / 153
	year, month, day = y+int(era)*400, m+3, d-(153*m+2)/5+1
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}

// appendTime writes a time as format says (see parseTime): "" is RFC 3339 in UTC with Z and 0, 3, 6 or 9 digits of
// fraction as needed; numbers are cut to their unit.
func appendTime(b []byte, t int64, format string) []byte {
	switch format {
	case "":
		return appendInstant(b, t)
	case "s":
		return appendInt(b, floorDiv(t, 1_000_000_000))
	case "ms":
		return appendInt(b, floorDiv(t, 1_000_000))
	case "us":
		return appendInt(b, floorDiv(t, 1_000))
	case "ns":
		return appendInt(b, t)
	}
	return time.Unix(0, t).UTC().AppendFormat(b, format)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func appendInstant(b []byte, t int64) []byte {
	sec := floorDiv(t, 1_000_000_000)
	nanos := uint32(t - sec*1_000_000_000)
	days := floorDiv(sec, secondsPerDay)
	clock := uint32(sec - days*secondsPerDay)
	year, month, day := dateOf(days)
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

// parseDuration reads `1h30m`, `250ms`, `1.5h`, `-7d`, `2w`, `0`: Go's text and days and weeks.
func parseDuration(s string) (int64, bool) {
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

// A decimal is a number as it is written: ±mant × 10^exp; lost tells that digits beyond mant were not all zero.
type decimal struct {
	mant uint64
	exp  int
	neg  bool
	lost bool
}

// parseDecimal reads digits with an optional sign, fraction and exponent.
func parseDecimal(s string) (d decimal, ok bool) {
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		d.neg = s[i] == '-'
		i++
	}
	seen, point := false, false
	for ; i < len(s); i++ {
		c := s[i] - '0'
		switch {
		case c <= 9:
			seen = true
			switch {
			case d.mant < 1e18:
				d.mant = d.mant*10 + uint64(c)
				if point {
					d.exp--
				}
			default:
				d.lost = d.lost || c != 0
				if !point {
					d.exp++
				}
			}
			continue
		case s[i] == '.' && !point:
			point = true
			continue
		}
		break
	}
	if !seen {
		return d, false
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		e, err := strconv.Atoi(s[i+1:])
		if err != nil {
			return d, false
		}
		d.exp += min(max(e, -1e6), 1e6)
		i = len(s)
	}
	return d, i == len(s)
}

// integer returns d × 10^shift as an int, if it fits; a fraction is cut off with cut, else it fails.
func (d decimal) integer(shift int, cut bool) (int64, bool) {
	m, e, lost := d.mant, d.exp+shift, d.lost
	for ; e > 0 && m != 0; e-- {
		if m > 1<<63/10 {
			return 0, false
		}
		m *= 10
	}
	for ; e < 0 && m != 0; e++ {
		lost = lost || m%10 != 0
		m /= 10
	}
	switch {
	case lost && !cut:
		return 0, false
	case d.neg && m <= 1<<63:
		return -int64(m), true
	case !d.neg && m < 1<<63:
		return int64(m), true
	}
	return 0, false
}

const digits = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899"

// appendInt writes an int in decimal, two digits at a time and in place.
func appendInt(b []byte, v int64) []byte {
	u := uint64(v)
	if v < 0 {
		b = append(b, '-')
		u = -u
	}
	if u < 10 {
		return append(b, byte('0'+u))
	}
	n := decimalLen(u)
	at := len(b)
	b = append(b, "00000000000000000000"[:n]...)
	w := b[at : at+n]
	for n > 2 {
		q := u / 100
		r := (u - q*100) * 2
		u = q
		n -= 2
		w[n], w[n+1] = digits[r], digits[r+1]
	}
	if n == 2 {
		w[0], w[1] = digits[u*2], digits[u*2+1]
	} else {
		w[0] = byte('0' + u)
	}
	return b
}

// decimalLen returns the number of decimal digits of u > 0.
func decimalLen(u uint64) int {
	n := bits.Len64(u) * 1233 >> 12 // about log10: right or one too low
	if u >= powersOf10[n] {
		n++
	}
	return n
}

var powersOf10 = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// appendFloat writes a finite float as the shortest text that reads back as the same number: plain between 1e-6 and
// 1e21, with an exponent beyond.
func appendFloat(b []byte, f float64) []byte {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 && (f != 0 || !math.Signbit(f)) {
		return appendInt(b, int64(f))
	}
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		b = strconv.AppendFloat(b, f, 'e', -1, 64)
		if n := len(b); n >= 4 && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' { // e-09 is e-9
			b[n-2] = b[n-1]
			b = b[:n-1]
		}
		return b
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}
