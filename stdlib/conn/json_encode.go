package conn

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// jsonEncoder writes rows as JSON lines. It belongs to one task.
type jsonEncoder struct {
	w      *spec.Write
	fields []jsonOut
	parts  *partNamer
	size   int // about how long a line is
	ends   []int
}

// jsonOut is how one value is written: made from the type that the sink wants.
type jsonOut struct {
	key    string // of a field: what comes before its value, `,"name":`
	kind   types.Kind
	format string // of a time
	kids   []jsonOut
}

func newJSONOut(key string, t types.Type) jsonOut {
	o := jsonOut{key: key, kind: t.Kind, format: t.Format}
	switch t.Kind {
	case types.List:
		o.kids = []jsonOut{newJSONOut("", *t.Elem)}
	case types.Record:
		o.kids = jsonOuts(t.Fields, "{")
	}
	return o
}

// jsonOuts returns how the fields of an object are written; first stands before the first one.
func jsonOuts(fields []types.Field, first string) []jsonOut {
	outs := make([]jsonOut, len(fields))
	for i, f := range fields {
		outs[i] = newJSONOut(string(append(appendQuoted([]byte(first), f.Name), ':')), f.Type)
		first = ","
	}
	return outs
}

func newJSONEncoder(w *spec.Write) (spec.Encoder, error) {
	e := &jsonEncoder{w: w, parts: newPartNamer(w), size: 32 * max(1, len(w.Schema.Fields))}
	first := "{"
	if w.Changes {
		first = ","
	}
	e.fields = jsonOuts(w.Schema.Fields, first)
	return e, nil
}

// Encode writes the rows into one block.
func (e *jsonEncoder) Encode(b *vec.Batch) (*vec.Batch, error) {
	if len(b.Cols) != len(e.fields) {
		return nil, fmt.Errorf("jsonl: %d columns for a schema of %d", len(b.Cols), len(e.fields))
	}
	n := b.Rows()
	block := make([]byte, 0, n*(e.size+e.size/8)+64)
	e.ends = e.ends[:0]
	for i := range n {
		r := b.Row(i)
		switch {
		case e.w.Changes:
			k := vec.Insert
			if b.Change != nil {
				k = b.Change[r]
			}
			block = append(block, `{"`+changeColumn+`":"`...)
			block = append(append(block, k.String()...), '"')
		case len(e.fields) == 0:
			block = append(block, '{')
		}
		for k := range e.fields {
			o, c := &e.fields[k], b.Cols[k]
			block = append(block, o.key...)
			if c.Valid != nil && !c.Valid.Get(r) {
				block = append(block, "null"...)
				continue
			}
			switch o.kind {
			case types.Int:
				block = appendInt(block, c.Ints[r])
			case types.String:
				block = appendQuoted(block, c.Strs[r])
			default:
				block = o.append(block, c, r)
			}
		}
		block = append(block, "}\n"...)
		e.ends = append(e.ends, len(block))
	}
	if n > 0 {
		e.size = len(block)/n + 1
	}
	out := encoded(block, e.ends)
	if e.parts != nil {
		parts, err := e.parts.column(b, (*csvEncoder)(nil).appendPlain) // folders are called the same in every format
		if err != nil {
			return nil, err
		}
		out.Cols = append(out.Cols, &vec.Column{Type: types.T(types.String), Strs: parts})
	}
	return out, nil
}

// append writes row r of c, which is not null.
func (o *jsonOut) append(b []byte, c *vec.Column, r int) []byte {
	switch o.kind {
	case types.Int:
		return appendInt(b, c.Ints[r])
	case types.Float:
		if f := c.Floats[r]; !math.IsNaN(f) && !math.IsInf(f, 0) {
			return appendFloat(b, f)
		}
	case types.Bool:
		return strconv.AppendBool(b, c.Bools[r])
	case types.Time:
		switch {
		case o.format == "":
			return append(appendInstant(append(b, '"'), c.Ints[r]), '"')
		case timeIsNumber(o.format):
			return appendTime(b, c.Ints[r], o.format)
		}
		var text [64]byte
		return appendQuoted(b, view(appendTime(text[:0], c.Ints[r], o.format)))
	case types.Duration:
		return append(types.AppendDuration(append(b, '"'), c.Ints[r]), '"')
	case types.String:
		return appendQuoted(b, c.Strs[r])
	case types.Bytes:
		return append(base64.StdEncoding.AppendEncode(append(b, '"'), bytesOf(c.Strs[r])), '"')
	case types.Any:
		if s := c.Strs[r]; s != "" {
			return append(b, s...)
		}
	case types.List:
		b = append(b, '[')
		elem, kid := &o.kids[0], c.Kids[0]
		for i := int(c.Offs[r]); i < int(c.Offs[r+1]); i++ {
			if i > int(c.Offs[r]) {
				b = append(b, ',')
			}
			b = elem.value(b, kid, i)
		}
		return append(b, ']')
	case types.Record:
		if len(o.kids) == 0 {
			b = append(b, '{')
		}
		for k := range o.kids {
			b = append(b, o.kids[k].key...)
			b = o.kids[k].value(b, c.Kids[k], r)
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

// value writes row r of c.
func (o *jsonOut) value(b []byte, c *vec.Column, r int) []byte {
	if c.Null(r) {
		return append(b, "null"...)
	}
	return o.append(b, c, r)
}

// bytesOf is s as bytes, which must not be changed.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// appendQuoted writes s as a JSON string. Only what must be escaped is; bytes that are not UTF-8 become U+FFFD.
func appendQuoted(b []byte, s string) []byte {
	b = append(slices.Grow(b, len(s)+10), '"')
	from := bytesOf(s)
	for {
		// Copy eight bytes at a time and look at them at once, see jsonText.str; those behind the first that is not
		// plain are copied in vain.
		to := b[len(b):cap(b)]
		i := 0
		for i+8 <= len(from) && i+8 <= len(to) {
			w := binary.LittleEndian.Uint64(from[i:])
			binary.LittleEndian.PutUint64(to[i:], w)
			quote, back := w^2*lowBits, w^'\\'*lowBits
			if m := ((quote - 0x21*lowBits) | (back - lowBits) | w) & highBits; m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		b = b[:len(b)+i]
		from = from[i:]
		for len(from) > 0 && from[0] >= ' ' && from[0] != '"' && from[0] != '\\' && from[0] < utf8.RuneSelf {
			b = append(b, from[0])
			from = from[1:]
		}
		if len(from) == 0 {
			return append(b, '"')
		}
		n := 1
		switch c := from[0]; {
		case c >= utf8.RuneSelf:
			var r rune
			r, n = utf8.DecodeRune(from)
			b = utf8.AppendRune(b, r)
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c == '\r':
			b = append(b, `\r`...)
		default:
			b = append(b, '\\', 'u', '0', '0', '0'+c>>4, "0123456789abcdef"[c&15])
		}
		from = from[n:]
	}
}
