package fn

import (
	"strings"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "trimSuffix", Group: "text", Signature: `trimSuffix(s: string, suffix: string = " ") -> string`,
		Text:     "The text without the suffix, if it ends with it.",
		Examples: []spec.Example{{Code: `trimSuffix("a.csv", ".csv")`, Want: `"a"`}}},
	Overloads: []spec.Overload{
		{Sig: sig(stringT, stringT), Kernel: map1(func(s string) string { return strings.TrimSuffix(s, " ") })},
		{Sig: sig(stringT, stringT, stringT), Kernel: map2(strings.TrimSuffix)},
	},
})
