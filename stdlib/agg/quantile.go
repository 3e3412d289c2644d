package agg

import (
	"errors"
	"math"
	"slices"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Agg{
	Doc: spec.Doc{Name: "quantile", Group: "numbers", Signature: "quantile(x: float | duration, p: float) -> float | duration",
		Text: "The value below which the part p (from 0 to 1) of the values lies, exactly, with linear interpolation between neighbours. It remembers every value; `approx_quantile` does not. Over nothing it is null.",
		Examples: []spec.Example{{
			Code: `rows([{a: 1}, {a: 2}, {a: 4}]) |> aggregate p75 = quantile(a, 0.75)`,
			Want: `{"p75":3}`}}},
	AggSig: types.AggSig{Keeps: types.KeepsRows, Instead: "approx_quantile(x, p)", Params: quantileParams, Result: quantileType},
	New: func(call *types.AggCall) (spec.Aggregate, error) {
		p, err := part(call.Args[1])
		return newQuantile(call, p), err
	},
})

var quantileParams = []types.AggParam{{Name: "x", Kinds: []types.Kind{types.Float, types.Duration}}, {Name: "p", Kinds: floats, Constant: true}}

func quantileType(args []*types.Expr) (types.Type, error) {
	if _, err := part(args[1]); err != nil {
		return types.Type{}, err
	}
	return args[0].Type, nil
}

// part returns the constant p of a quantile.
func part(e *types.Expr) (float64, error) {
	for e.Op == types.OpCast {
		e = e.Args[0]
	}
	var p float64
	switch v := e.Value.(type) {
	case float64:
		p = v
	case int64:
		p = float64(v)
	default:
		return 0, errors.New("the part p must be a constant number from 0 to 1")
	}
	if !(p >= 0 && p <= 1) {
		return 0, errors.New("the part p must be from 0 to 1: the 95th percentile is 0.95")
	}
	return p, nil
}

// quantile keeps all values of a group in a list.
type quantile struct {
	p     float64
	lists *state.Lists
	t     types.Type
	buf   []float64
	ints  []int64
}

func newQuantile(call *types.AggCall, p float64) *quantile {
	return &quantile{p: p, lists: state.NewLists(1), t: call.Result}
}

func (q *quantile) Words() int { return state.ListWords }

func (q *quantile) Add(g spec.Groups, in *spec.Input) {
	g, rows := in.NotNull(g)
	col := in.Args[0]
	if col.Ints != nil {
		for i, r := range rows {
			q.lists.Append(g.Words(i))[0] = uint64(col.Ints[r])
		}
		return
	}
	for i, r := range rows {
		q.lists.Append(g.Words(i))[0] = math.Float64bits(col.Floats[r])
	}
}

func (q *quantile) Merge(to, from spec.Groups) {
	for i := range to.IDs {
		w := to.Words(i)
		var part []uint64 // Append may move what Each reads
		q.lists.Each(from.Words(i), func(e []uint64) { part = append(part, e[0]) })
		for _, v := range part {
			q.lists.Append(w)[0] = v
		}
	}
}

func (q *quantile) Result(g spec.Groups) *vec.Column {
	if q.t.Kind == types.Duration {
		return vecOf(q.t, g, func(w []uint64) bool { return w[1] != 0 }, func(c *vec.Column, i int, w []uint64) {
			q.ints = q.ints[:0]
			q.lists.Each(w, func(e []uint64) { q.ints = append(q.ints, int64(e[0])) })
			slices.Sort(q.ints)
			lo, hi, f := q.place(len(q.ints))
			c.Ints[i] = q.ints[lo] + int64(math.Round(float64(q.ints[hi]-q.ints[lo])*f))
		})
	}
	return vecOf(q.t, g, func(w []uint64) bool { return w[1] != 0 }, func(c *vec.Column, i int, w []uint64) {
		q.buf = q.buf[:0]
		nan := 0
		q.lists.Each(w, func(e []uint64) {
			if v := math.Float64frombits(e[0]); v == v {
				q.buf = append(q.buf, v)
			} else {
				nan++
			}
		})
		slices.Sort(q.buf)
		for range nan { // above all numbers
			q.buf = append(q.buf, math.NaN())
		}
		lo, hi, f := q.place(len(q.buf))
		if x, y := q.buf[lo], q.buf[hi]; f == 0 || x == y {
			c.Floats[i] = x
		} else {
			c.Floats[i] = x + (y-x)*f
		}
	})
}

// place returns between which of n sorted values the quantile lies, and how far on.
func (q *quantile) place(n int) (lo, hi int, f float64) {
	at := q.p * float64(n-1)
	lo = int(at)
	return lo, min(lo+1, n-1), at - float64(lo)
}

func (q *quantile) Free(g spec.Groups) {
	for i := range g.IDs {
		q.lists.Free(g.Words(i), nil)
	}
}

func (q *quantile) Save(w *checkpoint.Writer) { q.lists.Freeze(w) }

func (q *quantile) Load(r *checkpoint.Reader) error { return q.lists.Load(r) }

func (q *quantile) Adopt(g spec.Groups, other spec.Aggregate) {
	for i := range g.IDs {
		q.lists.Adopt(g.Words(i), other.(*quantile).lists, func([]uint64) {})
	}
}
