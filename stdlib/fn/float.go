package fn

import (
	"fmt"
	"strconv"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "float", Group: "conversion", Signature: "float(x: int | string | any) -> float",
		Text:     "The value as a float. A text that is no number is a row error.",
		Examples: []spec.Example{{Code: `float("2.5")`, Want: "2.5"}, {Code: "float(2)", Want: "2.0"}}},
	Overloads: []spec.Overload{
		{Sig: sig(floatT, floatT), Kernel: map1(func(x float64) float64 { return x })},
		{Sig: sig(floatT, intT), Kernel: map1(func(x int64) float64 { return float64(x) })},
		{Sig: parses(sig(floatT, stringT)), Kernel: try1(textToFloat)},
		{Sig: parses(sig(floatT, anyT)), Kernel: try1(func(s string) (float64, error) {
			if text, ok := jsonText(s); ok {
				return textToFloat(text)
			}
			return textToFloat(s)
		})},
	},
})

func textToFloat(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number", short(s))
	}
	return f, nil
}
