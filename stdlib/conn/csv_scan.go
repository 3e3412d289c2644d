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

// csvDecoder turns records into columns. A record without quotes takes the fast path: its fields lie between signs, each
// wanted one is parsed where it stands, and whatever is out of the ordinary (a record with quotes, a value that does not
// fit, too many fields) makes the record go through the splitter, which knows all cases and says what is wrong.
type csvDecoder struct {
	*csvLayout
	split csvSplitter
	json  jsonScan // for lists, records, any and base64
	steps []csvStep
	tail  int // fields behind the last wanted one
	cols  []*jsonField
	signs signs // delimiters, quotes and newlines

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
	d := &csvDecoder{csvLayout: l, split: csvSplitter{csvDialect: l.csvDialect}}
	d.signs = signs{eq: [3]byte{l.delim, '\n', l.quote}, below: -128}
	if l.quote == 0 {
		d.signs.eq[2] = '\n'
	}
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
	d.signs.mark(text)
	p := 0
	for p < len(text) {
		if d.rows == d.room {
			d.more(text[p:], out)
		}
		if c := b[p]; c == '\n' || c == '\r' || c == d.comment && c != 0 {
			if line, whole := d.blank(text, p, final); !whole {
				break
			} else if line > p {
				p = line
				continue
			}
		}
		next := d.fast(b, p, len(text))
		if next < 0 {
			if !final && bytes.IndexByte(text[p:], '\n') < 0 {
				break
			}
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

// blank returns what follows the comment or empty line at p, p if it is neither. whole is false if the line does not end
// and the text is not final.
func (d *csvDecoder) blank(text []byte, p int, final bool) (next int, whole bool) {
	next = p + bytes.IndexByte(text[p:], '\n') + 1
	if next == p {
		if !final {
			return p, false
		}
		next = len(text)
	}
	if text[p] == d.comment && d.comment != 0 || lineEnd(text, p, next) == p && d.fields != 1 {
		return next, true
	}
	return p, true
}

// more makes room for rows: as many as the rest of the text is likely to hold.
func (d *csvDecoder) more(rest []byte, out *parts) {
	if d.rows == vec.MaxRows {
		d.size = max(1, int(d.starts[d.rows-1]-d.starts[0])/(d.rows-1))
		d.flush(out)
	}
	n := d.room * 2
	if d.room == 0 {
		if d.size == 0 {
			d.size = max(1, bytes.IndexByte(rest, '\n'))
		}
		n = len(rest)/d.size + len(rest)/d.size>>4 + 8
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

// fast parses the record at p, which must have no quotes, into the row at hand and returns where the next one starts. It
// returns -1 if anything is out of the ordinary: the last record of a text of n bytes that has no line end is, too.
func (d *csvDecoder) fast(b []byte, p, n int) int {
	row, delim := d.rows, d.csvDialect.delim
	last := delim // the sign before p
	for i := range d.steps {
		s := &d.steps[i]
		if last != delim {
			return -1
		}
		for k := s.skip; k > 0; k-- {
			q := d.signs.from(p)
			if q >= n || b[q] != delim {
				return -1
			}
			p = q + 1
		}
		sign := d.signs.from(p)
		if sign >= n {
			return -1
		}
		end := sign
		if last = b[sign]; last != delim {
			if last != '\n' {
				return -1
			}
			if end > p && b[end-1] == '\r' {
				end--
			}
		}
		f := s.field
		switch s.op {
		case csvString:
			switch {
			case end > p:
				f.strs[row] = view(b[p:end])
			case f.typ.Nullable:
				f.null(row)
			default:
				f.strs[row] = ""
			}
		case csvInt, csvEpoch:
			neg := b[p] == '-'
			if neg {
				p++
			}
			// One load finds where up to eight digits end and folds them into a number, without a branch for each.
			w := binary.LittleEndian.Uint64(b[p:]) ^ '0'*lowBits
			n := bits.TrailingZeros64((w+0x76*lowBits|w)&highBits) >> 3
			u := foldDigits(w << (64 - 8*uint(n)))
			p += n
			if n == 8 {
				w = binary.LittleEndian.Uint64(b[p:]) ^ '0'*lowBits
				n = bits.TrailingZeros64((w+0x76*lowBits|w)&highBits) >> 3
				u = u*powersOf10[n] + foldDigits(w<<(64-8*uint(n)))
				p += n
				if n == 8 {
					return -1 // may not fit
				}
			} else if n == 0 {
				if neg || !f.typ.Nullable || p != end {
					return -1
				}
				f.null(row)
				break
			}
			if p != end {
				return -1
			}
			v := int64(u)
			if neg {
				v = -v
			}
			if s.op == csvEpoch {
				if u > uint64(math.MaxInt64/f.unit) {
					return -1
				}
				v *= f.unit
			}
			f.ints[row] = v
		case csvFloat:
			if !d.float(b, p, end, f) {
				return -1
			}
		default:
			if !d.value(f, b[p:end], false) {
				return -1
			}
		}
		p = sign + 1
	}
	for k := d.tail; k > 0; k-- {
		if last != delim {
			return -1
		}
		q := d.signs.from(p)
		if q >= n {
			return -1
		}
		last, p = b[q], q+1
	}
	if last != '\n' {
		return -1
	}
	return p
}

// float parses the field from p to end: digits with a fraction, as long as the result is exact.
func (d *csvDecoder) float(b []byte, p, end int, f *jsonField) bool {
	from := p
	neg := b[p] == '-'
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
	if n == 0 || p != end || u >= 1<<53 { // more digits, an exponent, a name, nothing
		return d.value(f, b[from:end], false)
	}
	// Both sides of the division are exact, so that the quotient is rounded once, as it must be.
	v := float64(u) / smallPowers[point]
	if neg {
		v = -v
	}
	f.floats[d.rows] = v
	return true
}
