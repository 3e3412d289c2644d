package fn

import (
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "toPairs", Group: "list", Signature: "toPairs(x: record | any) -> any",
		Text:     "The fields of a record, or the members of a JSON object in its order, as a JSON array of [name, value].",
		Examples: []spec.Example{{Code: `string(toPairs(fromJSON("{\"a\": 1}")))`, Want: `"[[a 1]]"`}, {Code: "len(toPairs({a: 1, b: true}))", Want: "2"}}},
	Overloads: []spec.Overload{
		{Sig: sig(anyT, types.Type{Kind: types.Record}), Kernel: func(c *eval.Call) {
			a := c.Args[0].Col
			build(c, func(b []byte, i int) []byte {
				b = append(b, '[')
				for k, f := range a.Type.Fields {
					b = appendName(b, f.Name, k == 0)
					b = append(a.Kids[k].AppendJSON(b, i), ']')
				}
				return append(b, ']')
			})
		}},
		{Sig: sig(anyT, anyT), Kernel: build1(func(b []byte, s string) []byte {
			b = append(b, '[')
			first := true
			for name, value := range eval.JSONMembers(s) {
				b = appendName(b, name, first)
				b = append(append(b, value...), ']')
				first = false
			}
			return append(b, ']')
		})},
	},
})

// appendName appends the start of a pair.
func appendName(b []byte, name string, first bool) []byte {
	if !first {
		b = append(b, ',')
	}
	return append(vec.AppendQuoted(append(b, '['), name), ',')
}
