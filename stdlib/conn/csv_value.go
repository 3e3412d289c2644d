package conn

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ebb-lang/ebb/lang/types"
)

// slow decodes any record into the row at hand. whole is false if the text ends before the record does; why says what
// is wrong with it.
func (d *csvDecoder) slow(text []byte, p int, final bool) (next int, whole bool, why error) {
	next, whole, reason := d.split.split(text, p, final)
	if !whole {
		return p, false, nil
	}
	if reason != "" {
		return next, true, errors.New(reason)
	}
	if n := len(d.split.spans); n != d.fields {
		what := "header has"
		if !d.header {
			what = "first row has"
		}
		return next, true, fmt.Errorf("%s, but the %s %d", count(n, "field"), what, d.fields)
	}
	for i := range d.steps {
		s := &d.steps[i]
		field, quoted := d.split.text(text, s.at)
		if !d.value(s.field, d.rows, field, quoted) {
			return next, true, d.misfit(s.field, field, quoted)
		}
	}
	return next, true, nil
}

// value parses a field into a row of f; f is nil for the kind of change. It keeps views of the field.
func (d *csvDecoder) value(f *jsonField, row int, field []byte, quoted bool) bool {
	s := view(field)
	if f == nil {
		k, ok := changeOf(s)
		d.change[row] = k
		return ok
	}
	kind := f.typ.Kind
	text := kind == types.String || kind == types.Bytes
	if !text {
		s = strings.Trim(s, " \t")
	}
	if s == "" && (!quoted || !text) || !quoted && d.null != "" && s == d.null {
		switch {
		case f.typ.Nullable:
			f.null(row)
			return true
		case s == "" && kind == types.String:
			f.empty(row)
			return true
		case s == "" || kind != types.String:
			return false
		}
	}
	ok := false
	switch kind {
	case types.String:
		f.strs[row], ok = s, true
	case types.Int:
		f.ints[row], ok = parseInt(s)
	case types.Float:
		f.floats[row], ok = parseFloat(s)
	case types.Time:
		f.ints[row], ok = types.ParseTime(s, f.typ.Format)
	case types.Bool:
		f.bools[row], ok = parseBool(s)
	case types.Duration:
		f.ints[row], ok = types.ParseDuration(s)
	case types.Bytes:
		f.strs[row], ok = d.json.base64(s)
	default:
		b := field
		p := d.json.space(b, 0)
		if p = d.json.value(b, p, f, row); p >= 0 {
			p = d.json.space(b, p)
		}
		return p == len(b)
	}
	if ok {
		f.set(row)
	}
	return ok
}

// misfit says why a field is not a value of its column.
func (d *csvDecoder) misfit(f *jsonField, field []byte, quoted bool) error {
	if f == nil {
		return fmt.Errorf("column %s: %q is not a kind of change (+I -U +U -D)", changeColumn, excerpt(field))
	}
	s := strings.TrimSpace(string(field))
	switch {
	case s == "" || !quoted && s == d.null:
		what := "empty"
		if s != "" {
			what = fmt.Sprintf("null (%q)", s)
		}
		return fmt.Errorf("column %s: %s, but %s is not nullable; a schema may say %s: %s", f.path, what, f.typ, f.path, f.typ.Null())
	case f.typ.Kind == types.List || f.typ.Kind == types.Record || f.typ.Kind == types.Any:
		d.json.at, d.json.why, d.json.field = 0, "", nil
		p := d.json.space(field, 0)
		if end := d.json.value(field, p, f, d.rows); end >= 0 {
			d.json.at, d.json.why = end, "something follows the value"
		}
		return fmt.Errorf("column %s: %q: %w", f.path, excerpt(field), d.json.problem(field, 0))
	}
	return fmt.Errorf("column %s: %q is not %s%s", f.path, excerpt(field), d.wants(f.typ, s), d.guess.why(f.name))
}

// wants says what a value of the type is, where s is none.
func (d *csvDecoder) wants(t types.Type, s string) string {
	switch t.Kind {
	case types.Int:
		if n, ok := types.ParseDecimal(s); ok && n.Exp >= 0 && !n.Lost {
			return "an int: it is beyond 64 bits"
		}
	case types.Float:
		if _, err := strconv.ParseFloat(s, 64); errors.Is(err, strconv.ErrRange) {
			return "a float: it is out of range"
		}
	}
	return wanted(t)
}

// parseInt reads a whole number; 12.0 and 1e3 are.
func parseInt(s string) (int64, bool) {
	if d, ok := types.ParseDecimal(s); ok {
		return d.Integer(0, false)
	}
	return 0, false
}

// parseFloat reads a decimal number, NaN, Inf or Infinity. What is out of range fails.
func parseFloat(s string) (float64, bool) {
	for i := range len(s) {
		if c := s[i]; c-'0' > 9 && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return floatName(s)
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil
}

func floatName(s string) (float64, bool) {
	sign := 1
	t := strings.TrimPrefix(s, "+")
	if len(t) == len(s) {
		if t = strings.TrimPrefix(s, "-"); len(t) < len(s) {
			sign = -1
		}
	}
	switch {
	case strings.EqualFold(t, "nan"):
		return math.NaN(), true
	case strings.EqualFold(t, "inf"), strings.EqualFold(t, "infinity"):
		return math.Inf(sign), true
	}
	return 0, false
}

// parseBool reads the usual words for true and false.
func parseBool(s string) (v, ok bool) {
	switch len(s) {
	case 1:
		switch s[0] {
		case '1', 't', 'T', 'y', 'Y':
			return true, true
		case '0', 'f', 'F', 'n', 'N':
			return false, true
		}
	case 2:
		return false, strings.EqualFold(s, "no")
	case 3:
		return true, strings.EqualFold(s, "yes")
	case 4:
		return true, strings.EqualFold(s, "true")
	case 5:
		return false, strings.EqualFold(s, "false")
	}
	return false, false
}
