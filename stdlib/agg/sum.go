package agg

import (
	"math"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Agg{
	Doc: spec.Doc{Name: "sum", Group: "numbers", Signature: "sum(x: int | float | duration) -> same",
		Text: "Add up the values that are not null. A sum of ints wraps on overflow; over nothing it is null.",
		Examples: []spec.Example{{
			Code: `rows([{a: 1}, {a: 2}, {a: nil}]) |> aggregate total = sum(a)`,
			Want: `{"total":3}`}}},
	AggSig: types.AggSig{Params: []types.AggParam{{Name: "x", Kinds: summed}}, Result: sameType, Retracts: true},
	New:    newSum,
})

func newSum(call *types.AggCall) (spec.Aggregate, error) {
	if call.Args[0].Type.Kind == types.Float {
		return floatSum{t: call.Result}, nil
	}
	return intSum{t: call.Result}, nil
}

// intSum adds ints and durations: the sum, and how many there are.
type intSum struct {
	spec.Flat
	t types.Type
}

func (intSum) Words() int { return 2 }

func (intSum) Add(g spec.Groups, in *spec.Input) {
	g, sel := in.NotNull(g)
	v, rows, off := in.Args[0].Ints, g.Rows, g.Off
	if g.One && len(sel) > 0 {
		sum := int64(0)
		for _, r := range sel {
			sum += v[r]
		}
		w := g.Words(0)
		w[0] += uint64(sum)
		w[1] += uint64(len(sel))
		return
	}
	for i, id := range g.IDs {
		w := rows.At(id)[off : off+2]
		w[0] += uint64(v[sel[i]])
		w[1]++
	}
}

func (intSum) Retract(g spec.Groups, in *spec.Input) {
	g, sel := in.NotNull(g)
	v := in.Args[0].Ints
	for i := range g.IDs {
		w := g.Words(i)
		w[0] -= uint64(v[sel[i]])
		w[1]--
	}
}

func (intSum) Merge(to, from spec.Groups) {
	for i := range to.IDs {
		w, f := to.Words(i), from.Words(i)
		w[0] += f[0]
		w[1] += f[1]
	}
}

func (s intSum) Result(g spec.Groups) *vec.Column {
	return vecOf(s.t, g, func(w []uint64) bool { return w[1] != 0 }, func(c *vec.Column, i int, w []uint64) { c.Ints[i] = int64(w[0]) })
}

func (intSum) PartialTypes() []types.Type {
	return []types.Type{types.T(types.Int), types.T(types.Int)}
}

func (intSum) Partial(g spec.Groups) []*vec.Column { return wordColumns(g, 2) }

func (intSum) AddPartial(g spec.Groups, in *spec.Input) {
	sum, n := in.Args[0].Ints, in.Args[1].Ints
	for i := range g.IDs {
		w, r := g.Words(i), in.Rows[i]
		w[0] += uint64(sum[r])
		w[1] += uint64(n[r])
	}
}

// wordColumns returns the first n words of the groups as int columns.
func wordColumns(g spec.Groups, n int) []*vec.Column {
	out := make([]*vec.Column, n)
	for k := range out {
		out[k] = vec.New(types.T(types.Int), len(g.IDs))
		for i, id := range g.IDs {
			out[k].Ints[i] = int64(*g.Rows.Word(id, g.Off+k))
		}
	}
	return out
}

// intTypes returns n int types.
func intTypes(n int) []types.Type {
	ts := make([]types.Type, n)
	for i := range ts {
		ts[i] = types.T(types.Int)
	}
	return ts
}

// floatSum adds floats: the sum, what rounding lost of it, how many there are, and how many of them are infinite or no
// number. With these apart a row can be taken back exactly, a large or infinite one too.
type floatSum struct {
	spec.Flat
	t types.Type
}

const (
	fsSum = iota
	fsLost
	fsCount
	fsOdd // counts of NaN, +Inf and -Inf, 21 bits each
	fsWords
)

// One of each kind in the word of odd counts.
const (
	oneNaN  = 1
	onePos  = 1 << 21
	oneNeg  = 1 << 42
	oddMask = 1<<21 - 1
)

// oddOf returns the count that v adds to, 0 for an ordinary number.
func oddOf(v float64) uint64 {
	switch {
	case v-v == 0:
		return 0
	case v != v:
		return oneNaN
	case v > 0:
		return onePos
	}
	return oneNeg
}

// oddValue returns what a sum is that holds such numbers.
func oddValue(w uint64) float64 {
	pos, neg := w>>21&oddMask != 0, w>>42 != 0
	switch {
	case w&oddMask != 0 || pos && neg:
		return math.NaN()
	case pos:
		return math.Inf(1)
	}
	return math.Inf(-1)
}

// add adds v with Neumaier's compensation.
func (floatSum) add(w []uint64, v float64) {
	sum := math.Float64frombits(w[fsSum])
	t := sum + v
	lost := (sum - t) + v
	if math.Abs(sum) < math.Abs(v) {
		lost = (v - t) + sum
	}
	w[fsSum] = math.Float64bits(t)
	if lost != 0 {
		w[fsLost] = math.Float64bits(math.Float64frombits(w[fsLost]) + lost)
	}
}

func (floatSum) value(w []uint64) float64 {
	if w[fsOdd] != 0 {
		return oddValue(w[fsOdd])
	}
	sum, lost := math.Float64frombits(w[fsSum]), math.Float64frombits(w[fsLost])
	if lost-lost != 0 { // the sum itself has overflowed
		return sum
	}
	return sum + lost
}

func (floatSum) Words() int { return fsWords }

func (s floatSum) Add(g spec.Groups, in *spec.Input) {
	g, sel := in.NotNull(g)
	v, rows, off := in.Args[0].Floats, g.Rows, g.Off
	for i, id := range g.IDs {
		w := rows.At(id)[off : off+fsWords]
		x := v[sel[i]]
		w[fsCount]++
		if x-x != 0 {
			w[fsOdd] += oddOf(x)
			continue
		}
		s.add(w, x)
	}
}

func (s floatSum) Retract(g spec.Groups, in *spec.Input) {
	g, sel := in.NotNull(g)
	v := in.Args[0].Floats
	for i := range g.IDs {
		w := g.Words(i)
		x := v[sel[i]]
		w[fsCount]--
		if x-x != 0 {
			w[fsOdd] -= oddOf(x)
			continue
		}
		if s.add(w, -x); w[fsCount] == 0 {
			w[fsSum], w[fsLost] = 0, 0
		}
	}
}

func (s floatSum) merge(w []uint64, sum, lost float64, n, odd uint64) {
	s.add(w, sum)
	s.add(w, lost)
	w[fsCount] += n
	w[fsOdd] += odd
}

func (s floatSum) Merge(to, from spec.Groups) {
	for i := range to.IDs {
		f := from.Words(i)
		s.merge(to.Words(i), math.Float64frombits(f[fsSum]), math.Float64frombits(f[fsLost]), f[fsCount], f[fsOdd])
	}
}

func (s floatSum) Result(g spec.Groups) *vec.Column {
	return vecOf(s.t, g, func(w []uint64) bool { return w[fsCount] != 0 }, func(c *vec.Column, i int, w []uint64) { c.Floats[i] = s.value(w) })
}

func (floatSum) PartialTypes() []types.Type { return intTypes(fsWords) }

func (floatSum) Partial(g spec.Groups) []*vec.Column { return wordColumns(g, fsWords) }

func (s floatSum) AddPartial(g spec.Groups, in *spec.Input) {
	for i := range g.IDs {
		r := in.Rows[i]
		bits := func(k int) uint64 { return uint64(in.Args[k].Ints[r]) }
		s.merge(g.Words(i), math.Float64frombits(bits(fsSum)), math.Float64frombits(bits(fsLost)), bits(fsCount), bits(fsOdd))
	}
}
