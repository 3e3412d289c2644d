package fn

import (
	"fmt"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "values", Group: "list", Signature: "values(x: record | any) -> [T]",
		Text:     "The values of a record whose fields have one type, or of the members of a JSON object, in the order of `keys`.",
		Examples: []spec.Example{{Code: "values({a: 1, b: 2.5})", Want: "[1.0, 2.5]"}, {Code: `len(values(fromJSON("{\"x\": 1}")))`, Want: "1"}}},
	Overloads: []spec.Overload{
		{Sig: types.Sig{Params: []types.Type{{Kind: types.Record}}, Infer: valuesType}, Kernel: func(c *eval.Call) {
			b := vec.NewBuilder(*c.Out.Type.Elem)
			offsets(c, func(i int) int {
				for _, k := range c.Args[0].Col.Kids {
					b.Append(k.Value(i))
				}
				return b.Len()
			})
			c.Out.Kids = []*vec.Column{b.Column()}
		}},
		{Sig: sig(types.ListOf(anyT.Null()), anyT), Kernel: func(c *eval.Call) {
			b := vec.NewBuilder(*c.Out.Type.Elem)
			offsets(c, func(i int) int {
				for _, v := range eval.JSONMembers(c.Args[0].Col.Strs[i]) {
					if v == "null" {
						b.AppendNull()
					} else {
						b.Append(v)
					}
				}
				return b.Len()
			})
			c.Out.Kids = []*vec.Column{b.Column()}
		}},
	},
})

func valuesType(args []*types.Expr) (types.Type, error) {
	t := types.T(types.Null)
	for k, f := range args[0].Type.Fields {
		if k == 0 {
			t = f.Type
			continue
		}
		u, err := types.Unify(t, f.Type)
		if err != nil {
			return t, fmt.Errorf("the fields of %s have no common type", args[0].Type)
		}
		t = u
	}
	return types.ListOf(t), nil
}
