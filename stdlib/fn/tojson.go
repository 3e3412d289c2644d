package fn

import (
	"encoding/json"
	"fmt"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "toJSON", Group: "conversion", Signature: "toJSON(x: any value) -> string",
		Text:     "The value as JSON text, indented by two blanks, the names of a record sorted.",
		Examples: []spec.Example{{Code: `toJSON({b: 1, a: "x"})`, Want: `"{\n  \"a\": \"x\",\n  \"b\": 1\n}"`}, {Code: "toJSON(1.5)", Want: `"1.5"`}}},
	Overloads: []spec.Overload{{Sig: types.Sig{Params: []types.Type{valueT}, Result: stringT, Loose: true, Rare: true}, Kernel: func(c *eval.Call) {
		a := c.Args[0].Col
		build(c, func(b []byte, i int) []byte {
			text, err := json.MarshalIndent(eval.Box(a, i), "", "  ")
			if err != nil {
				c.Fail(i, fmt.Errorf("`toJSON`: %w", err))
				return b
			}
			return append(b, text...)
		})
	}}},
})
