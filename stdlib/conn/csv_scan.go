package conn

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"sort"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// csvDecoder turns records into columns. A record without quotes takes the fast path: its end is where the line ends,
// each wanted field is parsed where it stands, and whatever is out of the ordinary (a record with quotes, a value that
// does not fit, too many fields) makes the record go through the splitter, which knows all cases and says what is wrong.
type csvDecoder struct {
	*csvLayout
	split csvSplitter
	json  jsonScan // for lists, records, any and base64
	steps []csvStep
	tail  int // fields behind the last wanted one
	cols  []*jsonField
	delim uint64 // the delimiter in each byte

	room   int // rows there is room for
	rows   int
	starts []int32
	change []vec.Change
	failed []failure
	size   int     // about how long a record is
	spare  []int32 // of a part that nobody reads any more
}

// csvStep is a wanted field.
type csvStep struct {
	skip  int // fields before it that nobody wants
	at    int // which field of the record it is
	op    csvOp
	field *jsonField // nil for the kind of change
}

type csvOp uint8

const (
	csvAny csvOp = iota // what has no way of its own
	csvString
	csvInt
	csvEpoch // a time that is written as a number
	csvFloat
)

func (l *csvLayout) decoder() decoder {
	d := &csvDecoder{csvLayout: l, delim: uint64(l.csvDialect.delim) * lowBits, split: csvSplitter{csvDialect: l.csvDialect}}
	for _, i := range l.wanted {
		c := l.columns[i]
		f := newJSONField(c.Name, types.QuoteName(c.Name), c.Type, 0)
		d.cols = append(d.cols, f)
		d.steps = append(d.steps, csvStep{at: l.at[i], op: l.op(f), field: f})
	}
	if l.change {
		d.steps = append(d.steps, csvStep{at: l.kind})
	}
	sort.SliceStable(d.steps, func(i, j int) bool { return d.steps[i].at < d.steps[j].at })
	next := 0
	for i := range d.steps {
		s := &d.steps[i]
		s.skip = s.at - next
		next = s.at + 1
	}
	d.tail = l.fields - next
	return d
}

// op returns the way a field is parsed.
func (l *csvLayout) op(f *jsonField) csvOp {
	switch {
	case l.null != "": // compared with the text of every field
		return csvAny
	case f.typ.Kind == types.String:
		return csvString
	case f.typ.Kind == types.Int:
		f.unit = 1
		return csvInt
	case f.typ.Kind == types.Time && f.unit != 0:
		return csvEpoch
	case f.typ.Kind == types.Float:
		return csvFloat
	}
	return csvAny
}

func (d *csvDecoder) decode(text []byte, final bool, out *parts) (int, error) {
	b := text[:len(text)+slack]
	p, quote := 0, -1
	for p < len(text) {
		if quote < p {
			quote = d.nextQuote(text, p)
		}
		end, next := len(text), len(text)
		if i := bytes.IndexByte(text[p:], '\n'); i >= 0 {
			end, next = p+i, p+i+1
		} else if !final {
			break
		}
		if end > p && b[end-1] == '\r' {
			end--
		}
		if end == p && d.fields != 1 || b[p] == d.comment && d.comment != 0 {
			p = next
			continue
		}
		if d.rows == d.room {
			d.more(len(text)-p, next-p, out)
		}
		if end >= quote || !d.fast(b, p, end) {
			var whole bool
			var why error
			if next, whole, why = d.slow(text, p, final); !whole {
				break
			}
			if why != nil {
				if d.fail(why); out.guess && len(d.failed) > 500 {
					d.flush(out)
					return p, errGuess
				}
			}
		}
		d.starts[d.rows] = int32(p)
		d.rows++
		p = next
	}
	d.flush(out)
	return p, nil
}

// nextQuote returns where the next quote stands, or a place behind everything.
func (d *csvDecoder) nextQuote(text []byte, p int) int {
	if d.quote != 0 {
		if i := bytes.IndexByte(text[p:], d.quote); i >= 0 {
			return p + i
		}
	}
	return math.MaxInt
}

// more makes room for rows: as many as the rest of the text is likely to hold.
func (d *csvDecoder) more(rest, record int, out *parts) {
	if d.rows == vec.MaxRows {
		d.size = max(1, int(d.starts[d.rows-1]-d.starts[0])/(d.rows-1))
		d.flush(out)
	}
	n := d.room * 2
	if d.room == 0 {
		if d.size == 0 {
			d.size = record
		}
		n = rest/d.size + rest/d.size>>4 + 8
	}
	n = min(n, vec.MaxRows)
	for _, f := range d.cols {
		f.grow(n)
	}
	if d.room == 0 {
		d.starts = extend(nil, d.spare, n)
		d.spare = nil
	} else {
		d.starts = extend(d.starts, nil, n)
	}
	if d.csvLayout.change {
		d.change = extend(d.change, nil, n)
	}
	d.room = n
}

// flush hands over the rows so far.
func (d *csvDecoder) flush(out *parts) {
	if d.rows > 0 {
		x := part{n: d.rows, starts: d.starts[:d.rows], failed: d.failed, cols: make([]*vec.Column, len(d.cols))}
		for i, f := range d.cols {
			x.cols[i] = f.take(d.rows)
		}
		if d.csvLayout.change {
			x.change = d.change[:d.rows]
		}
		if d.rows > 1 {
			d.size = max(1, int(d.starts[d.rows-1]-d.starts[0])/(d.rows-1))
		}
		out.add(x)
	} else {
		for _, f := range d.cols {
			f.take(0)
		}
	}
	d.rows, d.room, d.starts, d.change, d.failed = 0, 0, nil, nil, nil
}

func (d *csvDecoder) recycle(p *part) {
	for i, f := range d.cols {
		f.recycle(p.cols[i])
	}
	d.spare = p.starts
}

// fail notes that the row at hand failed, and empties it.
func (d *csvDecoder) fail(why error) {
	d.failed = append(d.failed, failure{d.rows, why})
	for _, f := range d.cols {
		f.null(d.rows)
	}
}

// fast parses the record from p to end, in which there are no quotes, into the row at hand. It reports false if
// anything is out of the ordinary.
func (d *csvDecoder) fast(b []byte, p, end int) bool {
	row := d.rows
	for i := range d.steps {
		s := &d.steps[i]
		for n := s.skip; n > 0; n-- {
			if p = d.find(b, p, end) + 1; p > end {
				return false
			}
		}
		if p > end {
			return false
		}
		f := s.field
		q := p
		switch s.op {
		case csvString:
			q = d.find(b, p, end)
			switch {
			case q > p:
				f.strs[row] = view(b[p:q])
			case f.typ.Nullable:
				f.null(row)
			default:
				f.strs[row] = ""
			}
		case csvInt, csvEpoch:
			neg := b[q] == '-'
			if neg {
				q++
			}
			// One load finds where up to eight digits end and folds them into a number, without a branch for each.
			w := binary.LittleEndian.Uint64(b[q:]) ^ '0'*lowBits
			n := bits.TrailingZeros64((w+0x76*lowBits|w)&highBits) >> 3
			u := foldDigits(w << (64 - 8*uint(n)))
			q += n
			if n == 8 {
				w = binary.LittleEndian.Uint64(b[q:]) ^ '0'*lowBits
				n = bits.TrailingZeros64((w+0x76*lowBits|w)&highBits) >> 3
				u = u*powersOf10[n] + foldDigits(w<<(64-8*uint(n)))
				q += n
				if n == 8 {
					return false // may not fit
				}
			} else if n == 0 {
				if neg || !f.typ.Nullable || q < end && b[q] != d.csvDialect.delim {
					return false
				}
				f.null(row)
				break
			}
			v := int64(u)
			if neg {
				v = -v
			}
			if s.op == csvEpoch {
				if u > uint64(math.MaxInt64/f.unit) {
					return false
				}
				v *= f.unit
			}
			f.ints[row] = v
		case csvFloat:
			var ok bool
			if q, ok = d.float(b, p, end, f); !ok {
				return false
			}
		default:
			q = d.find(b, p, end)
			if !d.value(f, b[p:q], false) {
				return false
			}
		}
		if q > end || q < end && b[q] != d.csvDialect.delim {
			return false
		}
		p = q + 1
	}
	// p stands behind the delimiter or the end that follows the last wanted field.
	switch {
	case d.tail == 0:
		return p == end+1
	case p > end:
		return false
	case d.tail == 1:
		return d.find(b, p, end) == end
	}
	return bytes.Count(b[p:end], []byte{d.csvDialect.delim}) == d.tail-1
}

// find returns where the next delimiter stands, or end.
func (d *csvDecoder) find(b []byte, p, end int) int {
	for stop := min(p+32, end); p < stop; p += 8 {
		x := binary.LittleEndian.Uint64(b[p:]) ^ d.delim
		if m := (x - lowBits) & ^x & highBits; m != 0 {
			return min(p+bits.TrailingZeros64(m)>>3, end)
		}
	}
	if p < end {
		if i := bytes.IndexByte(b[p:end], d.csvDialect.delim); i >= 0 {
			return p + i
		}
	}
	return end
}

// float parses digits with a fraction, as long as the result is exact.
func (d *csvDecoder) float(b []byte, p, end int, f *jsonField) (int, bool) {
	neg := b[p] == '-'
	from := p
	if neg {
		p++
	}
	w := binary.LittleEndian.Uint64(b[p:]) ^ '0'*lowBits
	n := bits.TrailingZeros64((w+0x76*lowBits|w)&highBits) >> 3
	u := foldDigits(w << (64 - 8*uint(n)))
	p += n
	point := 0
	if n > 0 && b[p] == '.' {
		p++
		w = binary.LittleEndian.Uint64(b[p:]) ^ '0'*lowBits
		point = bits.TrailingZeros64((w+0x76*lowBits|w)&highBits) >> 3
		u = u*powersOf10[point] + foldDigits(w<<(64-8*uint(point)))
		p += point
	}
	if n == 0 || p > end || p < end && b[p] != d.csvDialect.delim || u >= 1<<53 { // more digits, an exponent, a name, nothing
		p = d.find(b, from, end)
		return p, d.value(f, b[from:p], false)
	}
	// Both sides of the division are exact, so that the quotient is rounded once, as it must be.
	v := float64(u) / smallPowers[point]
	if neg {
		v = -v
	}
	f.floats[d.rows] = v
	return p, true
}
