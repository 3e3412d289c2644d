package eval

import (
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Box returns row i as the VM sees it: int, float64, bool, string, []byte, time.Time, time.Duration, []any,
// map[string]any, parsed JSON.
func Box(c *vec.Column, i int) any {
	if c.Null(i) {
		return nil
	}
	switch c.Type.Kind {
	case types.List:
		out := make([]any, 0, c.Offs[i+1]-c.Offs[i])
		for j := c.Offs[i]; j < c.Offs[i+1]; j++ {
			out = append(out, Box(c.Kids[0], int(j)))
		}
		return out
	case types.Record:
		out := make(map[string]any, len(c.Kids))
		for k, f := range c.Type.Fields {
			out[f.Name] = Box(c.Kids[k], i)
		}
		return out
	}
	return types.ToVM(c.Type, c.Value(i))
}
