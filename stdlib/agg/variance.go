package agg

import (
	"math"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Agg{
	Doc: spec.Doc{Name: "variance", Group: "numbers", Signature: "variance(x: float) -> float?",
		Text: "The variance of the sample: squared distances from the mean, added up and divided by one less than their number. It is null of fewer than two values.",
		Examples: []spec.Example{{
			Code: `rows([{a: 1}, {a: 3}, {a: 5}]) |> aggregate v = variance(a)`,
			Want: `{"v":4}`}}},
	AggSig: types.AggSig{Params: []types.AggParam{{Name: "x", Kinds: floats}}, Result: always(types.T(types.Float).Null()), Retracts: true},
	New: func(call *types.AggCall) (spec.Aggregate, error) {
		return moments{t: call.Result, finish: func(v float64) float64 { return v }}, nil
	},
})

// moments keeps how many numbers there are, their mean, the sum of squared distances from it, and how many are infinite
// or no number (which are not among the former).
type moments struct {
	spec.Flat
	t      types.Type
	finish func(variance float64) float64
}

const (
	mCount = iota
	mMean
	mSquares
	mOdd
	mWords
)

func (moments) Words() int { return mWords }

func (moments) Add(g spec.Groups, in *spec.Input) {
	g, sel := in.NotNull(g)
	v := in.Args[0].Floats
	for i, r := range sel {
		w, x := g.Words(i), v[r]
		if x-x != 0 {
			w[mOdd]++
			continue
		}
		w[mCount]++
		mean := math.Float64frombits(w[mMean])
		d := x - mean
		mean += d / float64(w[mCount])
		w[mMean] = math.Float64bits(mean)
		w[mSquares] = math.Float64bits(math.Float64frombits(w[mSquares]) + d*(x-mean))
	}
}

func (moments) Retract(g spec.Groups, in *spec.Input) {
	g, sel := in.NotNull(g)
	v := in.Args[0].Floats
	for i, r := range sel {
		w, x := g.Words(i), v[r]
		if x-x != 0 {
			w[mOdd]--
			continue
		}
		if w[mCount]--; w[mCount] == 0 {
			w[mMean], w[mSquares] = 0, 0
			continue
		}
		mean := math.Float64frombits(w[mMean])
		before := mean - (x-mean)/float64(int64(w[mCount]))
		w[mMean] = math.Float64bits(before)
		w[mSquares] = math.Float64bits(math.Float64frombits(w[mSquares]) - (x-before)*(x-mean))
	}
}

func (moments) merge(w []uint64, n uint64, mean, squares float64, odd uint64) {
	w[mOdd] += odd
	if n == 0 {
		return
	}
	a, b := float64(int64(w[mCount])), float64(int64(n))
	was := math.Float64frombits(w[mMean])
	d := mean - was
	w[mCount] += n
	w[mMean] = math.Float64bits(was + d*b/(a+b))
	w[mSquares] = math.Float64bits(math.Float64frombits(w[mSquares]) + squares + d*d*a*b/(a+b))
}

func (m moments) Merge(to, from spec.Groups) {
	for i := range to.IDs {
		f := from.Words(i)
		m.merge(to.Words(i), f[mCount], math.Float64frombits(f[mMean]), math.Float64frombits(f[mSquares]), f[mOdd])
	}
}

func (m moments) Result(g spec.Groups) *vec.Column {
	return vecOf(m.t, g, func(w []uint64) bool { return int64(w[mCount]+w[mOdd]) > 1 }, func(c *vec.Column, i int, w []uint64) {
		if w[mOdd] != 0 {
			c.Floats[i] = math.NaN()
			return
		}
		c.Floats[i] = m.finish(max(math.Float64frombits(w[mSquares]), 0) / float64(int64(w[mCount])-1))
	})
}

func (moments) PartialTypes() []types.Type { return intTypes(mWords) }

func (moments) Partial(g spec.Groups) []*vec.Column { return wordColumns(g, mWords) }

func (m moments) AddPartial(g spec.Groups, in *spec.Input) {
	for i := range g.IDs {
		r := in.Rows[i]
		bits := func(k int) uint64 { return uint64(in.Args[k].Ints[r]) }
		m.merge(g.Words(i), bits(mCount), math.Float64frombits(bits(mMean)), math.Float64frombits(bits(mSquares)), bits(mOdd))
	}
}
