package agg

import (
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Agg{
	Doc: spec.Doc{Name: "sum_if", Group: "numbers", Signature: "sum_if(x: int | float | duration, cond: bool) -> same",
		Text: "Add up the values of the rows for which a condition is true. It is null if there is no such value.",
		Examples: []spec.Example{{
			Code: `rows([{a: 1, ok: true}, {a: 2, ok: false}, {a: 4, ok: true}]) |> aggregate total = sum_if(a, ok)`,
			Want: `{"total":5}`}}},
	AggSig: types.AggSig{Params: []types.AggParam{{Name: "x", Kinds: summed}, {Name: "cond", Kinds: bools}}, Retracts: true,
		Result: func(args []*types.Expr) (types.Type, error) { return args[0].Type.Null(), nil }},
	New: func(call *types.AggCall) (spec.Aggregate, error) {
		sum, err := newSum(call)
		if err != nil {
			return nil, err
		}
		return &sumIf{Partialer: sum.(spec.Partialer)}, nil
	},
})

// sumIf is a sum over the rows for which the second argument is true.
type sumIf struct {
	spec.Partialer
	t truths
}

func (s *sumIf) Add(g spec.Groups, in *spec.Input) { s.Partialer.Add(s.t.narrow(g, in)) }

func (s *sumIf) Retract(g spec.Groups, in *spec.Input) {
	s.Partialer.(spec.Retractor).Retract(s.t.narrow(g, in))
}
