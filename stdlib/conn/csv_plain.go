package conn

import "math/bits"

// plain reads records without quotes that have as many fields as they should, from p on, into the rows from the one at
// hand. It returns where it stopped: p if the first one is not plain.
func (d *csvDecoder) plain(text []byte, p int) int {
	x := plainRun{text: text, signs: d.near.from(p, d.fields), each: d.fields}
	cr := d.shaped(&x, min(d.room-d.rows, (len(x.signs)-1)/d.fields, d.tries.most()))
	tried := x.rows
	for i := range d.steps {
		if x.rows == 0 {
			break
		}
		s := &d.steps[i]
		v := between{from: s.at, start: 1, to: s.at + 1}
		if s.at == d.fields-1 {
			v.end = -cr
		}
		d.column(s, &x, v)
	}
	for r := range x.rows {
		d.starts[d.rows+r] = int32(x.start(r))
	}
	d.rows += x.rows
	d.near.at += x.rows * x.each
	d.tries.done(x.rows == tried)
	return x.start(x.rows)
}

// shaped finds how many records, at most most, have the right signs and are no comments. All of them end in \r\n, and cr
// is 1, or none.
func (d *csvDecoder) shaped(x *plainRun, most int) (cr int) {
	b, comment := x.text, d.comment
	alike := most > 0 && x.have(1, d.ends[:most*x.each])
	for ; x.rows < most; x.rows++ {
		at := x.rows * x.each
		if !alike && !x.have(at+1, d.ends[:x.each]) {
			break
		}
		start, end := x.signs[at]+1, x.signs[at+x.each]
		if comment != 0 && b[start] == comment {
			break
		}
		ends := 0
		if end > start && b[end-1] == '\r' {
			ends = 1
		}
		if x.rows == 0 {
			cr = ends
		} else if cr != ends {
			break
		}
	}
	return cr
}

// column parses a field of all records; those from the first on whose field cannot be parsed no longer count.
func (d *csvDecoder) column(s *csvStep, x *plainRun, v between) {
	f, row := s.field, d.rows
	switch s.op {
	case csvString:
		to := f.strs[row : row+x.rows]
		if x.texts(to, v) && f.typ.Nullable {
			for r, text := range to {
				if text == "" {
					f.null(row + r)
				}
			}
		}
	case csvInt, csvEpoch:
		to := f.ints[row : row+x.rows]
		for r := 0; ; r++ {
			r += x.digits(to[r:], r, v, f.unit, uint64(f.most), false)
			if r == len(to) {
				return
			}
			if p, end := x.at(r, v); p == end && f.typ.Nullable {
				f.null(row + r)
			} else if !d.value(f, row+r, x.text[p:end], false) {
				x.rows = r
				return
			}
		}
	default:
		for r := range x.rows {
			p, end := x.at(r, v)
			if (s.op != csvFloat || !d.float(x.text, p, end, f, row+r)) && !d.value(f, row+r, x.text[p:end], false) {
				x.rows = r
				return
			}
		}
	}
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
