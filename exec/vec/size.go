package vec

import (
	"fmt"

	"github.com/ebb-lang/ebb/lang/types"
)

// MaxValue is the most bytes of a value that a script makes, as Size counts them: a row or a group fails rather than the
// process.
const MaxValue = 64 << 20

// Size returns how large row i is: the bytes of a text; of a list 8 an element and the bytes of the texts in it.
func (c *Column) Size(i int) int {
	if c.Null(i) {
		return 0
	}
	switch c.Type.Kind {
	case types.String, types.Bytes, types.Any:
		return len(c.Strs[i])
	case types.List:
		return c.Kids[0].sizes(int(c.Offs[i]), int(c.Offs[i+1]))
	case types.Record:
		n := 0
		for _, k := range c.Kids {
			n += k.Size(i)
		}
		return n
	}
	return 8
}

// sizes is the size of a list of the rows from lo to hi.
func (c *Column) sizes(lo, hi int) int {
	n := 8 * (hi - lo)
	switch c.Type.Kind {
	case types.String, types.Bytes, types.Any, types.List, types.Record:
		for i := lo; i < hi; i++ {
			n += c.Size(i)
		}
	}
	return n
}

// TooLarge is the error of a value that is larger than MaxValue. what is "text" or "list".
func TooLarge(what string, size int) error {
	return fmt.Errorf("the %s would have %d MiB, more than the %d MiB that a value may have", what, (size+1<<20-1)>>20, MaxValue>>20)
}
