package fn

import (
	"math"
	"unicode/utf8"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "substr", Group: "text", Signature: "substr(s: string, from: int, length: int = rest) -> string",
		Text: "A part of the text, counted in characters from 0; a negative `from` counts from the end. What lies outside of the text is left out. " +
			"`s[a:b]` counts bytes.",
		Examples: []spec.Example{{Code: `substr("añbc", 1, 2)`, Want: `"ñb"`}, {Code: `substr("abc", -2)`, Want: `"bc"`}}},
	Overloads: []spec.Overload{
		{Sig: sig(stringT, stringT, intT), Kernel: map2(func(s string, from int64) string { return substr(s, from, math.MaxInt64) })},
		{Sig: sig(stringT, stringT, intT, intT), Kernel: map3(substr)},
	},
})

func substr(s string, from, n int64) string {
	if from < 0 {
		from += int64(utf8.RuneCountInString(s))
		n = max(n, 0) + min(from, 0) // what would lie before the text
	}
	s = skipRunes(s, from)
	return s[:len(s)-len(skipRunes(s, n))]
}

// skipRunes returns s without its first n characters.
func skipRunes(s string, n int64) string {
	for ; n > 0 && len(s) > 0; n-- {
		if s[0] < utf8.RuneSelf {
			s = s[1:]
			continue
		}
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
	}
	return s
}
