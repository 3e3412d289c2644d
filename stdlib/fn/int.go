package fn

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "int", Group: "conversion", Signature: "int(x: float | string | time | duration | any) -> int",
		Text: "The value as an int: a float is cut toward zero, a time becomes nanoseconds since 1970, a duration nanoseconds. " +
			"A text that is no int, or a float that no int holds, is a row error.",
		Examples: []spec.Example{{Code: `int("42")`, Want: "42"}, {Code: "int(-2.7)", Want: "-2"}, {Code: "int(1ms)", Want: "1000000"}}},
	Overloads: []spec.Overload{
		{Sig: sig(intT, intT), Kernel: map1(func(x int64) int64 { return x })},
		{Sig: rare(sig(intT, floatT)), Kernel: try1(floatToInt)},
		{Sig: parses(sig(intT, stringT)), Kernel: try1(textToInt)},
		{Sig: sig(intT, durationT), Kernel: map1(func(x int64) int64 { return x })},
		{Sig: sig(intT, timeT), Kernel: map1(func(x int64) int64 { return x })},
		{Sig: parses(sig(intT, anyT)), Kernel: try1(func(s string) (int64, error) {
			if n, err := strconv.ParseInt(s, 10, 64); err == nil {
				return n, nil
			}
			if text, ok := jsonText(s); ok {
				return textToInt(text)
			}
			f, err := strconv.ParseFloat(s, 64)
			if err != nil {
				return 0, fmt.Errorf("%s is no int", short(s))
			}
			return floatToInt(f)
		})},
	},
})

func floatToInt(f float64) (int64, error) {
	if !(f >= -1<<63 && f < 1<<63) {
		return 0, fmt.Errorf("no int holds %v", f)
	}
	return int64(f), nil
}

func textToInt(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no int", short(s))
	}
	return n, nil
}

// jsonText returns the text of a JSON string.
func jsonText(s string) (string, bool) {
	if s == "" || s[0] != '"' {
		return "", false
	}
	var text string
	return text, json.Unmarshal([]byte(s), &text) == nil
}
