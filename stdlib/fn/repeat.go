package fn

import (
	"fmt"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "repeat", Group: "text", Signature: "repeat(s: string, n: int) -> string",
		Text:     "The text n times.",
		Examples: []spec.Example{{Code: `repeat("ab", 3)`, Want: `"ababab"`}}},
	Overloads: []spec.Overload{{Sig: rare(sig(stringT, stringT, intT)), Kernel: func(c *eval.Call) {
		in, times := c.Args[0].Col.Strs, of[int64](c.Args[1])
		build(c, func(b []byte, i int) []byte {
			s, n := in[i], times.at(i)
			if n < 0 || n > 1e6 || n*int64(len(s)) > vec.MaxValue {
				c.Fail(i, fmt.Errorf("`repeat` of %d bytes %d times: the count is from 0 to 1,000,000 and the text at most %d bytes", len(s), n, vec.MaxValue))
				return b
			}
			for range n {
				b = append(b, s...)
			}
			return b
		})
	}}},
})
