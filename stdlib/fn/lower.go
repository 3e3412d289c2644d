package fn

import (
	"strings"
	"unicode/utf8"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "lower", Group: "text", Signature: "lower(s: string) -> string",
		Text:     "The text in lower case.",
		Examples: []spec.Example{{Code: `lower("Ärger NO")`, Want: `"ärger no"`}, {Code: `lower("done")`, Want: `"done"`}}},
	Overloads: []spec.Overload{{Sig: sig(stringT, stringT), Kernel: changeCase('A', 'Z', strings.ToLower)}},
})

// changeCase makes the kernel of lower and upper. An ASCII text without a letter from lo to hi is passed on as it is;
// one with such letters is copied with the case bit flipped; the rest is left to change.
func changeCase(lo, hi byte, change func(string) string) eval.Kernel {
	return func(c *eval.Call) {
		in, out := c.Args[0].Col.Strs, c.Out.Strs
		size, _ := c.Memo.(int)
		block := make([]byte, 0, size)
		each(c, func(i int) {
			s := in[i]
			var high byte
			at := -1
			for k := 0; k < len(s); k++ {
				b := s[k]
				high |= b
				if b-lo <= hi-lo && at < 0 {
					at = k
				}
			}
			switch {
			case high >= utf8.RuneSelf:
				out[i] = change(s)
			case at < 0:
				out[i] = s
			default:
				start := len(block)
				block = append(block, s...)
				made := block[start:]
				for k := at; k < len(made); k++ {
					if made[k]-lo <= hi-lo {
						made[k] ^= 0x20
					}
				}
				out[i] = view(made)
			}
		})
		if len(block) > size {
			c.Memo = len(block) + len(block)/8
		}
	}
}
