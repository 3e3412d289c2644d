package conn

import (
	"bytes"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// csvDecoder turns records into columns. Records without quotes that have as many fields as they should are read some at a
// time and column by column (plain.go, csv_plain.go). Whatever is out of the ordinary (a record with quotes, a value that does not
// fit, too many fields) goes through the splitter, which knows all cases and says what is wrong.
type csvDecoder struct {
	*csvLayout
	split csvSplitter
	json  jsonScan // for lists, records, any and base64
	steps []csvStep
	cols  []*jsonField
	signs signs  // delimiters, quotes and newlines
	near  places // of signs
	tries plainTries
	ends  []byte // what fields of plain records end with, of as many as are tried at most

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
	d.ends = bytes.Repeat(append(bytes.Repeat([]byte{l.delim}, l.fields-1), '\n'), plainRows)
	for _, i := range l.wanted {
		c := l.columns[i]
		f := newJSONField(c.Name, types.QuoteName(c.Name), c.Type, 0)
		d.cols = append(d.cols, f)
		d.steps = append(d.steps, csvStep{at: l.at[i], op: l.op(f), field: f})
	}
	if l.change {
		d.steps = append(d.steps, csvStep{at: l.kind})
	}
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
	d.signs.mark(text)
	d.near.start(&d.signs, d.fields)
	p := 0
	for p < len(text) {
		if d.rows == d.room {
			d.more(text[p:], out)
		}
		if c := text[p]; c == '\n' || c == '\r' || c == d.comment && c != 0 {
			if line, whole := d.blank(text, p, final); !whole {
				break
			} else if line > p {
				p = line
				continue
			}
		}
		if next := d.plain(text, p); next > p {
			p = next
			continue
		}
		if !final && bytes.IndexByte(text[p:], '\n') < 0 {
			break
		}
		next, whole, why := d.slow(text, p, final)
		if !whole {
			break
		}
		if why != nil {
			if d.fail(why); out.guess && len(d.failed) > 500 {
				d.flush(out)
				return p, errGuess
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
