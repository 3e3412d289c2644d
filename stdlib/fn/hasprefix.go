package fn

import (
	"strings"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "hasPrefix", Group: "text", Signature: "hasPrefix(s: string, prefix: string) -> bool",
		Text:     "Whether the text starts with the prefix. `s startsWith prefix` is the same, but false where a side is null.",
		Examples: []spec.Example{{Code: `hasPrefix("/api/v1", "/api")`, Want: "true"}}},
	Overloads: []spec.Overload{{Sig: sig(boolT, stringT, stringT), Kernel: map2(strings.HasPrefix)}},
})
