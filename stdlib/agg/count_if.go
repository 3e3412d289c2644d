package agg

import (
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Agg{
	Doc: spec.Doc{Name: "count_if", Group: "counting", Signature: "count_if(cond: bool) -> int",
		Text: "Count the rows for which a condition is true. False and null do not count; over nothing it is 0.",
		Examples: []spec.Example{{
			Code: `rows([{a: 1}, {a: 5}, {a: nil}]) |> aggregate big = count_if(a > 3)`,
			Want: `{"big":1}`}}},
	AggSig: types.AggSig{Params: []types.AggParam{{Name: "cond", Kinds: bools}}, Result: always(types.T(types.Int)), Counts: true, Retracts: true},
	New:    func(*types.AggCall) (spec.Aggregate, error) { return countIf{}, nil },
})

// countIf is a counter of rows for which the argument is true.
type countIf struct{ counter }

func (c countIf) Add(g spec.Groups, in *spec.Input) { c.add(g, in, 1) }

func (c countIf) Retract(g spec.Groups, in *spec.Input) { c.add(g, in, ^uint64(0)) }

func (countIf) add(g spec.Groups, in *spec.Input, one uint64) {
	g, rows := in.NotNull(g)
	cond := in.Args[0].Bools
	if g.One && len(rows) > 0 {
		n := uint64(0)
		for _, r := range rows {
			if cond[r] {
				n++
			}
		}
		*g.Rows.Word(g.IDs[0], g.Off) += n * one
		return
	}
	for i, r := range rows { // without a branch: conditions are hard to foresee
		add := uint64(0)
		if cond[r] {
			add = one
		}
		*g.Rows.Word(g.IDs[i], g.Off) += add
	}
}

// truths narrows an input, whose last argument is a condition, to the rows for which it is true and no argument is
// null, and leaves the condition out.
type truths struct {
	in  spec.Input
	ids []uint32
}

func (t *truths) narrow(g spec.Groups, in *spec.Input) (spec.Groups, *spec.Input) {
	g, rows := in.NotNull(g)
	k := len(in.Args) - 1
	cond := in.Args[k].Bools
	t.in.N, t.in.Args, t.in.Time, t.in.Pos = in.N, in.Args[:k], in.Time, in.Pos
	t.in.Rows, t.ids = t.in.Rows[:0], t.ids[:0]
	for i, r := range rows {
		if cond[r] {
			t.in.Rows = append(t.in.Rows, r)
			t.ids = append(t.ids, g.IDs[i])
		}
	}
	return spec.Groups{Rows: g.Rows, Off: g.Off, IDs: t.ids, One: g.One}, &t.in
}

// vecOf gives the results of groups that have something, null for the others.
func vecOf(t types.Type, g spec.Groups, has func(w []uint64) bool, set func(c *vec.Column, i int, w []uint64)) *vec.Column {
	out := vec.New(t, len(g.IDs))
	for i := range g.IDs {
		w := g.Words(i)
		if has(w) {
			set(out, i, w)
			continue
		}
		if out.Valid == nil {
			out.Valid = vec.FullBitmap(len(g.IDs))
		}
		out.Valid.Clear(i)
	}
	return out
}
