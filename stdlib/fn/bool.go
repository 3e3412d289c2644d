package fn

import (
	"fmt"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "bool", Group: "conversion", Signature: "bool(x: string | any) -> bool",
		Text:     "A text or JSON value `true` or `false` as a bool; anything else is a row error.",
		Examples: []spec.Example{{Code: `bool("true")`, Want: "true"}}},
	Overloads: []spec.Overload{
		{Sig: sig(boolT, boolT), Kernel: map1(func(b bool) bool { return b })},
		{Sig: parses(sig(boolT, stringT)), Kernel: try1(textToBool)},
		{Sig: parses(sig(boolT, anyT)), Kernel: try1(textToBool)},
	},
})

func textToBool(s string) (bool, error) {
	switch s {
	case "true", `"true"`:
		return true, nil
	case "false", `"false"`:
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", short(s))
}
