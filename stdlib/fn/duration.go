package fn

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "duration", Group: "conversion", Signature: "duration(s: string) -> duration",
		Text:     "A text like `1h30m` or `250ms` as a duration; the units are ns us ms s m h d w. What cannot be read is a row error.",
		Examples: []spec.Example{{Code: `duration("1h30m")`, Want: "1h30m"}, {Code: `duration("1d")`, Want: "24h"}}},
	Overloads: []spec.Overload{
		{Sig: sig(durationT, durationT), Kernel: map1(func(d int64) int64 { return d })},
		{Sig: sig(durationT, stringT), Kernel: try1(parseDuration)},
	},
})

func parseDuration(s string) (int64, error) {
	if d, err := time.ParseDuration(s); err == nil {
		return int64(d), nil
	}
	// Days and weeks, which package time does not know: whole numbers, before the other units.
	rest, sum, sign := s, int64(0), int64(1)
	if strings.HasPrefix(rest, "-") {
		rest, sign = rest[1:], -1
	}
	bad := func() (int64, error) {
		return 0, fmt.Errorf("%q is no duration; it should look like 1h30m or 250ms", short(s))
	}
	for _, unit := range []struct {
		name byte
		size int64
	}{{'w', 7 * nsDay}, {'d', nsDay}} {
		k := 0
		for k < len(rest) && rest[k]-'0' <= 9 {
			k++
		}
		if k == 0 || k == len(rest) || rest[k] != unit.name {
			continue
		}
		n, err := strconv.ParseInt(rest[:k], 10, 64)
		if err != nil || n > (math.MaxInt64-sum)/unit.size {
			return bad()
		}
		sum += n * unit.size
		rest = rest[k+1:]
	}
	if sum == 0 && len(rest) == len(strings.TrimPrefix(s, "-")) {
		return bad()
	}
	if rest != "" {
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 || int64(d) > math.MaxInt64-sum {
			return bad()
		}
		sum += int64(d)
	}
	return sign * sum, nil
}
