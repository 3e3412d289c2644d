package op

import (
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Stage{
	Doc: spec.Doc{Name: "into", Group: "flow", Signature: "into TARGET",
		Text: "Send the rows to a connector, a sink or a stream, and end the pipeline. A name that nothing else defines is thereby a new stream; several pipelines may go into it if their columns are equal.",
		Examples: []spec.Example{{
			Code: "rows([{n: 1}]) |> into all\nrows([{n: 2}]) |> into all\nall |> aggregate total = sum(n)",
			Want: `{"total":3}`}}},
	StageSig: types.StageSig{Items: types.Sink, Ends: true, Output: same},
	Traits:   func([]types.Stream, *types.StageArgs) spec.Traits { return spec.Traits{RowWise: true, Passes: true} },
})
