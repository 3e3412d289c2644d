package fn

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "fromJSON", Group: "conversion", Signature: "fromJSON(s: string) -> any?",
		Text:     "A JSON text as a value whose members are reached by `.name` and `[index]`. Text that is no JSON is a row error.",
		Examples: []spec.Example{{Code: `string(fromJSON("{\"a\": [1, 2]}").a)`, Want: `"[1 2]"`}, {Code: `int(fromJSON("[1, 2]")[1])`, Want: "2"}}},
	Overloads: []spec.Overload{{Sig: parses(sig(anyT.Null(), stringT)), Kernel: func(c *eval.Call) {
		in := c.Args[0].Col.Strs
		var buf bytes.Buffer
		build(c, func(b []byte, i int) []byte {
			buf.Reset()
			if err := json.Compact(&buf, []byte(in[i])); err != nil {
				c.Fail(i, fmt.Errorf("%q is no JSON: %w", short(in[i]), err))
				return b
			}
			if buf.String() == "null" {
				c.SetNull(i)
			}
			return append(b, buf.Bytes()...)
		})
	}}},
})
