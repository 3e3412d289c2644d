package conn

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Plain records, those without quotes whose fields lie between signs, are read some at a time: where their signs are is
// listed first, and then each wanted column is parsed for all of them, in a loop that knows its type. What one field
// costs does not wait for the field before it.

// plainRows is how many plain records are read at a time at most: their text stays in the nearest cache.
const plainRows = 128

// csvRun are plain records whose signs are listed. Field c of record r lies between the signs r*fields+c and
// r*fields+c+1, of which the first is what stands before the first record.
type csvRun struct {
	text   []byte // with slack behind it
	signs  []int32
	fields int
	rows   int
}

// field returns where a field begins and ends; next is the number of its second sign. last tells that it is the last one.
func (x *csvRun) field(next int, last bool) (p, end int) {
	p, end = int(x.signs[next-1])+1, int(x.signs[next])
	if last && end > p && x.text[end-1] == '\r' {
		end--
	}
	return p, end
}

// plain reads plain records from p on into the rows from the one at hand, and returns where it stopped: p if the first
// one is not plain.
func (d *csvDecoder) plain(text []byte, p int) int {
	x := csvRun{text: text, signs: d.near.from(p, d.fields), fields: d.fields}
	most := min(d.room-d.rows, (len(x.signs)-1)/d.fields, d.tries)
	d.shaped(&x, most)
	tried := x.rows
	for i := range d.steps {
		if x.rows == 0 {
			break
		}
		d.column(&d.steps[i], &x)
	}
	for r := range x.rows {
		d.starts[d.rows+r] = x.signs[r*x.fields] + 1
	}
	d.rows += x.rows
	d.near.at += x.rows * x.fields
	if x.rows < tried { // not to read many again and again
		d.tries = 1
	} else {
		d.tries = min(2*d.tries, plainRows)
	}
	return int(x.signs[x.rows*x.fields]) + 1
}

// shaped finds how many records, at most most, have the right signs and are no comments.
func (d *csvDecoder) shaped(x *csvRun, most int) {
	delim, comment, at := d.delim, d.comment, 1
	for ; x.rows < most; x.rows++ {
		record := x.signs[at : at+x.fields]
		at += x.fields
		inner, end := record[:len(record)-1], record[len(record)-1]
		odd := x.text[end] ^ '\n'
		for _, q := range inner {
			odd |= x.text[q] ^ delim
		}
		if odd != 0 || comment != 0 && x.text[x.signs[at-1-x.fields]+1] == comment {
			return
		}
	}
}

// column parses a field of all records; those from the first on whose field cannot be parsed no longer count.
func (d *csvDecoder) column(s *csvStep, x *csvRun) {
	last, next := s.at == x.fields-1, s.at+1
	switch s.op {
	case csvString:
		d.strings(s.field, x, next, last)
	case csvInt, csvEpoch:
		d.ints(s.field, x, next, last)
	default:
		for r := range x.rows {
			p, end := x.field(next, last)
			next += x.fields
			if (s.op != csvFloat || !d.float(x.text, p, end, s.field, d.rows+r)) && !d.value(s.field, d.rows+r, x.text[p:end], false) {
				x.rows = r
				return
			}
		}
	}
}

func (d *csvDecoder) strings(f *jsonField, x *csvRun, next int, last bool) {
	to, b := f.strs[d.rows:d.rows+x.rows], x.text
	for r := range to {
		p, end := x.field(next, last)
		next += x.fields
		switch {
		case end > p:
			to[r] = unsafe.String(&b[p], end-p)
		case f.typ.Nullable:
			f.null(d.rows + r)
		default:
			to[r] = ""
		}
	}
}

// ints parses whole numbers, and times that are written as such.
func (d *csvDecoder) ints(f *jsonField, x *csvRun, next int, last bool) {
	to := f.ints[d.rows : d.rows+x.rows]
	for r := 0; ; r++ {
		r += x.digits(to[r:], next+r*x.fields, last, f.unit, uint64(f.most))
		if r == len(to) {
			return
		}
		switch p, end := x.field(next+r*x.fields, last); {
		case p == end && f.typ.Nullable:
			f.null(d.rows + r)
		case !d.value(f, d.rows+r, x.text[p:end], false):
			x.rows = r
			return
		}
	}
}

// digits reads fields of up to sixteen digits, with or without a minus, times unit, as long as there are no others and
// none is more than most. It returns how many it has read.
func (x *csvRun) digits(to []int64, next int, last bool, unit int64, most uint64) int {
	b, signs, fields := x.text, x.signs, x.fields
	for r := range to {
		p, end := int(signs[next-1])+1, int(signs[next])
		if last && end > p && b[end-1] == '\r' {
			end--
		}
		neg := 0
		if b[p] == '-' {
			neg = 1
		}
		p += neg
		// Up to eight digits are one word, up to sixteen two; odd are the bits of bytes that are none.
		w := wordAt(b, p) ^ '0'*lowBits
		n := uint(end - p)
		high := uint64(0)
		if n > 8 {
			if n > 16 {
				return r
			}
			w <<= (128 - 8*n) & 63
			if (w+0x76*lowBits|w)&highBits != 0 {
				return r
			}
			high = foldDigits(w) * 1e8
			w = wordAt(b, end-8) ^ '0'*lowBits
		} else {
			if n == 0 {
				return r
			}
			w <<= (64 - 8*n) & 63
		}
		u := high + foldDigits(w)
		if (w+0x76*lowBits|w)&highBits != 0 || u > most {
			return r
		}
		to[r] = (int64(u)*unit ^ -int64(neg)) + int64(neg)
		next += fields
	}
	return len(to)
}

// wordAt returns the eight bytes at p of a text with slack.
func wordAt(text []byte, p int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Pointer(&text[p]))[:])
}

// float parses the field from p to end: digits with a fraction, as long as the result is exact.
func (d *csvDecoder) float(b []byte, p, end int, f *jsonField, row int) bool {
	neg := b[p] == '-'
	if neg {
		p++
	}
	w := wordAt(b, p) ^ '0'*lowBits
	n := bits.TrailingZeros64((w+0x76*lowBits|w)&highBits) >> 3
	u := foldDigits(w << (64 - 8*uint(n)))
	p += n
	point := 0
	if n > 0 && b[p] == '.' {
		p++
		w = wordAt(b, p) ^ '0'*lowBits
		point = bits.TrailingZeros64((w+0x76*lowBits|w)&highBits) >> 3
		u = u*powersOf10[point] + foldDigits(w<<(64-8*uint(point)))
		p += point
	}
	if n == 0 || p != end || u >= 1<<53 { // more digits, an exponent, a name, nothing
		return false
	}
	// Both sides of the division are exact, so that the quotient is rounded once, as it must be.
	v := float64(u) / smallPowers[point]
	if neg {
		v = -v
	}
	f.floats[row] = v
	return true
}
