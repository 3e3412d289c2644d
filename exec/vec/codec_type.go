package vec

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ebb-lang/ebb/lang/types"
)

// A type is one byte, the kind and two flags, and what the kind and the flags call for.
const (
	typeNullable = 1 << 7
	typeFormat   = 1 << 6
	typeKind     = typeFormat - 1
)

// mostNested is how deep a type may be nested in stored bytes: a bound for the recursion, far above what scripts have.
const mostNested = 100

var errShort = errors.New("the data ends too early")

// AppendSchema appends the names and types of the columns.
func AppendSchema(p []byte, s types.Schema) []byte { return appendFields(p, s.Fields) }

// DecodeSchema reads what AppendSchema wrote and returns what follows it.
func DecodeSchema(p []byte) (s types.Schema, rest []byte, err error) {
	d := decoder{p: p}
	s.Fields = d.fields(0)
	if d.err != nil {
		return types.Schema{}, nil, fmt.Errorf("decode schema: %w", d.err)
	}
	return s, d.p, nil
}

func appendFields(p []byte, fs []types.Field) []byte {
	p = binary.AppendUvarint(p, uint64(len(fs)))
	for _, f := range fs {
		p = appendType(appendText(p, f.Name), f.Type)
	}
	return p
}

func appendText(p []byte, s string) []byte {
	return append(binary.AppendUvarint(p, uint64(len(s))), s...)
}

func appendType(p []byte, t types.Type) []byte {
	b := byte(t.Kind)
	if t.Nullable {
		b |= typeNullable
	}
	if t.Format != "" {
		b |= typeFormat
	}
	p = append(p, b)
	if t.Format != "" {
		p = appendText(p, t.Format)
	}
	switch t.Kind {
	case types.List:
		p = appendType(p, *t.Elem)
	case types.Record:
		p = appendFields(p, t.Fields)
	}
	return p
}

func (d *decoder) fields(depth int) []types.Field {
	n := d.count(2)
	if n == 0 {
		return nil
	}
	fs := make([]types.Field, n)
	for i := range fs {
		fs[i] = types.Field{Name: d.text(), Type: d.typ(depth)}
	}
	return fs
}

func (d *decoder) typ(depth int) types.Type {
	b := d.byte()
	t := types.Type{Kind: types.Kind(b & typeKind), Nullable: b&typeNullable != 0}
	if d.err == nil && (t.Kind == types.Invalid || t.Kind > types.Any) {
		d.fail(fmt.Errorf("there is no kind %d", t.Kind))
	}
	if depth > mostNested {
		d.fail(errors.New("a type is nested too deep"))
	}
	if d.err != nil {
		return types.T(types.Null)
	}
	if b&typeFormat != 0 {
		t.Format = d.text()
	}
	switch t.Kind {
	case types.List:
		e := d.typ(depth + 1)
		t.Elem = &e
	case types.Record:
		t.Fields = d.fields(depth + 1)
	}
	return t
}
