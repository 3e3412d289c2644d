package fn

import (
	"strings"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "type", Group: "conversion", Signature: "type(x: any value) -> string",
		Text:     "The name of the kind of a value: nil, bool, int, float, string, array, map, time.Time or time.Duration.",
		Examples: []spec.Example{{Code: "type(1)", Want: `"int"`}, {Code: "type([1])", Want: `"array"`}}},
	Overloads: []spec.Overload{{Sig: types.Sig{Params: []types.Type{valueT}, Result: stringT, Loose: true}, Kernel: func(c *eval.Call) {
		a := c.Args[0].Col
		each(c, func(i int) {
			name := kindNames[a.Type.Kind]
			if a.Null(i) {
				name = "nil"
			} else if a.Type.Kind == types.Any {
				name = jsonKind(a.Strs[i])
			}
			c.Out.Strs[i] = name
		})
	}}},
})

var kindNames = map[types.Kind]string{types.Null: "nil", types.Bool: "bool", types.Int: "int", types.Float: "float", types.String: "string",
	types.Bytes: "array", types.Time: "time.Time", types.Duration: "time.Duration", types.List: "array", types.Record: "map"}

func jsonKind(s string) string {
	switch s[:min(1, len(s))] {
	case `"`:
		return "string"
	case "{":
		return "map"
	case "[":
		return "array"
	case "t", "f":
		return "bool"
	case "n", "":
		return "nil"
	}
	if strings.ContainsAny(s, ".eE") {
		return "float"
	}
	return "int"
}
