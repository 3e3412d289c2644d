package conn

import (
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// appendJSON writes row r of c as JSON text, for lists and records in a field of CSV.
func appendJSON(b []byte, c *vec.Column, r int) []byte {
	if c.Null(r) {
		return append(b, "null"...)
	}
	switch c.Type.Kind {
	case types.Int:
		return appendInt(b, c.Ints[r])
	case types.Float:
		if f := c.Floats[r]; math.IsNaN(f) || math.IsInf(f, 0) {
			return append(b, "null"...)
		}
		return appendFloat(b, c.Floats[r])
	case types.Bool:
		return strconv.AppendBool(b, c.Bools[r])
	case types.Time:
		if timeIsNumber(c.Type.Format) {
			return appendTime(b, c.Ints[r], c.Type.Format)
		}
		return appendJSONText(b, view(appendTime(nil, c.Ints[r], c.Type.Format)))
	case types.Duration:
		return append(types.AppendDuration(append(b, '"'), c.Ints[r]), '"')
	case types.String:
		return appendJSONText(b, c.Strs[r])
	case types.Bytes:
		raw := unsafe.Slice(unsafe.StringData(c.Strs[r]), len(c.Strs[r]))
		return append(base64.StdEncoding.AppendEncode(append(b, '"'), raw), '"')
	case types.Any:
		return append(b, c.Strs[r]...)
	case types.List:
		b = append(b, '[')
		for i := c.Offs[r]; i < c.Offs[r+1]; i++ {
			if i > c.Offs[r] {
				b = append(b, ',')
			}
			b = appendJSON(b, c.Kids[0], int(i))
		}
		return append(b, ']')
	case types.Record:
		b = append(b, '{')
		for i, f := range c.Type.Fields {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendJSONText(b, f.Name), ':')
			b = appendJSON(b, c.Kids[i], r)
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

func appendJSONText(b []byte, s string) []byte {
	b = append(b, '"')
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r < 0x20:
			b = append(b, `\u00`...)
			b = append(b, "0123456789abcdef"[r>>4], "0123456789abcdef"[r&15])
		case r == utf8.RuneError:
			b = utf8.AppendRune(b, r)
		default:
			b = append(b, s[i:i+utf8.RuneLen(r)]...)
		}
	}
	return append(b, '"')
}
