package fn

import (
	"fmt"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "fromPairs", Group: "list", Signature: "fromPairs(x: any) -> any",
		Text:     "A JSON array of [name, value] as an object. An element that is no such pair is a row error.",
		Examples: []spec.Example{{Code: `int(fromPairs(fromJSON("[[\"a\", 1]]")).a)`, Want: "1"}}},
	Overloads: []spec.Overload{{Sig: parses(sig(anyT, anyT)), Kernel: func(c *eval.Call) {
		in := c.Args[0].Col.Strs
		build(c, func(b []byte, i int) []byte {
			start := len(b)
			b = append(b, '{')
			for pair := range eval.JSONElements(in[i]) {
				name, _ := eval.JSONElement(pair, 0)
				value, ok := eval.JSONElement(pair, 1)
				if !ok {
					value = "null"
				}
				if name == "" || name[0] != '"' {
					c.Fail(i, fmt.Errorf("`fromPairs`: %s is no pair of name and value", short(pair)))
					return b[:start]
				}
				if len(b) > start+1 {
					b = append(b, ',')
				}
				b = append(append(append(b, name...), ':'), value...)
			}
			return append(b, '}')
		})
	}}},
})
