package fn

import (
	"fmt"
	"strconv"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "string", Group: "conversion", Signature: "string(x: any value) -> string",
		Text:     "Any value as text; null becomes `<nil>`. For a time see `format`.",
		Examples: []spec.Example{{Code: "string(1.5)", Want: `"1.5"`}, {Code: "string(90s)", Want: `"1m30s"`}, {Code: "string([1, 2])", Want: `"[1 2]"`}}},
	Overloads: []spec.Overload{{Sig: types.Sig{Params: []types.Type{valueT}, Result: stringT, Loose: true}, Kernel: stringKernel}},
})

func stringKernel(c *eval.Call) {
	a := c.Args[0].Col
	build(c, func(b []byte, i int) []byte {
		if a.Null(i) {
			return append(b, "<nil>"...)
		}
		switch a.Type.Kind {
		case types.String:
			return append(b, a.Strs[i]...)
		case types.Int:
			return strconv.AppendInt(b, a.Ints[i], 10)
		case types.Bool:
			return strconv.AppendBool(b, a.Bools[i])
		}
		return fmt.Append(b, eval.Box(a, i))
	})
}
