package fn

import (
	"time"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(clockPart(spec.Doc{Name: "millisecond",
	Text:     "The milliseconds of a time within its second, 0 to 999.",
	Examples: []spec.Example{{Code: "millisecond(@2026-01-31T17:05:09.250Z)", Want: "250"}}},
	map1(func(t int64) int64 { return types.FloorMod(t, nsSecond) / 1e6 }), func(t time.Time) int64 { return int64(t.Nanosecond() / 1e6) }))
