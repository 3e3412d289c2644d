package fn

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "len", Group: "text", Signature: "len(x: string | bytes | list | record) -> int",
		Text: "How long a value is: a text in characters, bytes in bytes, a list in elements, a record in fields. " +
			"Of JSON (`any`) the text, the array or the object counts.",
		Examples: []spec.Example{{Code: `len("añb")`, Want: "3"}, {Code: "len([1, 2])", Want: "2"}, {Code: "len({a: 1})", Want: "1"}}},
	Overloads: []spec.Overload{
		{Sig: sig(intT, stringT), Kernel: func(c *eval.Call) {
			in, out := c.Args[0].Col.Strs, c.Out.Ints
			each(c, func(i int) { out[i] = int64(utf8.RuneCountInString(in[i])) })
		}},
		{Sig: sig(intT, bytesT), Kernel: map1(func(s string) int64 { return int64(len(s)) })},
		{Sig: sig(intT, listT), Kernel: func(c *eval.Call) {
			offs, out := c.Args[0].Col.Offs, c.Out.Ints
			each(c, func(i int) { out[i] = int64(offs[i+1] - offs[i]) })
		}},
		{Sig: sig(intT, types.Type{Kind: types.Record}), Kernel: func(c *eval.Call) {
			n := int64(len(c.Args[0].Col.Type.Fields))
			each(c, func(i int) { c.Out.Ints[i] = n })
		}},
		{Sig: rare(sig(intT, anyT)), Kernel: try1(lenJSON)},
	},
})

func lenJSON(s string) (int64, error) {
	n := int64(0)
	switch s[:min(1, len(s))] {
	case "[":
		for range eval.JSONElements(s) {
			n++
		}
	case "{":
		for range eval.JSONMembers(s) {
			n++
		}
	case `"`:
		var text string
		if err := json.Unmarshal([]byte(s), &text); err != nil {
			return 0, fmt.Errorf("`len` of bad JSON: %w", err)
		}
		n = int64(utf8.RuneCountInString(text))
	default:
		return 0, fmt.Errorf("`len` takes a text, an array or an object, not %s", short(s))
	}
	return n, nil
}
