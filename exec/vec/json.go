package vec

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/ebb-lang/ebb/lang/types"
)

// AppendJSON appends row i of c as JSON: times as RFC 3339, durations as text, NaN and infinities as null. It is for
// messages and tools; connectors have encoders of their own.
func (c *Column) AppendJSON(dst []byte, i int) []byte {
	if c.Null(i) {
		return append(dst, "null"...)
	}
	switch c.Type.Kind {
	case types.Bool:
		return strconv.AppendBool(dst, c.Bools[i])
	case types.Int:
		return strconv.AppendInt(dst, c.Ints[i], 10)
	case types.Time:
		dst = append(dst, '"')
		return append(time.Unix(0, c.Ints[i]).UTC().AppendFormat(dst, time.RFC3339Nano), '"')
	case types.Duration:
		return append(append(append(dst, '"'), types.FormatDuration(c.Ints[i])...), '"')
	case types.Float:
		if f := c.Floats[i]; !math.IsNaN(f) && !math.IsInf(f, 0) {
			return strconv.AppendFloat(dst, f, 'g', -1, 64)
		}
		return append(dst, "null"...)
	case types.Any:
		return append(dst, c.Strs[i]...)
	case types.Bytes:
		return append(append(append(dst, '"'), base64.StdEncoding.EncodeToString([]byte(c.Strs[i]))...), '"')
	case types.String:
		s, _ := json.Marshal(c.Strs[i]) // a string always marshals
		return append(dst, s...)
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
		name, _ := json.Marshal(f.Name)
		dst = append(append(dst, name...), ':')
		dst = cols[k].AppendJSON(dst, i)
	}
	return append(dst, '}')
}
