package fn

import (
	"time"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(clockPart(spec.Doc{Name: "year",
	Text:     "The year of a time.",
	Examples: []spec.Example{{Code: "year(@2026-01-31)", Want: "2026"}, {Code: "year(@1969-12-31T23:59:59Z)", Want: "1969"}}},
	map1(func(t int64) int64 { y, _, _ := types.DateOf(daysOf(t)); return int64(y) }), func(t time.Time) int64 { return int64(t.Year()) }))
