package conn

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// jsonFormat is JSON as a format of the file framework. A file holds an object a line, or one list of objects (`[` is
// its first byte), or objects over several lines one after the other; the last two are read by one task.
type jsonFormat struct {
	columns []types.Field // those to decode
	change  bool          // take the kind of change from the field _change
	sample  *jsonSample   // what decided the types of columns; nil if the script did
}

// changeColumn is the name under which the kind of change is read and written.
const changeColumn = "_change"

// jsonLayout is how the objects of one file lie.
type jsonLayout struct {
	*jsonFormat
	style jsonStyle
}

type jsonStyle uint8

const (
	jsonLines jsonStyle = iota // an object a line
	jsonList                   // [object, object, …]
	jsonLoose                  // objects with any blanks between and in them
)

func (f *jsonFormat) open(_ string, head []byte, final bool) (layout, error) {
	style, ok := jsonStyleOf(head, final)
	if !ok {
		return nil, errShort
	}
	return jsonLayout{f, style}, nil
}

// jsonStyleOf tells the style of a file from its first bytes; !ok asks for more of them.
func jsonStyleOf(head []byte, final bool) (style jsonStyle, ok bool) {
	var whole jsonText
	at := whole.space(head, 0)
	if at == len(head) {
		return jsonLines, final
	}
	if head[at] == '[' {
		return jsonList, true
	}
	// An object that the end of its line cuts, but which is well-formed JSON so far, goes on in the next one.
	end := bytes.IndexByte(head[at:], '\n')
	if end < 0 {
		return jsonLines, true // a line of that length is one
	}
	end += at
	line := jsonText{lines: true}
	if line.skip(head[:end], at, 0) < 0 && line.at >= len(bytes.TrimRight(head[:end], " \t\r")) &&
		(whole.skip(head, at, 0) >= 0 || whole.at >= len(head)) {
		return jsonLoose, true
	}
	return jsonLines, true
}

func (l jsonLayout) skip() (int, int)     { return 0, 0 }
func (l jsonLayout) chunks() bool         { return l.style == jsonLines }
func (l jsonLayout) odd(text []byte) bool { return false }
func (l jsonLayout) next(text []byte, odd bool) int {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return -1
}

func (l jsonLayout) trim(record []byte) []byte {
	record = bytes.TrimRight(record, " \t\r\n")
	if n := len(record); l.style == jsonList && n > 0 && (record[n-1] == ',' || record[n-1] == ']') {
		record = bytes.TrimRight(record[:n-1], " \t\r\n")
	}
	return record
}

func (l jsonLayout) decoder() decoder {
	columns := l.columns
	if l.change {
		columns = append(columns[:len(columns):len(columns)], types.Field{Name: changeColumn, Type: types.T(types.String)})
	}
	d := &jsonDecoder{layout: l, scan: newJSONScan(columns)}
	d.scan.lines = l.style == jsonLines
	d.signs = signs{eq: [3]byte{'"', '\\', '"'}, below: ' '}
	d.scan.signs = &d.signs
	return d
}

// jsonDecoder decodes the records of one file.
type jsonDecoder struct {
	layout  jsonLayout
	scan    *jsonScan
	part    part // being filled
	room    int  // rows that the columns have room for
	text    int  // where the part starts in the text
	pieces  jsonPieces
	signs   signs // what is not plain in a string
	near    places
	pattern jsonPattern // of the last objects
	tries   plainTries
	spare   []int32 // of a part that nobody reads any more
}

// partBytes is about how much text goes into a part.
const partBytes = 1 << 20

func (d *jsonDecoder) decode(text []byte, final bool, out *parts) (used int, err error) {
	if len(text) > math.MaxInt32 {
		return 0, errors.New("a record longer than 2 GiB")
	}
	d.text = 0
	d.signs.mark(text)
	if d.layout.style == jsonLines {
		used = d.lines(text, final, out)
	} else {
		used, err = d.several(text, final, out)
	}
	d.flush(out)
	return used, err
}

// lines decodes an object a line.
func (d *jsonDecoder) lines(text []byte, final bool, out *parts) int {
	s := d.scan
	if !final {
		text = text[:bytes.LastIndexByte(text, '\n')+1]
	}
	d.near.start(&d.signs, maxPattern)
	p := 0
	for {
		p = s.space(text, p)
		if p >= len(text) {
			return len(text)
		}
		if text[p] == '\n' {
			p++
			continue
		}
		if next := d.plain(text, p, out); next > p {
			p = next
			continue
		}
		i := d.next(text, p, out)
		end := s.row(text, p, i)
		if end >= 0 && (end >= len(text) || text[end] != '\n') {
			end = d.ended(text, end)
		}
		if end >= 0 && end < len(text) {
			d.learn(text[:end+1], p)
		}
		if end < 0 {
			d.failed(text, p, i)
			if end = bytes.IndexByte(text[p:], '\n'); end < 0 {
				return len(text)
			}
			end += p
		}
		p = min(end+1, len(text))
	}
}

// ended checks that nothing but blanks follows a row up to the newline or the end, whose place it returns.
func (d *jsonDecoder) ended(text []byte, p int) int {
	p = d.scan.space(text, p)
	if p < len(text) && text[p] != '\n' {
		return d.scan.fail(p, "something follows the object")
	}
	return p
}

// next begins a record at p of text and returns its row.
func (d *jsonDecoder) next(text []byte, p int, out *parts) int {
	d.makeRoom(text, p, out)
	d.part.starts = append(d.part.starts, int32(p))
	d.part.n++
	return d.part.n - 1
}

// makeRoom sees to it that there is a row for a record at p of text.
func (d *jsonDecoder) makeRoom(text []byte, p int, out *parts) {
	if d.part.n == vec.MaxRows || p-d.text > partBytes {
		d.flush(out)
		d.text = p
	}
	if i := d.part.n; i == d.room {
		d.room = min(max(2*i, d.guess(text[p:])), vec.MaxRows)
		d.scan.root.grow(d.room)
	}
}

// guess returns about how many records there are in text, rather too many than too few.
func (d *jsonDecoder) guess(text []byte) int {
	const look = 16 << 10
	ends := "\n"
	if d.layout.style != jsonLines {
		ends = "}"
	}
	if len(text) <= look {
		return bytes.Count(text, []byte(ends)) + 1
	}
	return bytes.Count(text[:look], []byte(ends))*len(text)/look*9/8 + 16
}

// failed notes that row i, whose text starts at p, failed.
func (d *jsonDecoder) failed(text []byte, p, i int) {
	err := d.scan.problem(text, p)
	if s := d.scan; s.field != nil && s.field != s.root && s.at >= 0 {
		err = fmt.Errorf("%w%s", err, d.layout.sample.why(s.field.path, text[s.at]))
	}
	d.part.failed = append(d.part.failed, failure{i, err})
	d.scan.lose(i)
}

// flush hands over the part.
func (d *jsonDecoder) flush(out *parts) {
	n := d.part.n
	if n == 0 {
		return
	}
	for _, f := range d.scan.root.kids {
		d.part.cols = append(d.part.cols, f.take(n))
	}
	if d.layout.change {
		last := len(d.part.cols) - 1
		d.kinds(d.part.cols[last].Strs)
		d.part.cols = d.part.cols[:last]
	}
	out.add(d.part)
	if d.part, d.room = (part{starts: d.spare[:0]}), 0; cap(d.spare) == 0 {
		d.part.starts = make([]int32, 0, min(n+n/8, vec.MaxRows))
	}
	d.spare = nil
}

func (d *jsonDecoder) recycle(p *part) {
	for i, c := range p.cols {
		d.scan.root.kids[i].recycle(c)
	}
	d.spare = p.starts
}

// kinds makes the kinds of change of the part from their text.
func (d *jsonDecoder) kinds(text []string) {
	d.part.change = make([]vec.Change, len(text))
	var failed []failure
	old := d.part.failed
	for i, s := range text {
		if len(old) > 0 && old[0].row == i {
			failed = append(failed, old[0])
			old = old[1:]
			continue
		}
		c, ok := changeOf(s)
		if !ok {
			failed = append(failed, failure{i, fmt.Errorf("column %s: %q is not one of +I -U +U -D", changeColumn, s)})
		}
		d.part.change[i] = c
	}
	d.part.failed = failed
}

// changeOf returns the kind of change that s stands for.
func changeOf(s string) (vec.Change, bool) {
	for c := vec.Insert; c <= vec.Delete; c++ {
		if s == c.String() {
			return c, true
		}
	}
	return 0, false
}
