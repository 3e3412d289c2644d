package fn

import (
	"strings"
	"unicode/utf8"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "part", Group: "text", Signature: "part(s: string, separator: string, n: int) -> string?",
		Text:     "The n-th piece of the text between separators, from 0; -1 is the last. Null where there are fewer pieces.",
		Examples: []spec.Example{{Code: `part("https://ebb.dev/a/b", "/", 3)`, Want: `"a"`}, {Code: `part("a/b", "/", -1)`, Want: `"b"`}, {Code: `part("a/b", "/", 2)`, Want: "nil"}}},
	Overloads: []spec.Overload{{Sig: sig(stringT.Null(), stringT, stringT, intT), Kernel: func(c *eval.Call) {
		in, seps, ns, out := c.Args[0].Col.Strs, of[string](c.Args[1]), of[int64](c.Args[2]), c.Out.Strs
		each(c, func(i int) {
			var ok bool
			if sep := seps.at(i); len(sep) == 1 && sep[0] < utf8.RuneSelf {
				out[i], ok = partByte(in[i], sep[0], ns.at(i))
			} else {
				out[i], ok = partText(in[i], sep, ns.at(i))
			}
			if !ok {
				c.SetNull(i)
			}
		})
	}}},
})

// partByte is partText for a separator of one byte: pieces are short, and finding each by a call costs more.
func partByte(s string, sep byte, n int64) (string, bool) {
	if n < 0 {
		if n += 1 + int64(strings.Count(s, string(rune(sep)))); n < 0 {
			return "", false
		}
	}
	pattern := ones * uint64(sep)
	start := 0
	for k := 0; k < len(s); k += 8 {
		for marks := zeros(load(s, k) ^ pattern); marks != 0; marks &= marks - 1 {
			at := k + lowest(marks)
			if at >= len(s) {
				break // the zeros past the end
			}
			if n == 0 {
				return s[start:at], true
			}
			n--
			start = at + 1
		}
	}
	return s[start:], n == 0
}

func partText(s, sep string, n int64) (string, bool) {
	if sep == "" {
		return "", false
	}
	if n < 0 {
		n += 1 + int64(strings.Count(s, sep))
	}
	for ; n > 0; n-- {
		k := strings.Index(s, sep)
		if k < 0 {
			return "", false
		}
		s = s[k+len(sep):]
	}
	if n < 0 {
		return "", false
	}
	if k := strings.Index(s, sep); k >= 0 {
		s = s[:k]
	}
	return s, true
}
