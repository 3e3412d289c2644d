package agg

import (
	"cmp"
	"errors"
	"slices"

	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Agg{
	Doc: spec.Doc{Name: "top_k", Group: "counting", Signature: "top_k(x, k: int) -> [{value, count}]",
		Text: "The k most frequent values that are not null, each with how often it occurs, most frequent first; of equally frequent ones the smaller comes first. Over nothing it is null.",
		Examples: []spec.Example{{
			Code: `rows([{a: "x"}, {a: "y"}, {a: "y"}, {a: "z"}]) |> aggregate top = top_k(a, 2)`,
			Want: `{"top":[{"value":"y","count":2},{"value":"x","count":1}]}`}}},
	AggSig: types.AggSig{Keeps: types.KeepsValues, Params: []types.AggParam{{Name: "x"}, {Name: "k", Kinds: ints, Constant: true}}, Retracts: true,
		Result: func(args []*types.Expr) (types.Type, error) {
			if _, err := topOf(args); err != nil {
				return types.Type{}, err
			}
			v := types.Field{Name: "value", Type: args[0].Type.NotNull()}
			return types.ListOf(types.RecordOf(v, types.Field{Name: "count", Type: types.T(types.Int)})).OrNull(args[0].Type.Nullable), nil
		}},
	New: func(call *types.AggCall) (spec.Aggregate, error) {
		k, err := topOf(call.Args)
		v := call.Args[0].Type.NotNull()
		return &topK{distinct: distinct{sets: state.NewSets([]types.Type{v}, true), t: v}, k: k, result: call.Result}, err
	},
})

func topOf(args []*types.Expr) (int, error) {
	k, ok := args[1].Value.(int64)
	if !ok || k < 1 || k > 1<<31-1 {
		return 0, errors.New("k must be a constant int above 0")
	}
	return int(k), nil
}

// topK keeps the values of a group as a multiset.
type topK struct {
	distinct
	k      int
	result types.Type
}

// OnlyAdds changes nothing: the counts are asked for.
func (t *topK) OnlyAdds() {}

func (t *topK) Result(g spec.Groups) *vec.Column {
	out := &vec.Column{Type: t.result, Offs: make([]int32, len(g.IDs)+1)}
	counted := vec.New(types.T(types.Int), 0)
	var words, chosen []uint64
	var counts []int64
	var order []int
	for i := range g.IDs {
		words, counts = t.sets.Entries(g.Words(i), words[:0]), t.sets.Counts(g.Words(i), counts[:0])
		order = order[:0]
		for e, n := range counts {
			if n > 0 {
				order = append(order, e)
			}
		}
		if len(order) == 0 {
			if out.Valid == nil {
				out.Valid = vec.FullBitmap(len(g.IDs))
			}
			out.Valid.Clear(i)
		}
		values := t.sets.Values(words)[0]
		slices.SortFunc(order, func(x, y int) int {
			return cmp.Or(cmp.Compare(counts[y], counts[x]), vec.Compare(values, x, values, y))
		})
		for _, e := range order[:min(t.k, len(order))] {
			chosen, counted.Ints = append(chosen, words[e]), append(counted.Ints, counts[e])
		}
		out.Offs[i+1] = int32(len(chosen))
	}
	out.Kids = []*vec.Column{{Type: *t.result.Elem, Kids: []*vec.Column{t.sets.Values(chosen)[0], counted}}}
	return out
}

// PartialTypes are the values, and how often each occurs.
func (t *topK) PartialTypes() []types.Type {
	return []types.Type{types.ListOf(t.t), types.ListOf(types.T(types.Int))}
}

func (t *topK) Partial(g spec.Groups) []*vec.Column {
	values := t.distinct.Partial(g)[0]
	counts := &vec.Column{Type: types.ListOf(types.T(types.Int)), Offs: values.Offs, Kids: []*vec.Column{{Type: types.T(types.Int)}}}
	for i := range g.IDs {
		counts.Kids[0].Ints = t.sets.Counts(g.Words(i), counts.Kids[0].Ints)
	}
	return []*vec.Column{values, counts}
}

func (t *topK) AddPartial(g spec.Groups, in *spec.Input) {
	list, counts := in.Args[0], in.Args[1].Kids[0].Ints
	for i, r := range in.Rows {
		t.sets.AddList(g.Words(i), list.Kids[0], counts, int(list.Offs[r]), int(list.Offs[r+1]))
	}
}

func (t *topK) Adopt(g spec.Groups, other spec.Aggregate) { t.adopt(g, &other.(*topK).distinct) }
