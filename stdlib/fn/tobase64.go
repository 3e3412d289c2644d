package fn

import (
	"encoding/base64"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "toBase64", Group: "conversion", Signature: "toBase64(x: string | bytes) -> string",
		Text:     "The bytes of a text as base64.",
		Examples: []spec.Example{{Code: `toBase64("hello")`, Want: `"aGVsbG8="`}}},
	Overloads: []spec.Overload{{Sig: sig(stringT, stringT), Kernel: build1(encode64)}, {Sig: sig(stringT, bytesT), Kernel: build1(encode64)}},
})

func encode64(b []byte, s string) []byte { return base64.StdEncoding.AppendEncode(b, []byte(s)) }
