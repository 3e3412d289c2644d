package fn

import (
	"strings"
	"unicode/utf8"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "split", Group: "text", Signature: "split(s: string, separator: string, limit: int = all) -> [string]",
		Text: "The pieces of the text between the separators, at most `limit` of them; an empty separator splits into characters. " +
			"`part` takes one piece and is faster.",
		Examples: []spec.Example{{Code: `split("a,b,c", ",")`, Want: `["a", "b", "c"]`}, {Code: `split("a,b,c", ",", 2)`, Want: `["a", "b,c"]`}}},
	Overloads: []spec.Overload{
		{Sig: rare(sig(stringsT, stringT, stringT)), Kernel: splitBy(0)},
		{Sig: rare(sig(stringsT, stringT, stringT, intT)), Kernel: splitBy(0)},
	},
})

// tooMany pieces are no list that may be made: more need not be looked for.
const tooMany = vec.MaxValue/8 + 1

// splitBy makes the kernel of split and splitAfter: keep is how much of the separator a piece keeps (all or nothing).
func splitBy(keep int) eval.Kernel {
	return texts(func(c *eval.Call) func(to []string, i int) []string {
		in, sep := c.Args[0].Col.Strs, of[string](c.Args[1])
		limit := arg[int64]{[]int64{-1}, 0}
		if len(c.Args) > 2 {
			limit = of[int64](c.Args[2])
		}
		return func(to []string, i int) []string {
			n, start := limit.at(i), len(to)
			if n < 0 || n > tooMany {
				n = tooMany
			}
			to = appendPieces(to, in[i], sep.at(i), n, keep)
			if len(to)-start == tooMany {
				c.Fail(i, vec.TooLarge("list", 8*tooMany))
				to = to[:start]
			}
			return to
		}
	})
}

func appendPieces(to []string, s, sep string, limit int64, keep int) []string {
	if limit == 0 {
		return to
	}
	if sep == "" {
		for ; limit != 1 && len(s) > 0; limit-- {
			_, n := utf8.DecodeRuneInString(s)
			to, s = append(to, s[:n]), s[n:]
		}
		if len(s) > 0 {
			to = append(to, s)
		}
		return to
	}
	for ; limit != 1; limit-- {
		k := strings.Index(s, sep)
		if k < 0 {
			break
		}
		to, s = append(to, s[:k+keep*len(sep)]), s[k+len(sep):]
	}
	return append(to, s)
}
