package fn

import (
	"strings"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "lastIndexOf", Group: "text", Signature: "lastIndexOf(s: string, part: string) -> int",
		Text:     "Where the part last stands in the text, in bytes from 0; -1 if it does not.",
		Examples: []spec.Example{{Code: `lastIndexOf("banana", "an")`, Want: "3"}}},
	Overloads: []spec.Overload{{Sig: sig(intT, stringT, stringT), Kernel: map2(func(s, part string) int64 { return int64(strings.LastIndex(s, part)) })}},
})
