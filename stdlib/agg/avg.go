package agg

import (
	"math"
	"math/bits"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Agg{
	Doc: spec.Doc{Name: "avg", Group: "numbers", Signature: "avg(x: int | float | duration) -> float | duration",
		Text: "The mean of the values that are not null. It is a float, of durations a duration; over nothing it is null. The sum of ints behind it cannot overflow.",
		Examples: []spec.Example{{
			Code: `rows([{a: 1}, {a: 2}, {a: nil}]) |> aggregate mean = avg(a)`,
			Want: `{"mean":1.5}`}}},
	AggSig: types.AggSig{Params: []types.AggParam{{Name: "x", Kinds: summed}}, Retracts: true,
		Result: func(args []*types.Expr) (types.Type, error) {
			t := args[0].Type
			if t.Kind == types.Int {
				t = types.T(types.Float).OrNull(t.Nullable)
			}
			return t, nil
		}},
	New: func(call *types.AggCall) (spec.Aggregate, error) {
		if call.Args[0].Type.Kind == types.Float {
			return floatAvg{floatSum{t: call.Result}}, nil
		}
		return intAvg{t: call.Result}, nil
	},
})

// floatAvg is a float sum by its count.
type floatAvg struct{ floatSum }

func (a floatAvg) Result(g spec.Groups) *vec.Column {
	return vecOf(a.t, g, func(w []uint64) bool { return w[fsCount] != 0 }, func(c *vec.Column, i int, w []uint64) {
		c.Floats[i] = a.value(w) / float64(int64(w[fsCount]))
	})
}

// intAvg is the mean of ints or durations: a sum of 128 bits, and how many there are.
type intAvg struct {
	spec.Flat
	t types.Type
}

func (intAvg) Words() int { return 3 }

func (intAvg) Add(g spec.Groups, in *spec.Input) {
	g, sel := in.NotNull(g)
	v, rows, off := in.Args[0].Ints, g.Rows, g.Off
	if g.One && len(sel) > 0 {
		var sum [2]uint64
		for _, r := range sel {
			add128(sum[:], uint64(v[r]), uint64(v[r]>>63))
		}
		w := g.Words(0)
		add128(w, sum[0], sum[1])
		w[2] += uint64(len(sel))
		return
	}
	for i, id := range g.IDs {
		w := rows.At(id)[off : off+3]
		x := v[sel[i]]
		add128(w, uint64(x), uint64(x>>63))
		w[2]++
	}
}

func add128(w []uint64, lo, hi uint64) {
	var carry uint64
	w[0], carry = bits.Add64(w[0], lo, 0)
	w[1] += hi + carry
}

func (intAvg) Retract(g spec.Groups, in *spec.Input) {
	g, sel := in.NotNull(g)
	v := in.Args[0].Ints
	for i := range g.IDs {
		w := g.Words(i)
		x := v[sel[i]]
		var borrow uint64
		w[0], borrow = bits.Sub64(w[0], uint64(x), 0)
		w[1] -= uint64(x>>63) + borrow
		w[2]--
	}
}

func (intAvg) Merge(to, from spec.Groups) {
	for i := range to.IDs {
		w, f := to.Words(i), from.Words(i)
		add128(w, f[0], f[1])
		w[2] += f[2]
	}
}

func (a intAvg) Result(g spec.Groups) *vec.Column {
	return vecOf(a.t, g, func(w []uint64) bool { return w[2] != 0 }, func(c *vec.Column, i int, w []uint64) {
		mean := float128(w[0], w[1]) / float64(int64(w[2]))
		if c.Floats != nil {
			c.Floats[i] = mean
			return
		}
		c.Ints[i] = durationMean(w[0], w[1], int64(w[2]), mean)
	})
}

// float128 returns the signed 128-bit number as a float.
func float128(lo, hi uint64) float64 {
	if int64(hi) < 0 {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
		return -(float64(hi)*(1<<64) + float64(lo))
	}
	return float64(hi)*(1<<64) + float64(lo)
}

// durationMean divides exactly where it can, towards zero.
func durationMean(lo, hi uint64, n int64, about float64) int64 {
	neg := int64(hi) < 0
	if neg {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	if n <= 0 || hi >= uint64(n) {
		return int64(math.Round(about))
	}
	q, _ := bits.Div64(hi, lo, uint64(n))
	if neg {
		return -int64(q)
	}
	return int64(q)
}

func (intAvg) PartialTypes() []types.Type { return intTypes(3) }

func (intAvg) Partial(g spec.Groups) []*vec.Column { return wordColumns(g, 3) }

func (intAvg) AddPartial(g spec.Groups, in *spec.Input) {
	for i := range g.IDs {
		w, r := g.Words(i), in.Rows[i]
		add128(w, uint64(in.Args[0].Ints[r]), uint64(in.Args[1].Ints[r]))
		w[2] += uint64(in.Args[2].Ints[r])
	}
}
