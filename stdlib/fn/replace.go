package fn

import (
	"strings"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "replace", Group: "text", Signature: "replace(s: string, old: string, new: string, limit: int = all) -> string",
		Text:     "The text with `new` in place of `old`, the first `limit` times.",
		Examples: []spec.Example{{Code: `replace("a-b-c", "-", "+")`, Want: `"a+b+c"`}, {Code: `replace("a-b-c", "-", "+", 1)`, Want: `"a+b-c"`}}},
	Overloads: []spec.Overload{
		{Sig: rare(sig(stringT, stringT, stringT, stringT)), Kernel: replaceKernel},
		{Sig: rare(sig(stringT, stringT, stringT, stringT, intT)), Kernel: replaceKernel},
	},
})

func replaceKernel(c *eval.Call) {
	in, was, now := c.Args[0].Col.Strs, of[string](c.Args[1]), of[string](c.Args[2])
	limit := arg[int64]{[]int64{-1}, 0}
	if len(c.Args) > 3 {
		limit = of[int64](c.Args[3])
	}
	build(c, func(b []byte, i int) []byte {
		s, old, new := in[i], was.at(i), now.at(i)
		if old != "" && !strings.Contains(s, old) {
			return append(b, s...)
		}
		n := limit.at(i)
		times := int64(strings.Count(s, old))
		if n >= 0 && n < times {
			times = n
		}
		if grown := int64(len(s)) + times*int64(len(new)-len(old)); grown > vec.MaxValue {
			c.Fail(i, vec.TooLarge("text", int(grown)))
			return b
		}
		return append(b, strings.Replace(s, old, new, int(times))...)
	})
}
