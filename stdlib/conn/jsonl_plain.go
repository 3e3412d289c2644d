package conn

import (
	"math"
	"slices"

	"github.com/ebb-lang/ebb/lang/types"
)

// jsonPattern is how an object in a line of its own was written, but for its values: if none of those is a list or an
// object, and no text in them holds an escape or what is not ASCII, objects of this pattern are plain records.
type jsonPattern struct {
	leads   []jsonLead // one before each value, and one behind the last
	each    int        // signs of an object
	missing []*jsonField
	gain    int              // objects that were read by it
	rest    int              // so many that were not are left before another one is learned
	pause   int              // what rest begins with
	ints    [plainRows]int64 // of numbers that nobody wants
}

// jsonLead is the text from one value up to the next, with the quotes if these are strings.
type jsonLead struct {
	text  [maxLead]byte
	mask  [maxLead]byte // ones where text is
	sign  int           // number of its first sign in the record, from 1
	at    int           // where that is in the text
	kind  jsonValue
	field *jsonField // nil if the value is not wanted
	value between
}

// maxLead is how long a lead is at most, in bytes.
const maxLead = 2 * slack

// jsonValue is what stood behind a lead.
type jsonValue uint8

const (
	jsonEnd    jsonValue = iota // of the object
	jsonString                  // without escapes, ASCII only
	jsonInt                     // digits
	jsonOther
)

// maxPattern is how many signs an object of a pattern has at most.
const maxPattern = 512

// learn makes a pattern of the object at p, which is right and whose line is the rest of text, if it is time for a new one.
func (d *jsonDecoder) learn(text []byte, p int) {
	x, s := &d.pattern, d.scan
	if x.rest > 0 {
		x.rest--
		return
	}
	if x.pause = 2*x.pause + 1; x.gain >= 2*plainRows {
		x.pause = 0
	}
	x.pause = min(x.pause, 1023)
	x.rest, x.gain = x.pause, 0
	x.leads, x.missing, x.each = x.leads[:0], x.missing[:0], 0
	sign, from := 1, p
	lead := func(to int, kind jsonValue, f *jsonField) bool {
		part := text[from:to]
		l := jsonLead{sign: sign, at: slices.IndexFunc(part, d.signs.is), kind: kind, field: f}
		if len(part) > maxLead || l.at < 0 {
			return false
		}
		copy(l.text[:], part)
		for i := range part {
			l.mask[i] = 0xff
		}
		if k := len(x.leads) - 1; k >= 0 {
			x.leads[k].value.to, x.leads[k].value.end = sign, -l.at
		}
		l.value.from, l.value.start = sign, len(part)-l.at
		for _, c := range part {
			if d.signs.is(c) {
				sign++
			}
		}
		x.leads = append(x.leads, l)
		return sign <= maxPattern
	}
	for q := p + 1; ; q++ {
		if q = s.space(text, q); text[q] == '}' {
			break
		}
		end, plain := s.str(text, q+1)
		if !plain {
			return
		}
		name := text[q+1 : end]
		q = s.colon(text, end+1)
		var f *jsonField
		if key := s.root.keys[view(name)]; key != nil {
			f = key.field
		}
		if f != nil && slices.ContainsFunc(x.leads, func(l jsonLead) bool { return l.field == f }) {
			return
		}
		end = s.skip(text, q, 1)
		kind := jsonOther
		switch c := text[q]; {
		case c == '"':
			if q++; d.signs.from(q) != end-1 {
				return
			}
			kind = jsonString
		case c == '{' || c == '[':
			return
		case c-'0' <= 9 && jsonDigits(text, q) == end:
			kind = jsonInt
		}
		if !lead(q, kind, f) {
			return
		}
		if from = end; kind == jsonString {
			from--
		}
		if q = s.space(text, end); text[q] == '}' {
			break
		}
	}
	for _, f := range s.root.kids {
		if !slices.ContainsFunc(x.leads, func(l jsonLead) bool { return l.field == f }) {
			x.missing = append(x.missing, f)
		}
	}
	if lead(len(text), jsonEnd, nil) {
		x.each = sign - 1
	}
}

// plain reads objects of the pattern from p on, and returns where it stopped: p if the first one is not of the pattern or
// holds anything out of the ordinary.
func (d *jsonDecoder) plain(text []byte, p int, out *parts) int {
	z := &d.pattern
	if z.each == 0 {
		return p
	}
	d.makeRoom(text, p, out)
	x := plainRun{text: text, signs: d.near.from(p, z.each), each: z.each}
	x.rows = min(d.room-d.part.n, (len(x.signs)-1)/z.each, d.tries.most())
	for x.rows > 0 && (x.start(x.rows-1)-d.text > partBytes || x.start(x.rows) > len(text)) {
		x.rows--
	}
	tried := x.rows
	for i := range z.leads {
		if x.rows > 0 {
			z.shaped(&x, i)
		}
	}
	for i := range z.leads {
		if x.rows > 0 {
			d.values(&x, &z.leads[i])
		}
	}
	for r := range x.rows {
		d.part.starts = append(d.part.starts, int32(x.start(r)))
		for _, f := range z.missing {
			if f.typ.Nullable {
				f.null(d.part.n + r)
			} else {
				f.empty(d.part.n + r)
			}
		}
	}
	d.part.n += x.rows
	d.near.at += x.rows * x.each
	d.tries.done(x.rows == tried)
	z.gain += x.rows
	return x.start(x.rows)
}

// shaped looks for the i-th lead in all records; those from the first on that has another one no longer count.
func (z *jsonPattern) shaped(x *plainRun, i int) {
	l := &z.leads[i]
	for r := 0; i == 0 && r < x.rows; r++ {
		if int(x.signs[r*x.each+l.sign])-l.at != x.start(r) {
			x.rows = r
		}
	}
	if x.rows == 0 || l.inAll(x) {
		return
	}
	one, n := plainRun{text: x.text, signs: x.signs, each: x.each, rows: 1}, 0
	for ; n < x.rows && l.inAll(&one); n++ {
		one.signs = one.signs[x.each:]
	}
	x.rows = n
}

// inAll reports whether all records have the lead.
func (l *jsonLead) inAll(x *plainRun) bool {
	if int(x.signs[l.sign]) < l.at {
		return false // it would begin before the text
	}
	for k := 0; k < maxLead && l.mask[k] != 0; k += slack {
		if !x.alike(l.sign, l.at-k, (*[slack]byte)(l.text[k:]), (*[slack]byte)(l.mask[k:])) {
			return false
		}
	}
	return true
}

// values reads the values behind a lead; records from the first on whose value is not right no longer count.
func (d *jsonDecoder) values(x *plainRun, l *jsonLead) {
	f, row, s := l.field, d.part.n, d.scan
	if l.kind == jsonEnd || l.kind == jsonString && f == nil {
		return
	}
	if l.kind == jsonString && f.kind == types.String {
		x.texts(f.strs[row:row+x.rows], l.value)
		return
	}
	to, unit, most := d.pattern.ints[:x.rows], int64(1), int64(math.MaxInt64)
	quick := l.kind == jsonInt && f == nil
	if l.kind == jsonInt && f != nil && f.unit != 0 {
		to, unit, most, quick = f.ints[row:row+x.rows], f.unit, f.most, true
	}
	for r := 0; r < x.rows; r++ {
		if quick {
			if r += x.digits(to[r:], r, l.value, unit, uint64(most), true); r == x.rows {
				return
			}
		}
		p, end := x.at(r, l.value)
		if l.kind == jsonString {
			p, end = p-1, end+1
		}
		have := -1
		if f == nil {
			have = s.skip(x.text, p, 1)
		} else {
			have = s.value(x.text, p, f, row+r)
		}
		if have != end {
			x.rows = r
		}
	}
}
