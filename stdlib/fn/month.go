package fn

import (
	"time"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(clockPart(spec.Doc{Name: "month",
	Text:     "The month of a time, 1 to 12.",
	Examples: []spec.Example{{Code: "month(@2026-01-31)", Want: "1"}}},
	map1(func(t int64) int64 { _, m, _ := types.DateOf(daysOf(t)); return int64(m) }), func(t time.Time) int64 { return int64(t.Month()) }))
