package vec

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/ebb-lang/ebb/lang/types"
)

// AppendJSON appends row i of c as JSON, as outputs write it: times as RFC 3339, durations as text, NaN and infinities
// as null, bytes in base64.
func (c *Column) AppendJSON(dst []byte, i int) []byte {
	if c.Null(i) {
		return append(dst, "null"...)
	}
	switch c.Type.Kind {
	case types.Bool:
		return strconv.AppendBool(dst, c.Bools[i])
	case types.Int:
		return types.AppendInt(dst, c.Ints[i])
	case types.Time:
		return append(types.AppendInstant(append(dst, '"'), c.Ints[i]), '"')
	case types.Duration:
		return append(types.AppendDuration(append(dst, '"'), c.Ints[i]), '"')
	case types.Float:
		if f := c.Floats[i]; !math.IsNaN(f) && !math.IsInf(f, 0) {
			return types.AppendFloat(dst, f)
		}
	case types.Any:
		if s := c.Strs[i]; s != "" {
			return append(dst, s...)
		}
	case types.Bytes:
		s := c.Strs[i]
		return append(base64.StdEncoding.AppendEncode(append(dst, '"'), unsafe.Slice(unsafe.StringData(s), len(s))), '"')
	case types.String:
		return AppendQuoted(dst, c.Strs[i])
	case types.List:
		dst = append(dst, '[')
		for j := c.Offs[i]; j < c.Offs[i+1]; j++ {
			if j > c.Offs[i] {
				dst = append(dst, ',')
			}
			dst = c.Kids[0].AppendJSON(dst, int(j))
		}
		return append(dst, ']')
	case types.Record:
		return AppendRowJSON(dst, c.Type.Fields, c.Kids, i)
	}
	return append(dst, "null"...)
}

// AppendRowJSON appends row i of the columns as a JSON object.
func AppendRowJSON(dst []byte, fields []types.Field, cols []*Column, i int) []byte {
	dst = append(dst, '{')
	for k, f := range fields {
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendQuoted(dst, f.Name), ':')
		dst = cols[k].AppendJSON(dst, i)
	}
	return append(dst, '}')
}

// AppendQuoted writes s as a JSON string. Only what must be escaped is; bytes that are not UTF-8 become U+FFFD.
func AppendQuoted(b []byte, s string) []byte {
	const (
		lowBits  = 0x0101010101010101
		highBits = 0x8080808080808080
	)
	b = append(slices.Grow(b, len(s)+10), '"')
	from := unsafe.Slice(unsafe.StringData(s), len(s)) // never written to
	for {
		// Copy eight bytes at a time and look at them at once: a byte is plain if it is not below a blank, no quote (the
		// quote with its second bit turned is 32), no backslash, ASCII. Those behind the first that is not plain are copied
		// in vain.
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
