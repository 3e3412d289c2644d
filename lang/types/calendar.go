package types

// Arithmetic of the Gregorian calendar, in UTC and without a detour by package time.

// FloorDiv returns a / b rounded down. b is greater than zero.
func FloorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// FloorMod returns what FloorDiv leaves: from 0 to b-1.
func FloorMod(a, b int64) int64 {
	m := a % b
	if m < 0 {
		m += b
	}
	return m
}

// DateOf returns the date of a day that is counted from 1970-01-01, of any day that an Instant is in.
func DateOf(days int64) (year, month, day int) {
	z := uint64(days + 719468) // days since 1 March of year 0: never negative for an Instant
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

// DayOf is the inverse of DateOf, for any year. The year is counted from March, so that the leap day is its last.
func DayOf(year, month, day int) int64 {
	y, m := int64(year), int64(month)
	if m <= 2 {
		y--
		m += 12
	}
	era := FloorDiv(y, 400)
	yoe := y - era*400
	doy := (153*(m-3)+2)/5 + int64(day) - 1
	return era*146097 + yoe*365 + yoe/4 - yoe/100 + doy - 719468
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
