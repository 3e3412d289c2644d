package fn

import (
	"time"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(clockPart(spec.Doc{Name: "weekday",
	Text:     "The day of the week of a time, from 1 for Monday to 7 for Sunday.",
	Examples: []spec.Example{{Code: "weekday(@2026-02-01)", Want: "7"}, {Code: "weekday(@2026-02-02)", Want: "1"}}},
	map1(func(t int64) int64 { return types.FloorMod(daysOf(t)+3, 7) + 1 }), func(t time.Time) int64 { return int64(t.Weekday()+6)%7 + 1 }))
