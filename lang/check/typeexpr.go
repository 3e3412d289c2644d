package check

import (
	"fmt"
	"time"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

var typeNames = map[string]types.Kind{"bool": types.Bool, "int": types.Int, "float": types.Float, "string": types.String, "bytes": types.Bytes,
	"time": types.Time, "duration": types.Duration, "any": types.Any}

var typeWords = []string{"bool", "int", "float", "string", "bytes", "time", "duration", "any"}

// otherTypes are names that other languages give our types.
var otherTypes = map[string]string{"boolean": "bool", "integer": "int", "int64": "int", "int32": "int", "bigint": "int", "long": "int", "smallint": "int",
	"double": "float", "float64": "float", "float32": "float", "real": "float", "number": "float", "numeric": "float", "str": "string", "text": "string",
	"varchar": "string", "char": "string", "timestamp": "time", "datetime": "time", "date": "time", "interval": "duration", "json": "any",
	"object": "any", "binary": "bytes", "blob": "bytes"}

// typeOf gives the type that is written. formats says whether `time(ms)` may be: it says how a value is written outside.
// ok is false after an error.
func (c *checker) typeOf(e *syntax.TypeExpr, formats bool) (t types.Type, ok bool) {
	src := c.frame.file.src
	switch {
	case e.Elem != nil:
		elem, ok := c.typeOf(e.Elem, formats)
		return types.ListOf(elem).OrNull(e.Nullable), ok
	case e.Record != nil:
		s, ok := c.schemaOf(e.Record, formats)
		return types.RecordOf(s.Fields...).OrNull(e.Nullable), ok
	}
	kind, known := typeNames[e.Name]
	if !known {
		msg, help := fmt.Sprintf("unknown type `%s`", e.Name), "types are bool int float string bytes time duration, `[T]`, `{a: T}` and `T?`"
		switch {
		case e.Name == "decimal":
			msg = "this version does not have the type `decimal` yet"
			help = "use `int` for cents, or `float`"
		case otherTypes[e.Name] != "":
			msg += "; did you mean `" + otherTypes[e.Name] + "`?"
			help = ""
		default:
			msg += didYouMean(e.Name, typeWords)
		}
		c.report(src, e.Span, "T210", msg, help)
		return types.Type{}, false
	}
	t = types.T(kind).OrNull(e.Nullable)
	if e.Format == "" && !e.Quoted {
		return t, true
	}
	switch {
	case kind != types.Time:
		c.report(src, e.Span, "T211", fmt.Sprintf("`%s` takes no format", e.Name), "only `time` is written in several ways: `time(ms)`, `time(\"2006-01-02\")`")
		return t, false
	case !formats:
		c.report(src, e.Span, "T211", "a format of `time` stands only in the schema of a source or sink", "write `time`")
		return t, false
	case e.Quoted && !isLayout(e.Format):
		c.report(src, e.Span, "T211", fmt.Sprintf("`%s` is no layout of a time", e.Format),
			"a layout shows how 2 January 2006, 15:04:05 would be written, for example `time(\"02.01.2006 15:04\")`")
		return t, false
	case !e.Quoted && !isUnit(e.Format):
		c.report(src, e.Span, "T211", fmt.Sprintf("unknown unit `%s` of a time%s", e.Format, didYouMean(e.Format, timeUnits)),
			"numbers are written time(s), time(ms), time(us) or time(ns), texts time(\"2006-01-02 15:04:05\")")
		return t, false
	}
	t.Format = e.Format
	return t, true
}

var timeUnits = []string{"s", "ms", "us", "ns"}

func isUnit(s string) bool { return s == "s" || s == "ms" || s == "us" || s == "ns" }

// isLayout reports whether a text has at least one element of a time layout: it prints two times that differ in everything
// in different ways.
func isLayout(s string) bool {
	if isUnit(s) {
		return false
	}
	a := time.Date(2017, 11, 23, 10, 41, 52, 123456789, time.UTC)
	b := time.Date(2019, 3, 5, 21, 7, 9, 987654321, time.UTC)
	return a.Format(s) != b.Format(s)
}

// schemaOf gives the schema that is written; ok is false after an error.
func (c *checker) schemaOf(e *syntax.SchemaExpr, formats bool) (s types.Schema, ok bool) {
	ok = true
	seen := map[string]bool{}
	for _, f := range e.Fields {
		if seen[f.Name.Name] {
			c.report(c.frame.file.src, f.Name.Span, "N109", fmt.Sprintf("the field `%s` stands twice", f.Name.Name), "")
			ok = false
		}
		seen[f.Name.Name] = true
		t, good := c.typeOf(f.Type, formats)
		ok = ok && good
		s.Fields = append(s.Fields, types.Field{Name: f.Name.Name, Type: t})
	}
	return s, ok
}
