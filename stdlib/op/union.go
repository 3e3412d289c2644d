package op

import (
	"fmt"
	"strings"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Stage{
	Doc: spec.Doc{Name: "union", Group: "flow", Signature: "union STREAM, …",
		Text: "Add the rows of other streams. All must have the same columns by name, in any order; int goes with float and null with non-null.",
		Examples: []spec.Example{{
			Code: "stream a = rows([{n: 1}])\nstream b = rows([{n: 2}])\na |> union b |> aggregate total = sum(n)",
			Want: `{"total":3}`}}},
	StageSig: types.StageSig{Items: types.StreamList, Output: unionOutput},
	Traits:   func([]types.Stream, *types.StageArgs) spec.Traits { return spec.Traits{RowWise: true} },
})

func unionOutput(in []types.Stream, a *types.StageArgs) (types.Stream, error) {
	out := in[0]
	out.Schema.Fields = append([]types.Field(nil), out.Schema.Fields...)
	for k, s := range in[1:] {
		name := a.Inputs[k]
		var missing, extra []string
		for i, f := range out.Schema.Fields {
			at := s.Schema.Index(f.Name)
			if at < 0 {
				missing = append(missing, "`"+f.Name+"`")
				continue
			}
			t, err := types.Unify(f.Type, s.Schema.Fields[at].Type)
			if err != nil {
				return out, &types.StageError{Code: "T201", Clause: fmt.Sprintf("item:%d", k),
					Message: fmt.Sprintf("`union`: column `%s` is %s here and %s in `%s`", f.Name, f.Type, s.Schema.Fields[at].Type, name),
					Help:    "give both one type, for example with `derive " + types.QuoteName(f.Name) + " = …`"}
			}
			out.Schema.Fields[i].Type = t
		}
		for _, f := range s.Schema.Fields {
			if out.Schema.Index(f.Name) < 0 {
				extra = append(extra, "`"+f.Name+"`")
			}
		}
		if len(missing)+len(extra) > 0 {
			var parts []string
			if len(missing) > 0 {
				parts = append(parts, fmt.Sprintf("`%s` lacks %s", name, strings.Join(missing, ", ")))
			}
			if len(extra) > 0 {
				parts = append(parts, fmt.Sprintf("only `%s` has %s", name, strings.Join(extra, ", ")))
			}
			return out, &types.StageError{Code: "C332", Clause: fmt.Sprintf("item:%d", k), Message: "`union` takes streams with the same columns: " + strings.Join(parts, "; "),
				Help: "bring them to one shape with `select`, `drop` or `derive`"}
		}
		if s.Updating != out.Updating {
			return out, &types.StageError{Code: "W410", Clause: fmt.Sprintf("item:%d", k), Message: "`union` of an updating and an append-only stream", Help: "use `emit final` in the updating one"}
		}
		out.Time = out.Time && s.Time
		out.Bounded = out.Bounded && s.Bounded
		out.Windowed = out.Windowed && s.Windowed
	}
	return out, nil
}
