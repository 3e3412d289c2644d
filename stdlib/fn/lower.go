package fn

import (
	"encoding/binary"
	"strings"

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
	fromLo, pastHi := ones*uint64(0x80-lo), ones*uint64(0x7f-hi)
	return func(c *eval.Call) {
		in, out := c.Args[0].Col.Strs, c.Out.Strs
		size, _ := c.Memo.(int)
		block := make([]byte, 0, size)
		each(c, func(i int) {
			s := in[i]
			start := len(block)
			var all, flips uint64
			for k := 0; k < len(s); k += 8 {
				w := load(s, k)
				// With the top bits clear, the top bit of each byte tells: at least lo, and not above hi.
				flip := (w + fromLo) &^ (w + pastHi) & tops
				all |= w
				flips |= flip
				block = binary.LittleEndian.AppendUint64(block, w^flip>>2)
			}
			switch {
			case all&tops != 0:
				out[i], block = change(s), block[:start]
			case flips == 0:
				out[i], block = s, block[:start]
			default:
				block = block[:start+len(s)]
				out[i] = view(block[start:])
			}
		})
		if len(block) > size {
			c.Memo = len(block) + len(block)/8
		}
	}
}
