package fn

import (
	"time"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(clockPart(spec.Doc{Name: "yearday",
	Text:     "The day of the year of a time, from 1.",
	Examples: []spec.Example{{Code: "yearday(@2026-02-01)", Want: "32"}}},
	map1(func(t int64) int64 {
		d := daysOf(t)
		y, _, _ := types.DateOf(d)
		return d - types.DayOf(y, 1, 1) + 1
	}), func(t time.Time) int64 { return int64(t.YearDay()) }))
