package fn

import (
	"strings"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "trim", Group: "text", Signature: "trim(s: string, chars: string = white space) -> string",
		Text:     "The text without white space, or without any of the given characters, at its ends.",
		Examples: []spec.Example{{Code: `trim("  a b ")`, Want: `"a b"`}, {Code: `trim("__a_b_", "_")`, Want: `"a_b"`}}},
	Overloads: []spec.Overload{
		{Sig: sig(stringT, stringT), Kernel: map1(strings.TrimSpace)},
		{Sig: sig(stringT, stringT, stringT), Kernel: map2(strings.Trim)},
	},
})
