package fn

import (
	"time"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(clockPart(spec.Doc{Name: "quarter",
	Text:     "The quarter of the year of a time, 1 to 4.",
	Examples: []spec.Example{{Code: "quarter(@2026-05-31)", Want: "2"}}},
	map1(func(t int64) int64 { _, m, _ := types.DateOf(daysOf(t)); return int64(m+2) / 3 }), func(t time.Time) int64 { return int64(t.Month()+2) / 3 }))
