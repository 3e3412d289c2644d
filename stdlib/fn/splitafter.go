package fn

import (
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "splitAfter", Group: "text", Signature: "splitAfter(s: string, separator: string, limit: int = all) -> [string]",
		Text:     "The pieces of the text, each with the separator that ends it.",
		Examples: []spec.Example{{Code: `splitAfter("a,b,c", ",")`, Want: `["a,", "b,", "c"]`}}},
	Overloads: []spec.Overload{
		{Sig: rare(sig(stringsT, stringT, stringT)), Kernel: splitBy(1)},
		{Sig: rare(sig(stringsT, stringT, stringT, intT)), Kernel: splitBy(1)},
	},
})
