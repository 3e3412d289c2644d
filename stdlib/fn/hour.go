package fn

import (
	"time"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(clockPart(spec.Doc{Name: "hour",
	Text:     "The hour of a time, 0 to 23.",
	Examples: []spec.Example{{Code: "hour(@2026-01-31T17:05:09Z)", Want: "17"}, {Code: `hour(@2026-01-31T17:05:09Z, "Europe/Berlin")`, Want: "18"}}},
	hourUTC, func(t time.Time) int64 { return int64(t.Hour()) }))

func hourUTC(c *eval.Call) {
	in, out := c.Args[0].Col.Ints, c.Out.Ints
	if c.Sel == nil {
		in = in[:len(out)]
		for i, t := range in {
			out[i] = hourOf(t)
		}
		return
	}
	for _, i := range c.Sel {
		out[i] = hourOf(in[i])
	}
}

func hourOf(t int64) int64 {
	if t >= 0 {
		return int64(uint32(uint64(t)/uint64(nsHour)) % 24)
	}
	return types.FloorMod(t, nsDay) / nsHour
}
