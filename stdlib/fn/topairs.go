package fn

import (
	"encoding/json"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "toPairs", Group: "list", Signature: "toPairs(x: any) -> any",
		Text:     "The members of a JSON object as an array of [name, value], in its order.",
		Examples: []spec.Example{{Code: `string(toPairs(fromJSON("{\"a\": 1}")))`, Want: `"[[a 1]]"`}}},
	Overloads: []spec.Overload{{Sig: sig(anyT, anyT), Kernel: build1(func(b []byte, s string) []byte {
		b = append(b, '[')
		for name, value := range eval.JSONMembers(s) {
			if b[len(b)-1] == ']' {
				b = append(b, ',')
			}
			quoted, _ := json.Marshal(name) // a string always marshals
			b = append(append(append(append(append(b, '['), quoted...), ','), value...), ']')
		}
		return append(b, ']')
	})}},
})
