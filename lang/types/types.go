// Package types holds what the whole of Ebb says about data: types, schemas, typed expressions, and the signatures of
// what a catalog offers. It knows no syntax, no plan and no column: it is the vocabulary the other packages share.
package types

import (
	"fmt"
	"strings"
)

// Kind is the shape of a value.
type Kind uint8

// The kinds. Null is the type of the literal nil alone.
const (
	Invalid Kind = iota
	Null
	Bool
	Int      // 64-bit, wraps on overflow
	Float    // 64-bit
	String   // UTF-8
	Bytes    // arbitrary bytes
	Time     // UTC nanoseconds since 1970
	Duration // nanoseconds
	List
	Record
	Any // schemaless JSON, held as JSON text
)

var kindNames = [...]string{"invalid", "null", "bool", "int", "float", "string", "bytes", "time", "duration", "list", "record", "any"}

func (k Kind) String() string { return kindNames[k] }

// Type is the type of a value. The zero Type is Invalid. Types are compared with Equal.
type Type struct {
	Kind     Kind
	Nullable bool
	Elem     *Type   // of a List
	Fields   []Field // of a Record
	Format   string  // how a Time is written outside: "ms", "s", "us", "ns" or a layout; "" is RFC 3339. Not part of identity
}

// Field is a named member of a record or a column of a schema.
type Field struct {
	Name string
	Type Type
}

// T returns the non-null type of a scalar kind.
func T(k Kind) Type { return Type{Kind: k} }

// ListOf returns the non-null list type over elem.
func ListOf(elem Type) Type { return Type{Kind: List, Elem: &elem} }

// RecordOf returns the non-null record type with the fields.
func RecordOf(fields ...Field) Type { return Type{Kind: Record, Fields: fields} }

// Null returns t made nullable.
func (t Type) Null() Type { t.Nullable = true; return t }

// NotNull returns t made non-null.
func (t Type) NotNull() Type { t.Nullable = false; return t }

// OrNull returns t, nullable if it was or if n is.
func (t Type) OrNull(n bool) Type { t.Nullable = t.Nullable || n; return t }

// Numeric reports whether t is int or float.
func (t Type) Numeric() bool { return t.Kind == Int || t.Kind == Float }

// Ordered reports whether values of t compare with < and sort.
func (t Type) Ordered() bool {
	switch t.Kind {
	case Bool, Int, Float, String, Bytes, Time, Duration:
		return true
	}
	return false
}

// Field returns the index of the named field of a record, or -1.
func (t Type) Field(name string) int {
	for i, f := range t.Fields {
		if f.Name == name {
			return i
		}
	}
	return -1
}

// Equal reports whether t and u are the same type, nullability included.
func (t Type) Equal(u Type) bool { return t.Nullable == u.Nullable && t.Same(u) }

// Same reports whether t and u are the same type, outer nullability aside.
func (t Type) Same(u Type) bool {
	if t.Kind != u.Kind {
		return false
	}
	switch t.Kind {
	case List:
		return t.Elem.Equal(*u.Elem)
	case Record:
		if len(t.Fields) != len(u.Fields) {
			return false
		}
		for i := range t.Fields {
			if t.Fields[i].Name != u.Fields[i].Name || !t.Fields[i].Type.Equal(u.Fields[i].Type) {
				return false
			}
		}
	}
	return true
}

// String prints t as a script writes it: `int`, `string?`, `[int]`, `{a: int, b: time?}`.
func (t Type) String() string {
	var s string
	switch t.Kind {
	case List:
		s = "[" + t.Elem.String() + "]"
	case Record:
		s = "{" + fieldList(t.Fields) + "}"
	default:
		s = t.Kind.String()
	}
	if t.Nullable && t.Kind != Null {
		s += "?"
	}
	return s
}

func fieldList(fs []Field) string {
	parts := make([]string, len(fs))
	for i, f := range fs {
		parts[i] = f.Name + ": " + f.Type.String()
	}
	return strings.Join(parts, ", ")
}

// Schema is the columns of a stream, in order. Names are unique.
type Schema struct{ Fields []Field }

// NewSchema returns a schema of the fields.
func NewSchema(fields ...Field) Schema { return Schema{Fields: fields} }

// Index returns the position of the named column, or -1.
func (s Schema) Index(name string) int {
	for i, f := range s.Fields {
		if f.Name == name {
			return i
		}
	}
	return -1
}

// Names returns the names of the columns, in order.
func (s Schema) Names() []string {
	names := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		names[i] = f.Name
	}
	return names
}

// Duplicate returns the first name that stands twice, or "".
func (s Schema) Duplicate() string {
	if len(s.Fields) <= 16 { // most have few
		for i, f := range s.Fields {
			if s.Index(f.Name) < i {
				return f.Name
			}
		}
		return ""
	}
	seen := map[string]bool{}
	for _, f := range s.Fields {
		if seen[f.Name] {
			return f.Name
		}
		seen[f.Name] = true
	}
	return ""
}

// Equal reports whether both have the same columns in the same order.
func (s Schema) Equal(u Schema) bool {
	return Type{Kind: Record, Fields: s.Fields}.Same(Type{Kind: Record, Fields: u.Fields})
}

// String prints `{a: int, b: string?}`.
func (s Schema) String() string { return "{" + fieldList(s.Fields) + "}" }

// Instant is a point in event time: nanoseconds since 1970 UTC.
type Instant = int64

// The ends of event time. A watermark starts at MinInstant; the end of all input moves it to MaxInstant.
const (
	MinInstant Instant = -1 << 63
	MaxInstant Instant = 1<<63 - 1
)

// Unify returns the type that holds values of both, or an error: equal kinds, null with anything, int with float.
func Unify(a, b Type) (Type, error) {
	n := a.Nullable || b.Nullable
	switch {
	case a.Kind == Null:
		return b.Null(), nil
	case b.Kind == Null:
		return a.Null(), nil
	case a.Same(b):
		return a.OrNull(n), nil
	case a.Numeric() && b.Numeric():
		return Type{Kind: Float, Nullable: n}, nil
	case a.Kind == List && b.Kind == List:
		e, err := Unify(*a.Elem, *b.Elem)
		if err != nil {
			return Type{}, err
		}
		return Type{Kind: List, Elem: &e, Nullable: n}, nil
	case a.Kind == Record && b.Kind == Record && len(a.Fields) == len(b.Fields):
		out := Type{Kind: Record, Nullable: n, Fields: make([]Field, len(a.Fields))}
		for i, f := range a.Fields {
			if b.Fields[i].Name != f.Name {
				return Type{}, fmt.Errorf("%s and %s differ", a, b)
			}
			u, err := Unify(f.Type, b.Fields[i].Type)
			if err != nil {
				return Type{}, err
			}
			out.Fields[i] = Field{f.Name, u}
		}
		return out, nil
	}
	return Type{}, fmt.Errorf("%s and %s differ", a, b)
}

// Assignable reports whether a value of type from may stand where to is wanted: same type, int for float, non-null for nullable.
func Assignable(from, to Type) bool {
	if from.Nullable && !to.Nullable {
		return false
	}
	if from.Kind == Null {
		return to.Nullable
	}
	if from.Kind == Int && to.Kind == Float {
		return true
	}
	if from.Kind == List && to.Kind == List {
		return Assignable(*from.Elem, *to.Elem)
	}
	if from.Kind == Record && to.Kind == Record && len(from.Fields) == len(to.Fields) {
		for i := range from.Fields {
			if from.Fields[i].Name != to.Fields[i].Name || !Assignable(from.Fields[i].Type, to.Fields[i].Type) {
				return false
			}
		}
		return true
	}
	return from.Same(to)
}
