package fn

import (
	"time"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(clockPart(spec.Doc{Name: "week",
	Text:     "The ISO week of the year of a time, 1 to 53: weeks start on Monday, the first has the year's first Thursday.",
	Examples: []spec.Example{{Code: "week(@2026-01-01)", Want: "1"}, {Code: "week(@2027-01-03)", Want: "53"}}},
	map1(func(t int64) int64 {
		d := daysOf(t)
		thursday := d - types.FloorMod(d+3, 7) + 3
		y, _, _ := types.DateOf(thursday)
		return (thursday-types.DayOf(y, 1, 1))/7 + 1
	}), func(t time.Time) int64 { _, w := t.ISOWeek(); return int64(w) }))
