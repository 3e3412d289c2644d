package fn

import (
	"time"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(clockPart(spec.Doc{Name: "day",
	Text:     "The day of the month of a time, 1 to 31.",
	Examples: []spec.Example{{Code: "day(@2026-01-31T17:05:09Z)", Want: "31"}, {Code: `day(@2026-01-31T23:30:00Z, "Europe/Berlin")`, Want: "1"}}},
	map1(func(t int64) int64 { _, _, d := types.DateOf(daysOf(t)); return int64(d) }), func(t time.Time) int64 { return int64(t.Day()) }))
