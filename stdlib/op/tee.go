package op

import (
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Stage{
	Doc: spec.Doc{Name: "tee", Group: "flow", Signature: "tee TARGET",
		Text: "Send the rows to a target, too, and go on with them.",
		Examples: []spec.Example{{
			Code: "rows([{n: 1}, {n: 2}]) |> tee seen |> where n > 1 |> into blackhole()\nseen |> aggregate rows = count()",
			Want: `{"rows":2}`}}},
	StageSig: types.StageSig{Items: types.Sink, Output: same},
	Traits:   func([]types.Stream, *types.StageArgs) spec.Traits { return spec.Traits{RowWise: true, Passes: true} },
})
