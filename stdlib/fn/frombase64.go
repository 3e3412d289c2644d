package fn

import (
	"encoding/base64"
	"fmt"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "fromBase64", Group: "conversion", Signature: "fromBase64(s: string) -> string",
		Text:     "The text whose bytes are given as base64. What is no base64 is a row error.",
		Examples: []spec.Example{{Code: `fromBase64("aGVsbG8=")`, Want: `"hello"`}}},
	Overloads: []spec.Overload{{Sig: parses(sig(stringT, stringT)), Kernel: try1(func(s string) (string, error) {
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			return "", fmt.Errorf("%q is no base64", short(s))
		}
		return view(b), nil
	})}},
})
