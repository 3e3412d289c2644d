package fn

import (
	"strings"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "trimPrefix", Group: "text", Signature: `trimPrefix(s: string, prefix: string = " ") -> string`,
		Text:     "The text without the prefix, if it starts with it.",
		Examples: []spec.Example{{Code: `trimPrefix("v1.2", "v")`, Want: `"1.2"`}, {Code: `trimPrefix("1.2", "v")`, Want: `"1.2"`}}},
	Overloads: []spec.Overload{
		{Sig: sig(stringT, stringT), Kernel: map1(func(s string) string { return strings.TrimPrefix(s, " ") })},
		{Sig: sig(stringT, stringT, stringT), Kernel: map2(strings.TrimPrefix)},
	},
})
