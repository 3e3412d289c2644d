package fn

import (
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "keys", Group: "list", Signature: "keys(x: record | any) -> [string]",
		Text:     "The names of the fields of a record, or of the members of a JSON object in its order.",
		Examples: []spec.Example{{Code: "keys({a: 1, b: true})", Want: `["a", "b"]`}, {Code: `keys(fromJSON("{\"x\": 1}"))`, Want: `["x"]`}}},
	Overloads: []spec.Overload{
		{Sig: sig(stringsT, types.Type{Kind: types.Record}), Kernel: texts(func(c *eval.Call) func(to []string, i int) []string {
			var names []string
			for _, f := range c.Args[0].Col.Type.Fields {
				names = append(names, f.Name)
			}
			return func(to []string, _ int) []string { return append(to, names...) }
		})},
		{Sig: sig(stringsT, anyT), Kernel: texts(func(c *eval.Call) func(to []string, i int) []string {
			in := c.Args[0].Col.Strs
			return func(to []string, i int) []string {
				for name := range eval.JSONMembers(in[i]) {
					to = append(to, name)
				}
				return to
			}
		})},
	},
})
