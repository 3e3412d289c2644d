package fn

import (
	"strings"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "indexOf", Group: "text", Signature: "indexOf(s: string, part: string) -> int",
		Text:     "Where the part first stands in the text, in bytes from 0; -1 if it does not.",
		Examples: []spec.Example{{Code: `indexOf("banana", "an")`, Want: "1"}, {Code: `indexOf("banana", "x")`, Want: "-1"}}},
	Overloads: []spec.Overload{{Sig: sig(intT, stringT, stringT), Kernel: map2(func(s, part string) int64 { return int64(strings.Index(s, part)) })}},
})
