package fn

import (
	"strings"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "hasSuffix", Group: "text", Signature: "hasSuffix(s: string, suffix: string) -> bool",
		Text:     "Whether the text ends with the suffix. `s endsWith suffix` is the same, but false where a side is null.",
		Examples: []spec.Example{{Code: `hasSuffix("a.csv", ".csv")`, Want: "true"}}},
	Overloads: []spec.Overload{{Sig: sig(boolT, stringT, stringT), Kernel: map2(strings.HasSuffix)}},
})
