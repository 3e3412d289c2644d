package fn

import (
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "date", Group: "time", Signature: `date(s: string, layout: string = known ones, zone: string = "UTC") -> time`,
		Text:       "A text as a time, the same as `time`.",
		Deprecated: &types.Deprecated{Since: "0.1.0", Name: "time"},
		Examples:   []spec.Example{{Code: `date("2026-01-31")`, Want: "@2026-01-31T00:00:00Z"}, {Code: `date("31.01.2026", "02.01.2006")`, Want: "@2026-01-31T00:00:00Z"}}},
	Overloads: []spec.Overload{
		{Sig: parses(sig(timeT, stringT)), Kernel: try1(parseTime)},
		{Sig: parses(sig(timeT, stringT, stringT)), Kernel: try2(parseLayout)},
		{Sig: parses(types.Sig{Params: []types.Type{stringT, stringT, stringT}, Infer: zoned(timeT, 2)}), Kernel: parseInZone},
	},
})
