package conn

import (
	"fmt"
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
	blocks blocks
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
		outs[i] = newJSONOut(string(append(vec.AppendQuoted([]byte(first), f.Name), ':')), f.Type)
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

// CopiesRows tells that blocks hold copies: partitions are, too.
func (e *jsonEncoder) CopiesRows() {}

// Encode writes the rows into one block.
func (e *jsonEncoder) Encode(b *vec.Batch) (*vec.Batch, error) {
	if len(b.Cols) != len(e.fields) {
		return nil, fmt.Errorf("jsonl: %d columns for a schema of %d", len(b.Cols), len(e.fields))
	}
	n := b.Rows()
	out := e.blocks.get(n, n*(e.size+e.size/8)+64)
	block := out.Block
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
				block = types.AppendInt(block, c.Ints[r])
			case types.String:
				block = vec.AppendQuoted(block, c.Strs[r])
			default:
				block = o.append(block, c, r)
			}
		}
		block = append(block, "}\n"...)
		e.blocks.ends = append(e.blocks.ends, len(block))
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

// append writes row r of c, which is not null.
func (o *jsonOut) append(b []byte, c *vec.Column, r int) []byte {
	switch o.kind {
	case types.Time:
		switch {
		case o.format == "":
		case types.TimeIsNumber(o.format):
			return types.AppendTime(b, c.Ints[r], o.format)
		default:
			var text [64]byte
			return vec.AppendQuoted(b, view(types.AppendTime(text[:0], c.Ints[r], o.format)))
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
	return c.AppendJSON(b, r)
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
