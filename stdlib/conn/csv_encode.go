package conn

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// csvEncoder writes rows as lines of CSV. It belongs to one task.
type csvEncoder struct {
	csvDialect
	w      *spec.Write
	json   []jsonOut // for lists, records and any, by column
	parts  *partNamer
	plain  bool // numbers and times never need quotes
	size   int  // about how long a line is
	blocks blocks
	text   []byte // of a value that may have to be quoted

	hope    bool  // text is written as if it needed no quotes; whether that was right is seen from the block
	careful int   // for so many batches it is not: hope was in vain lately
	signs   signs // delimiters, quotes and newlines
}

func newCSVEncoder(w *spec.Write) (spec.Encoder, error) {
	d, err := csvOptions(w.Args)
	if err != nil {
		return nil, err
	}
	// A delimiter may stand in a number, and a number may be the text of null.
	plain := d.null == "" && strings.IndexByte("0123456789+-.:TZ", d.delim) < 0 && !(d.delim >= 'A' && d.delim <= 'z')
	e := &csvEncoder{csvDialect: d, w: w, plain: plain, json: jsonOuts(w.Schema.Fields, ""), parts: newPartNamer(w), size: 32 * max(1, len(w.Schema.Fields))}
	e.hope = plain && d.quote != 0
	for _, f := range w.Schema.Fields {
		switch f.Type.Kind {
		case types.Int, types.Float, types.Bool, types.Duration, types.String:
		case types.Time:
			e.hope = e.hope && (f.Type.Format == "" || types.TimeIsNumber(f.Type.Format))
		default:
			e.hope = false
		}
	}
	e.signs = signs{eq: [3]byte{d.delim, d.quote, '\n'}, below: -128}
	return e, nil
}

// CopiesRows tells that blocks hold copies: partitions are, too.
func (e *csvEncoder) CopiesRows() {}

// headerLine returns the first line of an output, nil if there is none.
func (d csvDialect) headerLine(w *spec.Write) []byte {
	if !d.header {
		return nil
	}
	var b []byte
	if w.Changes {
		b = append(b, changeColumn...)
	}
	for i, f := range w.Schema.Fields {
		if i > 0 || w.Changes {
			b = append(b, d.delim)
		}
		b = d.appendText(b, f.Name)
	}
	return append(b, '\n')
}

// Encode writes the rows into one block.
func (e *csvEncoder) Encode(b *vec.Batch) (*vec.Batch, error) {
	if len(b.Cols) != len(e.w.Schema.Fields) {
		return nil, fmt.Errorf("csv: %d columns for a schema of %d", len(b.Cols), len(e.w.Schema.Fields))
	}
	n := b.Rows()
	out := e.blocks.get(n, n*(e.size+e.size/8)+64)
	e.careful = max(e.careful-1, 0)
	hope := e.hope && e.careful == 0
	block, empty, err := e.rows(b, out.Block, hope)
	if hope && !e.plainRows(block, n, empty) {
		e.careful, e.blocks.ends = 32, e.blocks.ends[:0]
		block, _, err = e.rows(b, block[:0], false)
	}
	if err != nil {
		return nil, err
	}
	if n > 0 {
		e.size = len(block)/n + 1
	}
	out = e.blocks.done(out, block)
	if e.parts != nil {
		parts, err := e.parts.column(b, appendPlain)
		if err != nil {
			return nil, err
		}
		out.Cols = append(out.Cols, &vec.Column{Type: types.T(types.String), Strs: parts})
	}
	return out, nil
}

// plainRows reports whether a block of n rows, in which so many texts were empty, holds no delimiters, quotes and line
// ends but those that separate its fields and stand for the empty texts.
func (e *csvEncoder) plainRows(block []byte, n, empty int) bool {
	fields := len(e.w.Schema.Fields)
	if e.w.Changes {
		fields++
	}
	e.signs.mark(block)
	return e.signs.count(len(block)) == n*max(fields, 1)+2*empty && bytes.IndexByte(block, '\r') < 0
}

// rows appends the rows to a block; with hope text is not looked at. empty is how many texts were empty.
func (e *csvEncoder) rows(b *vec.Batch, block []byte, hope bool) (_ []byte, empty int, err error) {
	for i := range b.Rows() {
		r := b.Row(i)
		if e.w.Changes {
			k := vec.Insert
			if b.Change != nil {
				k = b.Change[r]
			}
			block = append(block, k.String()...)
		}
		for k, c := range b.Cols {
			if k > 0 || e.w.Changes {
				block = append(block, e.delim)
			}
			if c.Valid != nil && !c.Valid.Get(r) {
				block = append(block, e.null...)
				continue
			}
			switch kind := c.Type.Kind; kind {
			case types.String:
				s := c.Strs[r]
				if s == "" {
					empty++
				} else if hope || !e.special(s) {
					block = append(block, s...)
					break
				}
				if e.quote == 0 && e.special(s) {
					return block, 0, fmt.Errorf("column %s: %q holds a delimiter or a line end, and quotes are off", e.w.Schema.Fields[k].Name, excerpt([]byte(s)))
				}
				block = e.appendText(block, s)
			case types.Int:
				if e.plain {
					block = types.AppendInt(block, c.Ints[r])
				} else {
					e.text = types.AppendInt(e.text[:0], c.Ints[r])
					block = e.appendText(block, view(e.text))
				}
			case types.Time:
				if f := e.w.Schema.Fields[k].Type.Format; e.plain && (f == "" || types.TimeIsNumber(f)) {
					block = types.AppendTime(block, c.Ints[r], f)
				} else {
					e.text = types.AppendTime(e.text[:0], c.Ints[r], f)
					block = e.appendText(block, view(e.text))
				}
			case types.List, types.Record, types.Any:
				e.text = e.json[k].value(e.text[:0], c, r)
				block = e.appendText(block, view(e.text))
			default:
				if e.plain && kind != types.Bytes {
					block = appendPlain(block, c, r)
				} else {
					e.text = appendPlain(e.text[:0], c, r)
					block = e.appendText(block, view(e.text))
				}
			}
		}
		block = append(block, '\n')
		e.blocks.ends = append(e.blocks.ends, len(block))
	}
	return block, empty, nil
}

// encoded makes a batch of the lines of a block, which end at ends.
func encoded(block []byte, ends []int) *vec.Batch {
	lines := &vec.Column{Type: types.T(types.String), Strs: make([]string, len(ends))}
	from := 0
	for i, end := range ends {
		lines.Strs[i] = unsafe.String(unsafe.SliceData(block[from:end:end]), end-from)
		from = end
	}
	return &vec.Batch{N: len(ends), Cols: []*vec.Column{lines}, Block: block}
}

// appendPlain writes a value that is not null as it is, without quotes: also the text of a partition, so that folders
// are called the same in every format.
func appendPlain(b []byte, c *vec.Column, r int) []byte {
	switch c.Type.Kind {
	case types.Int:
		return types.AppendInt(b, c.Ints[r])
	case types.Float:
		return appendFloatName(b, c.Floats[r])
	case types.Bool:
		return strconv.AppendBool(b, c.Bools[r])
	case types.String:
		return append(b, c.Strs[r]...)
	case types.Bytes:
		return base64.StdEncoding.AppendEncode(b, bytesOf(c.Strs[r]))
	case types.Time:
		return types.AppendTime(b, c.Ints[r], c.Type.Format)
	case types.Duration:
		return types.AppendDuration(b, c.Ints[r])
	}
	out := newJSONOut("", c.Type) // a list or a record as a partition: rare
	return out.value(b, c, r)
}

// appendFloatName is appendFloat with names for what is not finite.
func appendFloatName(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "NaN"...)
	case math.IsInf(f, 1):
		return append(b, "Inf"...)
	case math.IsInf(f, -1):
		return append(b, "-Inf"...)
	}
	return types.AppendFloat(b, f)
}

// appendText writes text, in quotes if it must be: the empty string is told from null, and so is the text of null.
func (d *csvDialect) appendText(b []byte, s string) []byte {
	if d.quote == 0 || s != "" && !d.special(s) {
		return append(b, s...)
	}
	b = append(b, d.quote)
	for {
		i := strings.IndexByte(s, d.quote)
		if i < 0 {
			break
		}
		b = append(b, s[:i+1]...)
		b = append(b, d.quote)
		s = s[i+1:]
	}
	b = append(b, s...)
	return append(b, d.quote)
}

// special reports whether text that is not empty must be quoted.
func (d *csvDialect) special(s string) bool {
	if d.null != "" && s == d.null {
		return true
	}
	b := bytesOf(s)
	if len(b) < 8 {
		for _, c := range b {
			if c == d.delim || c == '\n' || c == '\r' || c == d.quote && d.quote != 0 {
				return true
			}
		}
		return false
	}
	delim, quote := uint64(d.delim)*lowBits, uint64(d.quote)*lowBits
	if d.quote == 0 {
		quote = delim
	}
	for i := 0; ; i += 8 {
		if i > len(b)-8 {
			if i == len(b) {
				return false
			}
			i = len(b) - 8
		}
		w := binary.LittleEndian.Uint64(b[i:])
		x, y, n, r := w^delim, w^quote, w^'\n'*lowBits, w^'\r'*lowBits
		if ((x-lowBits)&^x|(y-lowBits)&^y|(n-lowBits)&^n|(r-lowBits)&^r)&highBits != 0 {
			return true
		}
		if i == len(b)-8 {
			return false
		}
	}
}
