package agg

import (
	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Agg{
	Doc: spec.Doc{Name: "distinct", Group: "counting", Signature: "distinct(x) -> int",
		Text: "The number of distinct values that are not null, exactly. It remembers every value; `approx_distinct` does not. Over nothing it is 0.",
		Examples: []spec.Example{{
			Code: `rows([{a: "x"}, {a: "y"}, {a: "x"}, {a: nil}]) |> aggregate n = distinct(a)`,
			Want: `{"n":2}`}}},
	AggSig: types.AggSig{Keeps: types.KeepsValues, Instead: "approx_distinct(x)", Params: []types.AggParam{{Name: "x"}}, Result: always(types.T(types.Int)), Counts: true, Retracts: true},
	New: func(call *types.AggCall) (spec.Aggregate, error) {
		t := call.Args[0].Type.NotNull()
		return &distinct{sets: state.NewSets([]types.Type{t}, true), t: t}, nil
	},
})

// distinct keeps the values of a group as a set, with counts if rows may be taken back.
type distinct struct {
	sets *state.Sets
	t    types.Type

	// Scratch.
	arg  vec.Column // see values
	args [1]*vec.Column
}

// OnlyAdds tells that no counts are needed.
func (d *distinct) OnlyAdds() { d.sets = state.NewSets([]types.Type{d.t}, false) }

func (d *distinct) Words() int { return state.SetWords }

func (d *distinct) Add(g spec.Groups, in *spec.Input) {
	g, rows := in.NotNull(g)
	d.sets.Add(g.Rows, g.Off, g.IDs, in.N, rows, d.values(in), 1)
}

// values is the argument as a column without nulls: of its rows only those are read that are not null, and sets find
// them faster so.
func (d *distinct) values(in *spec.Input) []*vec.Column {
	d.arg = *in.Args[0]
	d.arg.Valid = nil
	d.args[0] = &d.arg
	return d.args[:]
}

func (d *distinct) Retract(g spec.Groups, in *spec.Input) {
	g, rows := in.NotNull(g)
	d.sets.Add(g.Rows, g.Off, g.IDs, in.N, rows, d.values(in), -1)
}

func (d *distinct) Merge(to, from spec.Groups) {
	for i := range to.IDs {
		d.sets.Merge(to.Words(i), from.Words(i))
	}
}

func (d *distinct) Result(g spec.Groups) *vec.Column {
	out := vec.New(types.T(types.Int), len(g.IDs))
	for i := range g.IDs {
		out.Ints[i] = d.sets.Distinct(g.Words(i))
	}
	return out
}

func (d *distinct) Free(g spec.Groups) {
	for i := range g.IDs {
		d.sets.Free(g.Words(i))
	}
}

// PartialTypes is the list of the distinct values.
func (d *distinct) PartialTypes() []types.Type { return []types.Type{types.ListOf(d.t)} }

func (d *distinct) Partial(g spec.Groups) []*vec.Column {
	values, offs := d.sets.Lists(len(g.IDs), g.Words)
	return []*vec.Column{{Type: types.ListOf(d.t), Offs: offs, Kids: []*vec.Column{values}}}
}

// Values returns how many values are in the sets.
func (d *distinct) Values(g spec.Groups) int {
	n := 0
	for i := range g.IDs {
		n += d.sets.Len(g.Words(i))
	}
	return n
}

func (d *distinct) AddPartial(g spec.Groups, in *spec.Input) {
	list := in.Args[0]
	for i, r := range in.Rows {
		d.sets.AddList(g.Words(i), list.Kids[0], nil, int(list.Offs[r]), int(list.Offs[r+1]))
	}
}

func (d *distinct) Save(w *checkpoint.Writer) { d.sets.Freeze(w) }

func (d *distinct) Load(r *checkpoint.Reader) error { return d.sets.Load(r) }

func (d *distinct) Adopt(g spec.Groups, other spec.Aggregate) { d.adopt(g, other.(*distinct)) }

func (d *distinct) adopt(g spec.Groups, other *distinct) {
	for i := range g.IDs {
		d.sets.Adopt(g.Words(i), other.sets)
	}
}
