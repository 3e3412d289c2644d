package conn

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf8"

	"github.com/ebb-lang/ebb/lang/types"
)

// jsonScan reads objects into columns: only the wanted fields are decoded, the rest is checked and skipped. If a field
// stands twice in an object the last one counts. It belongs to one task.
type jsonScan struct {
	jsonText
	root   *jsonField // a record: the wanted columns
	object uint64     // number of the object being read, over all records
	// Of the last failure, if the JSON is right but does not fit: the field, and what it wants. Else field is nil.
	field *jsonField
	wants string
}

// newJSONScan returns a scanner for the columns.
func newJSONScan(columns []types.Field) *jsonScan {
	s := &jsonScan{root: &jsonField{typ: types.RecordOf(columns...), kind: types.Record}}
	s.root.wants(columns)
	return s
}

// misfit fails the value at p.
func (s *jsonScan) misfit(p int, f *jsonField, wants string) int {
	s.at, s.field, s.wants = p, f, wants
	return -1
}

// row reads the object at p into row i of the columns and returns the place behind it, or -1.
func (s *jsonScan) row(b []byte, p, i int) int {
	s.field = nil
	if p < len(b) && b[p] == '{' {
		return s.record(b, p, s.root, i)
	}
	if s.skip(b, p, 0) < 0 {
		return -1
	}
	return s.misfit(p, s.root, "an object")
}

// lose empties row i of the columns, which may hold anything behind a failure.
func (s *jsonScan) lose(i int) {
	for _, k := range s.root.kids {
		k.null(i)
	}
}

// problem says what was wrong with the object that starts at start.
func (s *jsonScan) problem(b []byte, start int) error {
	f, at, why, text := s.field, s.at, s.why, ""
	if f != nil && at >= 0 { // a value that does not fit, if it is one at all
		check := jsonText{lines: s.lines}
		if end := check.skip(b, at, f.deep); end >= 0 {
			text = excerpt(b[at:end])
		} else {
			f, at, why = nil, check.at, check.why
		}
	}
	switch {
	case f == nil:
		return fmt.Errorf("not valid JSON at byte %d: %s", at-start+1, why)
	case f == s.root:
		return fmt.Errorf("a row must be an object, not %s", text)
	case at < 0:
		return fmt.Errorf("column %s: missing, and %s is not nullable; a schema may say %s: %s", f.path, f.typ, f.path, f.typ.Null())
	case s.wants == "":
		return fmt.Errorf("column %s: null, but %s is not nullable; a schema may say %s: %s (byte %d)", f.path, f.typ, f.path, f.typ.Null(), at-start+1)
	}
	return fmt.Errorf("column %s: %s is not %s (byte %d)", f.path, text, s.wants, at-start+1)
}

// excerpt returns a value for a message, in short.
func excerpt(text []byte) string {
	end := 60
	if len(text) <= end {
		return string(text)
	}
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return string(text[:end]) + "…"
}

// record reads the object at p into row i of the fields of f.
func (s *jsonScan) record(b []byte, p int, f *jsonField, i int) int {
	s.object++
	object, missing := s.object, len(f.kids)
	key := &f.start
	for {
		g := &key.next[0]
		if !g.matches(b, p) {
			g = &key.next[1]
			if !g.matches(b, p) {
				if p, key = s.key(b, p, f, key); p < 0 {
					return p
				}
				goto value
			}
		}
		p += g.len
		key = g.key
		if p < len(b) && b[p] <= ' ' { // this time there are more blanks before the value
			p = s.spaces(b, p)
		}
	value:
		k := key.field
		switch {
		case k != nil:
			if k.seen != object {
				k.seen = object
				missing--
			}
		case key == &f.end:
			goto end
		}
		// Plain text and digits are read here, because a call for each costs as much as reading them.
		if p+17 <= len(b) {
			switch c := b[p]; {
			case c == '"' && s.signs != nil && (k == nil || k.kind == types.String):
				end := s.signs.from(p + 1)
				if end >= len(b) || b[end] != '"' {
					break
				}
				if k != nil {
					k.strs[i] = view(b[p+1 : end])
					k.set(i)
				}
				p = end + 1
				goto behind
			case c-'0' <= 9 && (k == nil || k.unit != 0):
				w := binary.LittleEndian.Uint64(b[p:]) ^ '0'*lowBits
				n := bits.TrailingZeros64((w+0x76*lowBits|w)&highBits) >> 3
				u := foldDigits(w << (64 - 8*uint(n)))
				if n == 8 {
					w = binary.LittleEndian.Uint64(b[p+8:]) ^ '0'*lowBits
					n = bits.TrailingZeros64((w+0x76*lowBits|w)&highBits) >> 3
					u = u*powersOf10[n] + foldDigits(w<<(64-8*uint(n)))
					n += 8
				}
				if e := b[p+n]; e != ',' && e != '}' || c == '0' && n > 1 {
					break
				}
				if k != nil {
					if int64(u) > k.most {
						break
					}
					k.ints[i] = int64(u) * k.unit
					k.set(i)
				}
				p += n
				goto behind
			}
		}
		if k == nil {
			p = s.skip(b, p, f.deep+1)
		} else {
			p = s.value(b, p, k, i)
		}
		if p < 0 {
			return p
		}
	behind:
		if p < len(b) && b[p] == '}' {
			p++
			break
		}
	}
end:
	if missing > 0 {
		return s.missing(p, f, i, object)
	}
	return p
}

// matches reports whether b goes on with the guess at p.
func (g *jsonGuess) matches(b []byte, p int) bool {
	at := b[p:]
	if g.len == 0 || len(at) < 16 || len(at) < g.len {
		return false
	}
	if (binary.LittleEndian.Uint64(at)^g.words[0])&g.masks[0]|(binary.LittleEndian.Uint64(at[8:])^g.words[1])&g.masks[1] != 0 {
		return false
	}
	return g.len <= 16 || string(at[16:g.len]) == string(g.text[16:g.len])
}

// key reads what stands between two values of an object of f, or before the first, where from is the start. It returns
// the place of the next value and its key: f.end, and the place behind the object, if there is none.
func (s *jsonScan) key(b []byte, p int, f *jsonField, from *jsonKey) (int, *jsonKey) {
	start := p
	p = s.space(b, p)
	if p >= len(b) || b[p] != ',' && (b[p] != '}' || from == &f.start) && (b[p] != '{' || from != &f.start) {
		return s.fail(p, "expected , or }"), nil
	}
	to := &f.end
	if b[p] == '}' {
		p++
	} else {
		first := b[p] == '{'
		p = s.space(b, p+1)
		switch {
		case p < len(b) && b[p] == '"':
			end, plain := s.str(b, p+1)
			if end < 0 {
				return end, nil
			}
			name := b[p+1 : end]
			if !plain {
				name = unescape(s.room(len(name)), name)[len(s.arena):]
			}
			to = f.key(name)
			if p = s.colon(b, end+1); p < 0 {
				return p, nil
			}
		case p < len(b) && b[p] == '}' && first:
			p++
		default:
			return s.fail(p, "expected a field name in quotes"), nil
		}
	}
	if from != &f.other && to != &f.other {
		from.learn(b[start:p], to)
	}
	return p, to
}

// missing deals with the fields of f that the object behind which p stands did not have.
func (s *jsonScan) missing(p int, f *jsonField, i int, object uint64) int {
	for _, k := range f.kids {
		if k.seen == object {
			continue
		}
		switch {
		case k.typ.Nullable:
			k.null(i)
		case k.kind == types.String:
			k.empty(i)
		default:
			return s.misfit(-1, k, "")
		}
	}
	return p
}

// value reads the value at p into row i of f.
func (s *jsonScan) value(b []byte, p int, f *jsonField, i int) int {
	if p >= len(b) {
		return s.fail(p, "the text ends where a value must stand")
	}
	c := b[p]
	if c == 'n' && f.kind != types.Any || c == 'n' && f.typ.Nullable {
		return s.nothing(b, p, f, i)
	}
	switch f.kind {
	case types.Int:
		if c == '-' || c-'0' <= 9 {
			v, end, ok := s.int(b, p)
			if ok {
				f.ints[i] = v
				f.set(i)
				return end
			}
			if end < 0 {
				return end
			}
			if d, _ := types.ParseDecimal(view(b[p:end])); d.Exp >= 0 || d.Mant > 1<<63 {
				return s.misfit(p, f, "an int: it needs more than 64 bits")
			}
			return s.misfit(p, f, "an int")
		}
	case types.String:
		if c == '"' {
			v, end := s.text(b, p)
			if end >= 0 {
				f.strs[i] = v
				f.set(i)
			}
			return end
		}
	case types.Float:
		if c == '-' || c-'0' <= 9 {
			v, end, ok := s.float(b, p)
			if ok {
				f.floats[i] = v
				f.set(i)
				return end
			}
			if end < 0 {
				return end
			}
			return s.misfit(p, f, "a float: it is beyond 1.8e308")
		}
	case types.Time:
		return s.time(b, p, f, i)
	case types.Bool:
		if c == 't' || c == 'f' {
			if p = s.word(b, p); p >= 0 {
				f.bools[i] = c == 't'
				f.set(i)
			}
			return p
		}
	case types.Duration, types.Bytes:
		if c == '"' {
			return s.coded(b, p, f, i)
		}
	case types.Any:
		s.spaced = false
		end := s.skip(b, p, f.deep)
		if end >= 0 {
			f.strs[i] = s.compact(b[p:end], s.spaced)
			f.set(i)
		}
		return end
	case types.Record:
		if c == '{' {
			f.set(i)
			return s.record(b, p, f, i)
		}
	case types.List:
		if c == '[' {
			f.set(i)
			return s.list(b, p, f, i)
		}
	}
	return s.misfit(p, f, wanted(f.typ))
}

// wanted says in words what a column of the type takes.
func wanted(t types.Type) string {
	switch t.Kind {
	case types.Time:
		return "a time (" + types.TimeHint(t.Format) + ")"
	case types.Duration:
		return "a duration, such as \"1h30m\""
	case types.Bytes:
		return "base64 text"
	case types.Record:
		return "an object"
	case types.List:
		return "a list"
	case types.Int:
		return "an int"
	}
	return "a " + t.Kind.String()
}

// nothing reads null.
func (s *jsonScan) nothing(b []byte, p int, f *jsonField, i int) int {
	end := s.word(b, p)
	switch {
	case end < 0:
	case f.typ.Nullable:
		f.null(i)
	case f.kind == types.String:
		f.empty(i)
	default:
		return s.misfit(p, f, "")
	}
	return end
}

// time reads a time: a number if it is written as one, else text.
func (s *jsonScan) time(b []byte, p int, f *jsonField, i int) int {
	c, end := b[p], 0
	var v int64
	var ok bool
	switch {
	case c == '"':
		var text string
		if text, end = s.text(b, p); end < 0 {
			return end
		}
		v, ok = types.ParseTime(text, f.typ.Format)
	case f.unit != 0 && (c == '-' || c-'0' <= 9):
		if v, end, ok = s.int(b, p); end < 0 {
			return end
		}
		if ok && v <= f.most && v >= -f.most {
			v *= f.unit
		} else {
			v, ok = types.ParseTime(view(b[p:end]), f.typ.Format)
		}
	case c == '-' || c-'0' <= 9:
		return s.misfit(p, f, wanted(f.typ)+"; for numbers a schema says time(ms), time(s), time(us) or time(ns)")
	}
	if !ok {
		return s.misfit(p, f, wanted(f.typ))
	}
	f.ints[i] = v
	f.set(i)
	return end
}

// coded reads a value that JSON writes as text: a duration, or bytes.
func (s *jsonScan) coded(b []byte, p int, f *jsonField, i int) int {
	text, end := s.text(b, p)
	if end < 0 {
		return end
	}
	var ok bool
	if f.kind == types.Duration {
		f.ints[i], ok = types.ParseDuration(text)
	} else {
		f.strs[i], ok = s.base64(text)
	}
	if !ok {
		return s.misfit(p, f, wanted(f.typ))
	}
	f.set(i)
	return end
}

// list reads the list at p into row i of f.
func (s *jsonScan) list(b []byte, p int, f *jsonField, i int) int {
	elem, n := f.kids[0], int(f.offs[i])
	p = s.space(b, p+1)
	if p < len(b) && b[p] == ']' {
		f.offs[i+1] = int32(n)
		return p + 1
	}
	for {
		if n == elem.room {
			elem.grow(max(2*n, 64))
		}
		if p = s.value(b, p, elem, n); p < 0 {
			return p
		}
		n++
		p = s.space(b, p)
		switch {
		case p >= len(b):
			return s.fail(p, "the text ends inside a list")
		case b[p] == ',':
			p = s.space(b, p+1)
		case b[p] == ']':
			f.offs[i+1] = int32(n)
			return p + 1
		default:
			return s.fail(p, "expected , or ]")
		}
	}
}
