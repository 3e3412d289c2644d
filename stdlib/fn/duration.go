package fn

import (
	"fmt"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "duration", Group: "conversion", Signature: "duration(s: string) -> duration",
		Text:     "A text like `1h30m` or `250ms` as a duration; the units are ns us ms s m h d w. What cannot be read is a row error.",
		Examples: []spec.Example{{Code: `duration("1h30m")`, Want: "1h30m"}, {Code: `duration("1d")`, Want: "24h"}}},
	Overloads: []spec.Overload{
		{Sig: sig(durationT, durationT), Kernel: map1(func(d int64) int64 { return d })},
		{Sig: parses(sig(durationT, stringT)), Kernel: try1(parseDuration)},
	},
})

func parseDuration(s string) (int64, error) {
	if d, ok := types.ParseDuration(s); ok {
		return d, nil
	}
	return 0, fmt.Errorf("%q is no duration; it should look like 1h30m or 250ms", short(s))
}
