package conn

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"github.com/ebb-lang/ebb/lang/types"
)

// maxJSONDepth is how deep lists and objects may nest.
const maxJSONDepth = 10_000

// jsonText reads pieces of strict JSON (RFC 8259, UTF-8) out of a block. Its methods take the block and a place in it
// and return the place behind what they read, or -1 and leave where and why in at and why. It allocates nothing per
// piece: strings are views into the block, or into an arena if they hold escapes. It belongs to one task.
type jsonText struct {
	lines  bool   // a newline ends the text: it is no blank between tokens
	signs  *signs // what ends a plain run of a string, if the block has been searched for it; else nil
	spaced bool   // blanks were seen; whoever asks resets it
	at     int    // of the last failure
	why    string // of the last failure: what is wrong at `at`
	arena  []byte // room for strings that cannot be views; what was handed out is never written again
	open   [maxJSONDepth/64 + 1]uint64
}

func (s *jsonText) fail(at int, why string) int {
	s.at, s.why = at, why
	return -1
}

// space skips blanks.
func (s *jsonText) space(b []byte, p int) int {
	if p < len(b) && b[p] > ' ' {
		return p
	}
	return s.spaces(b, p)
}

func (s *jsonText) spaces(b []byte, p int) int {
	from := p
	for p < len(b) && (b[p] == ' ' || b[p] == '\t' || b[p] == '\r' || b[p] == '\n' && !s.lines) {
		p++
	}
	s.spaced = s.spaced || p > from
	return p
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// str reads a string from behind its opening quote and returns the place of the closing one. plain tells that what is
// between holds no escape.
func (s *jsonText) str(b []byte, p int) (end int, plain bool) {
	plain = true
	for {
		if s.signs != nil {
			p = min(s.signs.from(p), len(b))
		}
		// Eight bytes at a time while all are plain: not below a blank or a quote (both at once: the quote with its
		// second bit turned is 32, and what is below 32 stays there), no backslash, ASCII. A false alarm is only
		// possible behind a true one, and the lowest counts.
		for s.signs == nil && p+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[p:])
			quote, back := w^2*lowBits, w^'\\'*lowBits
			if m := ((quote - 0x21*lowBits) | (back - lowBits) | w) & highBits; m != 0 {
				p += bits.TrailingZeros64(m) >> 3
				break
			}
			p += 8
		}
		if p >= len(b) {
			return s.fail(p, "the string is not closed"), false
		}
		switch c := b[p]; {
		case c == '"':
			return p, plain
		case c == '\\':
			plain = false
			if p = s.escape(b, p); p < 0 {
				return p, false
			}
		case c < ' ':
			if c == '\n' {
				return s.fail(p, "the string is not closed"), false
			}
			return s.fail(p, "a control character in a string must be escaped"), false
		case c < utf8.RuneSelf:
			p++
		default:
			r, n := utf8.DecodeRune(b[p:])
			if r == utf8.RuneError && n == 1 {
				return s.fail(p, "not valid UTF-8"), false
			}
			p += n
		}
	}
}

// escape checks the escape at p.
func (s *jsonText) escape(b []byte, p int) int {
	if p+1 >= len(b) {
		return s.fail(p, "the string is not closed")
	}
	switch b[p+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return p + 2
	case 'u':
		if p+6 <= len(b) && hex4(b[p+2:]) >= 0 {
			return p + 6
		}
	}
	return s.fail(p, "no such escape")
}

// hex4 reads four hexadecimal digits; -1 if they are not.
func hex4(b []byte) rune {
	r := rune(0)
	for _, c := range b[:4] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20-'a' <= 5:
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// unescape appends what the inside of a checked string stands for. Half a surrogate pair becomes U+FFFD.
func unescape(to, b []byte) []byte {
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 {
			return append(to, b...)
		}
		to = append(to, b[:i]...)
		c := b[i+1]
		b = b[i+2:]
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r := hex4(b)
			b = b[4:]
			if utf16.IsSurrogate(r) {
				low := rune(-1)
				if len(b) >= 6 && b[0] == '\\' && b[1] == 'u' {
					low = hex4(b[2:])
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					b = b[6:]
				}
			}
			to = utf8.AppendRune(to, r)
			continue
		}
		to = append(to, c)
	}
}

// room returns the arena with space for n bytes more.
func (s *jsonText) room(n int) []byte {
	if cap(s.arena)-len(s.arena) < n {
		s.arena = make([]byte, 0, max(n, 64<<10))
	}
	return s.arena
}

// keep makes a string of what was appended to the arena behind its length.
func (s *jsonText) keep(grown []byte) string {
	text := grown[len(s.arena):]
	s.arena = grown
	return view(text)
}

// text returns the string at p, which stands at its opening quote, and the place behind the closing one.
func (s *jsonText) text(b []byte, p int) (string, int) {
	end, plain := s.str(b, p+1)
	if end < 0 {
		return "", end
	}
	if raw := b[p+1 : end]; !plain {
		return s.keep(unescape(s.room(len(raw)), raw)), end + 1
	}
	return view(b[p+1 : end]), end + 1
}

// base64 decodes text into the arena; padding may be left out.
func (s *jsonText) base64(text string) (string, bool) {
	enc := base64.StdEncoding
	if len(text)%4 != 0 {
		enc = base64.RawStdEncoding
	}
	to := s.room(enc.DecodedLen(len(text)))
	n, err := enc.Decode(to[len(to):cap(to)], unsafe.Slice(unsafe.StringData(text), len(text)))
	if err != nil {
		return "", false
	}
	return s.keep(to[:len(to)+n]), true
}

// digits returns the place behind the digits at p.
func jsonDigits(b []byte, p int) int {
	for p < len(b) && b[p]-'0' <= 9 {
		p++
	}
	return p
}

// number reads a number.
func (s *jsonText) number(b []byte, p int) int {
	at := p
	if p < len(b) && b[p] == '-' {
		p++
	}
	q := jsonDigits(b, p)
	if q == p || b[p] == '0' && q > p+1 {
		return s.fail(at, "not a number")
	}
	if q < len(b) && b[q] == '.' {
		p = q + 1
		if q = jsonDigits(b, p); q == p {
			return s.fail(at, "not a number")
		}
	}
	if q < len(b) && b[q]|0x20 == 'e' {
		p = q + 1
		if p < len(b) && (b[p] == '+' || b[p] == '-') {
			p++
		}
		if q = jsonDigits(b, p); q == p {
			return s.fail(at, "not a number")
		}
	}
	return q
}

// int reads a number as an int; ok tells that it is integral and fits.
func (s *jsonText) int(b []byte, p int) (v int64, end int, ok bool) {
	at := p
	neg := b[p] == '-'
	if neg {
		p++
	}
	// One load finds where up to eight digits end and folds them into a number, without a branch for each.
	if p+9 <= len(b) {
		w := binary.LittleEndian.Uint64(b[p:]) ^ '0'*lowBits
		n := bits.TrailingZeros64((w+0x76*lowBits|w)&highBits) >> 3
		u := foldDigits(w << (64 - 8*uint(n)))
		c := b[p+n]
		if n == 8 && c-'0' <= 9 && p+17 <= len(b) {
			w = binary.LittleEndian.Uint64(b[p+8:]) ^ '0'*lowBits
			m := bits.TrailingZeros64((w+0x76*lowBits|w)&highBits) >> 3
			u = u*powersOf10[m] + foldDigits(w<<(64-8*uint(m)))
			n += m
			c = b[p+n]
		}
		if c-'0' > 9 && c != '.' && c|0x20 != 'e' && n > 0 && (b[p] != '0' || n == 1) {
			if neg {
				return -int64(u), p + n, true
			}
			return int64(u), p + n, true
		}
	}
	if end = s.number(b, at); end < 0 {
		return 0, end, false
	}
	d, _ := types.ParseDecimal(view(b[at:end]))
	v, ok = d.Integer(0, false)
	return v, end, ok
}

// foldDigits returns the number of eight decimal digits, the first in the lowest byte.
func foldDigits(w uint64) uint64 {
	w = w*10 + w>>8
	return ((w&0x000000ff000000ff)*(100+1000000<<32) + (w>>16&0x000000ff000000ff)*(1+10000<<32)) >> 32
}

// powersOf10 shift digits by as many as foldDigits takes.
var powersOf10 = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

var smallPowers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// float reads a number as a float; ok tells that it is in range.
func (s *jsonText) float(b []byte, p int) (f float64, end int, ok bool) {
	at := p
	neg := b[p] == '-'
	if neg {
		p++
	}
	first, mant, point := p, uint64(0), 0
	for p < len(b) && b[p]-'0' <= 9 {
		mant = mant*10 + uint64(b[p]-'0')
		p++
	}
	n := p - first
	if p < len(b) && b[p] == '.' && n > 0 {
		p++
		from := p
		for p < len(b) && b[p]-'0' <= 9 {
			mant = mant*10 + uint64(b[p]-'0')
			p++
		}
		if point = p - from; point == 0 {
			return 0, s.fail(at, "not a number"), false
		}
	}
	// Up to 2^53 and 10^22 both sides of the division are exact, so that the quotient is rounded once, as it must be.
	if n+point <= 19 && mant < 1<<53 && point <= 22 && n > 0 && (n == 1 || b[first] != '0') && (p >= len(b) || b[p]|0x20 != 'e') {
		f = float64(mant) / smallPowers[point]
		if neg {
			f = -f
		}
		return f, p, true
	}
	if end = s.number(b, at); end < 0 {
		return 0, end, false
	}
	f, err := strconv.ParseFloat(view(b[at:end]), 64)
	return f, end, err == nil && !math.IsInf(f, 0)
}

// word reads true, false or null.
func (s *jsonText) word(b []byte, p int) int {
	switch rest := b[p:]; {
	case len(rest) >= 4 && (string(rest[:4]) == "true" || string(rest[:4]) == "null"):
		return p + 4
	case len(rest) >= 5 && string(rest[:5]) == "false":
		return p + 5
	}
	return s.fail(p, "not a value")
}

// skip checks the value at p, which stands behind blanks, and returns the place behind it. inside is how many lists
// and objects the value is in already.
func (s *jsonText) skip(b []byte, p, inside int) int {
	depth := 0
value:
	if p >= len(b) {
		return s.fail(p, "the text ends where a value must stand")
	}
	switch c := b[p]; {
	case c == '"':
		if p, _ = s.str(b, p+1); p < 0 {
			return p
		}
		p++
	case c == '{' || c == '[':
		if inside+depth >= maxJSONDepth {
			return s.fail(p, "nested deeper than "+strconv.Itoa(maxJSONDepth))
		}
		depth++
		if c == '{' {
			s.open[depth>>6] |= 1 << (depth & 63)
		} else {
			s.open[depth>>6] &^= 1 << (depth & 63)
		}
		p = s.space(b, p+1)
		if p < len(b) && b[p] == c+2 { // the bracket that closes it: two further in ASCII
			p++
			depth--
			break
		}
		if c == '{' {
			goto key
		}
		goto value
	case c == '-' || c-'0' <= 9:
		if p = s.number(b, p); p < 0 {
			return p
		}
	default:
		if p = s.word(b, p); p < 0 {
			return p
		}
	}
	for depth > 0 {
		p = s.space(b, p)
		object := s.open[depth>>6]>>(depth&63)&1 != 0
		switch {
		case p >= len(b):
			return s.fail(p, "the text ends inside a list or an object")
		case b[p] == ',':
			p = s.space(b, p+1)
			if object {
				goto key
			}
			goto value
		case object && b[p] == '}' || !object && b[p] == ']':
			p++
			depth--
		case object:
			return s.fail(p, "expected , or }")
		default:
			return s.fail(p, "expected , or ]")
		}
	}
	return p
key:
	if p >= len(b) || b[p] != '"' {
		return s.fail(p, "expected a field name in quotes")
	}
	if p, _ = s.str(b, p+1); p < 0 {
		return p
	}
	if p = s.colon(b, p+1); p < 0 {
		return p
	}
	goto value
}

// colon reads what stands between the name of a field and its value.
func (s *jsonText) colon(b []byte, p int) int {
	p = s.space(b, p)
	if p >= len(b) || b[p] != ':' {
		return s.fail(p, "expected : behind the field name")
	}
	return s.space(b, p+1)
}

// compact returns the checked value raw without blanks between its tokens: a view, or a copy in the arena if there
// were any (spaced).
func (s *jsonText) compact(raw []byte, spaced bool) string {
	if !spaced {
		return view(raw)
	}
	to := s.room(len(raw))
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; c {
		case ' ', '\t', '\r', '\n':
		case '"':
			from := i
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
			to = append(to, raw[from:i+1]...)
		default:
			to = append(to, c)
		}
	}
	return s.keep(to)
}
