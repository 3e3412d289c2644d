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

// moments keeps how many numbers there are, their sum and the sum of their squares in double precision twice over, and
// how many numbers cannot be added up (which are not among the former).
type moments struct {
	spec.Flat
	t      types.Type
	finish func(variance float64) float64
}

const (
	mCount   = iota
	mSum     // two words
	mSquares = mSum + 2
	mOdd     = mSquares + 2 // NaN and infinities in the lower half, numbers whose squares overflow in the upper
	mWords   = mOdd + 1

	hugeNumber = 1e150
	// noise is the share of the mean square below which a variance is rounding of the input and not spread.
	noise = 1e-26
)

func (moments) Words() int { return mWords }

func (m moments) Add(g spec.Groups, in *spec.Input) { m.add(g, in, 1) }

func (m moments) Retract(g spec.Groups, in *spec.Input) { m.add(g, in, -1) }

func (moments) add(g spec.Groups, in *spec.Input, sign int64) {
	g, sel := in.NotNull(g)
	v := in.Args[0].Floats
	for i, r := range sel {
		w, x := g.Words(i), v[r]
		if x-x != 0 {
			w[mOdd] += uint64(sign)
			continue
		}
		if math.Abs(x) > hugeNumber {
			w[mOdd] += uint64(sign) << 32
			continue
		}
		w[mCount] += uint64(sign)
		sq := square(x)
		if sign < 0 {
			x, sq = -x, double{-sq.hi, -sq.lo}
		}
		loadDouble(w[mSum:]).plus(double{x, 0}).store(w[mSum:])
		loadDouble(w[mSquares:]).plus(sq).store(w[mSquares:])
		if w[mCount] == 0 {
			clear(w[mSum:mOdd])
		}
	}
}

func (moments) merge(w, f []uint64) {
	w[mCount] += f[mCount]
	w[mOdd] += f[mOdd]
	loadDouble(w[mSum:]).plus(loadDouble(f[mSum:])).store(w[mSum:])
	loadDouble(w[mSquares:]).plus(loadDouble(f[mSquares:])).store(w[mSquares:])
}

func (m moments) Merge(to, from spec.Groups) {
	for i := range to.IDs {
		m.merge(to.Words(i), from.Words(i))
	}
}

// many returns how many values there are of any kind.
func (moments) many(w []uint64) int64 {
	return int64(w[mCount]) + int64(uint32(w[mOdd])) + int64(w[mOdd]>>32)
}

func (moments) variance(w []uint64) float64 {
	switch {
	case uint32(w[mOdd]) != 0:
		return math.NaN()
	case w[mOdd] != 0:
		return math.Inf(1)
	}
	n := float64(int64(w[mCount]))
	sq := loadDouble(w[mSquares:])
	spread := sq.minus(loadDouble(w[mSum:]).squared().by(n)).hi
	if spread <= noise*sq.hi {
		return 0
	}
	return spread / (n - 1)
}

func (m moments) Result(g spec.Groups) *vec.Column {
	return vecOf(m.t, g, func(w []uint64) bool { return m.many(w) > 1 }, func(c *vec.Column, i int, w []uint64) {
		c.Floats[i] = m.finish(m.variance(w))
	})
}

func (moments) PartialTypes() []types.Type { return intTypes(mWords) }

func (moments) Partial(g spec.Groups) []*vec.Column { return wordColumns(g, mWords) }

func (m moments) AddPartial(g spec.Groups, in *spec.Input) {
	var f [mWords]uint64
	for i := range g.IDs {
		for k := range f {
			f[k] = uint64(in.Args[k].Ints[in.Rows[i]])
		}
		m.merge(g.Words(i), f[:])
	}
}
