package fn

import (
	"strings"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "upper", Group: "text", Signature: "upper(s: string) -> string",
		Text:     "The text in upper case.",
		Examples: []spec.Example{{Code: `upper("Ärger no")`, Want: `"ÄRGER NO"`}}},
	Overloads: []spec.Overload{{Sig: sig(stringT, stringT), Kernel: changeCase('a', 'z', strings.ToUpper)}},
})
