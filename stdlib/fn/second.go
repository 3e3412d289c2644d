package fn

import (
	"time"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(clockPart(spec.Doc{Name: "second",
	Text:     "The second of a time, 0 to 59.",
	Examples: []spec.Example{{Code: "second(@2026-01-31T17:05:09Z)", Want: "9"}}},
	map1(func(t int64) int64 { return types.FloorMod(t, nsMinute) / nsSecond }), func(t time.Time) int64 { return int64(t.Second()) }))
