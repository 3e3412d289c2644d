package agg

import (
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Agg{
	Doc: spec.Doc{Name: "count", Group: "counting", Signature: "count([x]) -> int",
		Text: "Count rows. With an argument only rows in which it is not null count. Over nothing it is 0.",
		Examples: []spec.Example{{
			Code: `rows([{a: 1}, {a: nil}]) |> aggregate all = count(), known = count(a)`,
			Want: `{"all":2,"known":1}`}}},
	AggSig: types.AggSig{Params: []types.AggParam{{Name: "x", Optional: true}}, Result: always(types.T(types.Int)), Counts: true, Retracts: true},
	New:    func(*types.AggCall) (spec.Aggregate, error) { return counter{}, nil },
})

// counter counts rows without nulls: one word.
type counter struct{ spec.Flat }

func (counter) Words() int { return 1 }

func (counter) Add(g spec.Groups, in *spec.Input) {
	g, _ = in.NotNull(g)
	rows, off := g.Rows, g.Off
	if g.One && len(g.IDs) > 0 {
		*rows.Word(g.IDs[0], off) += uint64(len(g.IDs))
		return
	}
	for _, id := range g.IDs {
		*rows.Word(id, off)++
	}
}

func (counter) Retract(g spec.Groups, in *spec.Input) {
	g, _ = in.NotNull(g)
	for _, id := range g.IDs {
		*g.Rows.Word(id, g.Off)--
	}
}

func (counter) Merge(to, from spec.Groups) {
	for i, id := range to.IDs {
		*to.Rows.Word(id, to.Off) += *from.Rows.Word(from.IDs[i], from.Off)
	}
}

func (counter) Result(g spec.Groups) *vec.Column {
	out := vec.New(types.T(types.Int), len(g.IDs))
	for i, id := range g.IDs {
		out.Ints[i] = int64(*g.Rows.Word(id, g.Off))
	}
	return out
}

func (counter) PartialTypes() []types.Type { return []types.Type{types.T(types.Int)} }

func (c counter) Partial(g spec.Groups) []*vec.Column { return []*vec.Column{c.Result(g)} }

func (counter) AddPartial(g spec.Groups, in *spec.Input) {
	n := in.Args[0].Ints
	for i, id := range g.IDs {
		*g.Rows.Word(id, g.Off) += uint64(n[in.Rows[i]])
	}
}
