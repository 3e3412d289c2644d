package types

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// How numbers are written in text, see text_time.go.

// Decimal is a number as it is written: ±Mant × 10^Exp. Lost tells that digits beyond Mant were not all zero.
type Decimal struct {
	Mant uint64
	Exp  int
	Neg  bool
	Lost bool
}

// ParseDecimal reads digits with an optional sign, fraction and exponent.
func ParseDecimal(s string) (d Decimal, ok bool) {
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		d.Neg = s[i] == '-'
		i++
	}
	seen, point := false, false
	for ; i < len(s); i++ {
		c := s[i] - '0'
		switch {
		case c <= 9:
			seen = true
			switch {
			case d.Mant < 1e18:
				d.Mant = d.Mant*10 + uint64(c)
				if point {
					d.Exp--
				}
			default:
				d.Lost = d.Lost || c != 0
				if !point {
					d.Exp++
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
		d.Exp += min(max(e, -1e6), 1e6)
		i = len(s)
	}
	return d, i == len(s)
}

// Integer returns d × 10^shift as an int, if it fits; a fraction is cut off with cut, else it fails.
func (d Decimal) Integer(shift int, cut bool) (int64, bool) {
	m, e, lost := d.Mant, d.Exp+shift, d.Lost
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
	case d.Neg && m <= 1<<63:
		return -int64(m), true
	case !d.Neg && m < 1<<63:
		return int64(m), true
	}
	return 0, false
}

const digits = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899"

// AppendInt writes an int in decimal, two digits at a time and in place.
func AppendInt(b []byte, v int64) []byte {
	u := uint64(v)
	if v < 0 {
		b = append(b, '-')
		u = -u
	}
	switch {
	case u >= 1e16:
		b = binary.LittleEndian.AppendUint64(appendDigits(b, u/1e16), '0'*bytes1+eightDigits(u/1e8%1e8))
		return binary.LittleEndian.AppendUint64(b, '0'*bytes1+eightDigits(u%1e8))
	case u >= 1e8:
		return binary.LittleEndian.AppendUint64(appendDigits(b, u/1e8), '0'*bytes1+eightDigits(u%1e8))
	}
	return appendDigits(b, u)
}

// appendDigits writes a number below 1e8 without zeros in front.
func appendDigits(b []byte, u uint64) []byte {
	w := eightDigits(u)
	skip := bits.TrailingZeros64(w|1<<63) >> 3 // at most seven
	return binary.LittleEndian.AppendUint64(b, ('0'*bytes1+w)>>(8*skip))[:len(b)+8-skip]
}

// bytes1 has a one in each byte.
const bytes1 = 0x0101010101010101

// eightDigits returns the digits of a number below 1e8, the first in the lowest byte: it is split in halves, all of which
// are divided at once by products.
func eightDigits(u uint64) uint64 {
	w := u/1e4 | u%1e4<<32
	q := w * 10486 >> 20 & 0x0000007f0000007f // by 100
	w = q | (w-q*100)<<16
	q = w * 103 >> 10 & 0x000f000f000f000f // by 10
	return q | (w-q*10)<<8
}

// AppendFloat writes a finite float as the shortest text that reads back as the same number: plain between 1e-6 and
// 1e21, with an exponent beyond.
func AppendFloat(b []byte, f float64) []byte {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 && (f != 0 || !math.Signbit(f)) {
		return AppendInt(b, int64(f))
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
