package op

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// The rows of these benchmarks resemble bids: a few hot auctions and bidders among many, 100 µs apart.
const benchBatches = 256

var bidSchema = types.NewSchema(types.Field{Name: "auction", Type: types.T(types.Int)}, types.Field{Name: "bidder", Type: types.T(types.Int)},
	types.Field{Name: "price", Type: types.T(types.Int)}, types.Field{Name: "low", Type: types.T(types.Bool)}, types.Field{Name: "mid", Type: types.T(types.Bool)},
	types.Field{Name: "high", Type: types.T(types.Bool)}, types.Field{Name: "day", Type: types.T(types.String)}, types.Field{Name: "lowBidder", Type: types.T(types.Int).Null()})

func bids() []*vec.Batch {
	rng := rand.New(rand.NewPCG(1, 2))
	var out []*vec.Batch
	at := int64(0)
	for range benchBatches {
		b := &vec.Batch{N: vec.MaxRows, Time: make([]int64, vec.MaxRows)}
		for _, f := range bidSchema.Fields {
			b.Cols = append(b.Cols, vec.New(f.Type, vec.MaxRows))
		}
		b.Cols[7].Valid = vec.NewBitmap(vec.MaxRows)
		for i := range b.N {
			seq := at / 1000
			auction, bidder := seq/20-rng.Int64N(100), seq/60-rng.Int64N(1000)
			if rng.IntN(2) == 0 {
				auction = seq / 2000 * 100
			}
			if rng.IntN(4) > 0 {
				bidder = seq / 5000 * 100
			}
			price := rng.Int64N(2_000_000)
			b.Cols[0].Ints[i], b.Cols[1].Ints[i], b.Cols[2].Ints[i] = auction, bidder, price
			b.Cols[3].Bools[i], b.Cols[4].Bools[i], b.Cols[5].Bools[i] = price < 10_000, price >= 10_000 && price < 1_000_000, price >= 1_000_000
			b.Cols[6].Strs[i] = "2026-01-31"
			if b.Cols[7].Ints[i] = bidder; price < 1_000_000 {
				b.Cols[7].Valid.Set(i)
			}
			b.Time[i] = at * 100
			at += 1000
		}
		out = append(out, b)
	}
	return out
}

const second = int64(1_000_000_000)

func benchmarkAggregate(b *testing.B, window *types.Window, by []string, calls func(a *aggregateTest)) {
	all := bids()
	a := &aggregateTest{in: types.Stream{Schema: bidSchema, Time: true, Bounded: true}}
	a.args.Window = window
	a.by(by...)
	calls(a)
	out := a.finish(b)
	c := a.context(out)
	rows := 0
	b.ReportAllocs()
	for b.Loop() {
		op, err := newAggregate(c)
		require.NoError(b, err)
		d := &driver{op: op, out: exec.NewTap(func(_ int, it exec.Item) { rows += it.Batch.Rows() })}
		for _, bt := range all {
			if err := op.Process(0, bt, d.out); err != nil {
				b.Fatal(err)
			}
			d.advance(b, bt.Time[bt.N-1])
		}
		d.advance(b, types.MaxInstant)
		_ = op.Finish(d.out)
		d.settle(b)
	}
	require.Positive(b, rows)
	perRow(b)
}

func perRow(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(benchBatches*vec.MaxRows), "ns/row")
}

func BenchmarkAggregateTumbling(b *testing.B) { // q12
	b.Run("stage", func(b *testing.B) {
		benchmarkAggregate(b, &types.Window{Kind: types.Tumbling, Size: 10 * second}, []string{"bidder"}, func(a *aggregateTest) { a.call("count", nil) })
	})
	b.Run("loop", func(b *testing.B) {
		all := bids()
		type key struct{ bidder, start int64 }
		for b.Loop() {
			m := map[key]int64{}
			sum, w := int64(0), int64(0)
			for _, bt := range all {
				for i, k := range bt.Cols[1].Ints {
					m[key{k, bt.Time[i] / (10 * second)}]++
				}
				if now := bt.Time[bt.N-1] / (10 * second); now > w {
					for k, n := range m {
						if k.start < now {
							sum += n
							delete(m, k)
						}
					}
					w = now
				}
			}
		}
		perRow(b)
	})
}

func BenchmarkAggregateHopping(b *testing.B) { // q5
	b.Run("stage", func(b *testing.B) {
		benchmarkAggregate(b, &types.Window{Kind: types.Hopping, Size: 10 * second, Step: 2 * second}, []string{"auction"}, func(a *aggregateTest) { a.call("count", nil) })
	})
	b.Run("loop", func(b *testing.B) {
		all := bids()
		for b.Loop() {
			slices := map[int64]map[int64]int64{}
			sum, w := int64(0), int64(0)
			for _, bt := range all {
				for i, k := range bt.Cols[0].Ints {
					s := bt.Time[i] / (2 * second)
					m := slices[s]
					if m == nil {
						m = map[int64]int64{}
						slices[s] = m
					}
					m[k]++
				}
				for now := bt.Time[bt.N-1] / (2 * second); w < now; w++ {
					total := map[int64]int64{}
					for s := w - 4; s <= w; s++ {
						for k, n := range slices[s] {
							total[k] += n
						}
					}
					for _, n := range total {
						sum += n
					}
					delete(slices, w-4)
				}
			}
		}
		perRow(b)
	})
}

func BenchmarkAggregateMany(b *testing.B) { // q17
	b.Run("stage", func(b *testing.B) {
		benchmarkAggregate(b, nil, []string{"auction", "day"}, func(a *aggregateTest) {
			a.call("count", nil)
			a.call("count_if", []string{"low"})
			a.call("count_if", []string{"mid"})
			a.call("count_if", []string{"high"})
			a.call("min", []string{"price"})
			a.call("max", []string{"price"})
			a.call("avg", []string{"price"})
			a.call("sum", []string{"price"})
		})
	})
	b.Run("loop", func(b *testing.B) {
		all := bids()
		type key struct {
			auction int64
			day     string
		}
		type acc struct{ n, low, mid, high, min, max, sum int64 }
		for b.Loop() {
			m := map[key]*acc{}
			for _, bt := range all {
				for i, k := range bt.Cols[0].Ints {
					a := m[key{k, bt.Cols[6].Strs[i]}]
					if a == nil {
						a = &acc{min: 1 << 62, max: -1 << 62}
						m[key{k, bt.Cols[6].Strs[i]}] = a
					}
					p := bt.Cols[2].Ints[i]
					a.n++
					if bt.Cols[3].Bools[i] {
						a.low++
					}
					if bt.Cols[4].Bools[i] {
						a.mid++
					}
					if bt.Cols[5].Bools[i] {
						a.high++
					}
					a.min, a.max = min(a.min, p), max(a.max, p)
					a.sum += p
				}
			}
		}
		perRow(b)
	})
}

func BenchmarkAggregateDistinct(b *testing.B) { // q15
	b.Run("stage", func(b *testing.B) {
		benchmarkAggregate(b, nil, []string{"day"}, func(a *aggregateTest) {
			a.call("count", nil)
			a.call("distinct", []string{"bidder"})
			a.call("distinct", []string{"lowBidder"})
			a.call("distinct", []string{"auction"})
			a.call("distinct", []string{"price"})
		})
	})
	b.Run("loop", func(b *testing.B) {
		all := bids()
		type acc struct {
			n    int64
			sets [4]map[int64]bool
		}
		for b.Loop() {
			m := map[string]*acc{}
			for _, bt := range all {
				for i, k := range bt.Cols[6].Strs {
					a := m[k]
					if a == nil {
						a = &acc{}
						for s := range a.sets {
							a.sets[s] = map[int64]bool{}
						}
						m[k] = a
					}
					a.n++
					a.sets[0][bt.Cols[1].Ints[i]] = true
					if !bt.Cols[7].Null(i) {
						a.sets[1][bt.Cols[1].Ints[i]] = true
					}
					a.sets[2][bt.Cols[0].Ints[i]] = true
					a.sets[3][bt.Cols[2].Ints[i]] = true
				}
			}
		}
		perRow(b)
	})
}

func BenchmarkAggregateSession(b *testing.B) { // q11
	b.Run("stage", func(b *testing.B) {
		benchmarkAggregate(b, &types.Window{Kind: types.Session, Size: 10 * second}, []string{"bidder"}, func(a *aggregateTest) { a.call("count", nil) })
	})
}

func BenchmarkAggregateTotal(b *testing.B) {
	b.Run("stage", func(b *testing.B) {
		benchmarkAggregate(b, nil, nil, func(a *aggregateTest) { a.call("count", nil); a.call("sum", []string{"price"}) })
	})
	b.Run("loop", func(b *testing.B) {
		all := bids()
		for b.Loop() {
			n, sum := 0, int64(0)
			for _, bt := range all {
				for _, p := range bt.Cols[2].Ints {
					n++
					sum += p
				}
			}
			if sum == 0 || n == 0 {
				b.Fatal(n, sum)
			}
		}
		perRow(b)
	})
}
