package exec

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/lang/types"
)

// gateBehind returns a gate with an input behind each list of sources.
func gateBehind(sources ...[]int) (*Gate, []*Channel) {
	g := NewGate()
	var cs []*Channel
	for _, list := range sources {
		cs = append(cs, NewChannel(DefaultLimits, func() {}, func() {}))
		g.Add(0, cs[len(cs)-1:], false, list)
	}
	return g, cs
}

// What the gate keeps input by input is what one finds by looking at all of them.
func TestGateOfManyInputs(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 1 + r.IntN(9)
		of := make([][]int, n)
		for i := range of {
			of[i] = [][]int{{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 1, 2}}[r.IntN(6)]
		}
		g, cs := gateBehind(of...)
		w, idle, ended := make([]types.Instant, n), make([]bool, n), make([]bool, n)
		for i := range w {
			w[i] = types.MinInstant
		}
		told, toldIdle := types.MinInstant, false
		for range 60 {
			i := r.IntN(n)
			if ended[i] {
				continue
			}
			it := Item{Kind: Watermark, W: r.Int64N(100)}
			switch r.IntN(12) {
			case 0, 1, 2:
				it = Item{Kind: WentIdle}
			case 3, 4:
				it = Item{Kind: WentActive}
			case 5:
				it = Item{Kind: End}
			}
			switch it.Kind {
			case Watermark:
				w[i] = max(w[i], it.W)
			case End:
				ended[i] = true
			default:
				idle[i] = it.Kind == WentIdle
			}
			cs[i].Push(it)
			// The lowest of the inputs behind all of some sources, and whether one behind some of them is awake.
			behind := func(sources []int) (low types.Instant, awake bool) {
				in := func(a, b []int) bool {
					return !slices.ContainsFunc(a, func(x int) bool { return !slices.Contains(b, x) })
				}
				low = types.MaxInstant
				for i := range of {
					if !ended[i] {
						if in(sources, of[i]) {
							low = min(low, w[i])
						}
						awake = awake || in(of[i], sources) && !idle[i]
					}
				}
				return low, awake
			}
			low, high, live, active := types.MaxInstant, types.MinInstant, false, false
			for i := range of {
				if ended[i] {
					continue
				}
				at, awake := behind(of[i])
				live, high, active = true, max(high, at), active || awake
				if awake {
					low = min(low, w[i])
				}
			}
			if !live {
				require.Equal(t, End, next(t, g).Kind)
				break
			}
			if !active {
				low = high
			}
			if low > told {
				require.Equal(t, Item{Kind: Watermark, W: low}, next(t, g), "seed %d", seed)
				told = low
			}
			if toldIdle == active {
				require.Equal(t, map[bool]ItemKind{true: WentActive, false: WentIdle}[active], next(t, g).Kind, "seed %d", seed)
				toldIdle = !active
			}
			none(t, g)
		}
	}
}

// To hear one of thousands of inputs takes no look at the others: as many watermarks take about as long with few inputs. With a
// look at all of them it takes more than ten times as long.
func TestGateOfVeryManyInputs(t *testing.T) {
	hear := func(n, rounds int) time.Duration {
		g, cs := gateOf(false, n)
		start := time.Now()
		told := types.MinInstant
		for w := range types.Instant(rounds) {
			for i, c := range cs { // each in turn is the one that holds event time back
				c.Push(Item{Kind: Watermark, W: w*types.Instant(n) + types.Instant(i)})
				for _, it, ok := g.Next(1); ok; _, it, ok = g.Next(1) {
					told = it.W
				}
			}
		}
		require.EqualValues(t, (rounds-1)*n, told)
		return time.Since(start)
	}
	few, many := time.Hour, time.Hour
	for range 3 { // the machine may be busy
		few, many = min(few, hear(20, 800)), min(many, hear(8000, 2))
	}
	t.Log(few, many)
	require.Less(t, many, 60*few, "a look at all inputs each time would take hundreds of times as long")
}

func TestGateIdleInputsDoNotHold(t *testing.T) {
	g, cs := gateBehind([]int{0}, []int{1})
	cs[0].Push(Item{Kind: Watermark, W: 10})
	cs[1].Push(Item{Kind: WentIdle})
	require.EqualValues(t, 10, next(t, g).W)
	cs[0].Push(Item{Kind: WentIdle})
	require.Equal(t, WentIdle, next(t, g).Kind)
	cs[1].Push(Item{Kind: Watermark, W: 30})
	require.EqualValues(t, 30, next(t, g).W, "when all are idle event time moves to the highest of them")
	cs[1].Push(Item{Kind: WentActive})
	require.Equal(t, WentActive, next(t, g).Kind)
	cs[0].Push(Item{Kind: WentActive})
	cs[0].Push(Item{Kind: Watermark, W: 20})
	none(t, g)
	require.EqualValues(t, 30, g.w, "event time never goes back")
}

// What comes of an input may be as old as its watermark, though it is idle: another one behind the same sources may only have
// been heard sooner. All of them are idle before they let go of the inputs behind other sources.
func TestGateWaitsForIdleInputsBehindTheSameSources(t *testing.T) {
	g, cs := gateBehind([]int{0}, []int{0}, []int{1})
	cs[2].Push(Item{Kind: Watermark, W: 100})
	for i, w := range []types.Instant{10, 5} {
		cs[i].Push(Item{Kind: Watermark, W: w})
		cs[i].Push(Item{Kind: WentIdle})
	}
	require.Equal(t, Item{Kind: Watermark, W: 5}, next(t, g))
	require.EqualValues(t, 100, next(t, g).W, "both are idle")
	cs[2].Push(Item{Kind: WentIdle})
	require.Equal(t, WentIdle, next(t, g).Kind)
	cs[0].Push(Item{Kind: WentActive})
	require.Equal(t, WentActive, next(t, g).Kind)
	cs[0].Push(Item{Kind: Watermark, W: 200})
	none(t, g)
	cs[2].Push(Item{Kind: Watermark, W: 300})
	none(t, g)
	cs[0].Push(Item{Kind: WentIdle})
	require.EqualValues(t, 300, next(t, g).W)
	require.Equal(t, WentIdle, next(t, g).Kind)
	cs[1].Push(Item{Kind: WentActive})
	require.Equal(t, WentActive, next(t, g).Kind)
	cs[1].Push(Item{Kind: Watermark, W: 400})
	none(t, g)
	cs[0].Push(Item{Kind: Watermark, W: 350}) // of one that is idle: it has heard of what the other made
	require.EqualValues(t, 350, next(t, g).W)
	cs[0].Push(Item{Kind: End})
	require.EqualValues(t, 400, next(t, g).W, "one that has ended holds nothing back")
}

// Who has not heard yet that one of its sources has woken, though another one has, is not idle.
func TestGateWaitsForInputsBehindMoreSources(t *testing.T) {
	g, cs := gateBehind([]int{0}, []int{0, 1}, []int{1})
	for i, c := range cs {
		c.Push(Item{Kind: Watermark, W: 10 + types.Instant(i)})
		c.Push(Item{Kind: WentIdle})
	}
	require.EqualValues(t, 10, next(t, g).W)
	require.EqualValues(t, 11, next(t, g).W)
	require.Equal(t, WentIdle, next(t, g).Kind)
	cs[0].Push(Item{Kind: WentActive})
	require.Equal(t, WentActive, next(t, g).Kind)
	cs[0].Push(Item{Kind: Watermark, W: 50})
	none(t, g)
	cs[0].Push(Item{Kind: WentIdle})
	require.Equal(t, WentIdle, next(t, g).Kind, "event time waits, awake or not")
	cs[1].Push(Item{Kind: WentActive})
	cs[1].Push(Item{Kind: Watermark, W: 40})
	require.Equal(t, WentActive, next(t, g).Kind)
	require.EqualValues(t, 40, next(t, g).W)
	cs[1].Push(Item{Kind: Watermark, W: 50})
	require.EqualValues(t, 50, next(t, g).W)
	cs[1].Push(Item{Kind: WentIdle})
	require.Equal(t, WentIdle, next(t, g).Kind)
	none(t, g)
}

func TestSourcesBefore(t *testing.T) {
	source := func([]*Host, []*checkpoint.Reader) ([]Source, error) { return nil, nil }
	a, b := &Group{Source: source}, &Group{Source: source}
	onlyA, again, both, also := &Group{}, &Group{}, &Group{}, &Group{}
	g := &Graph{Groups: []*Group{also, both, again, onlyA, b, a}, Edges: []*Edge{{From: a, To: onlyA}, {From: onlyA, To: again}, {From: a, To: again},
		{From: again, To: both}, {From: b, To: both}, {From: b, To: also}, {From: both, To: also}}}
	require.Equal(t, map[*Group][]int{a: {5}, onlyA: {5}, again: {5}, b: {4}, both: {4, 5}, also: {4, 5}}, sourcesBefore(g))
}

func TestGateTellsIdlenessBehindTheWatermarkThatComesWithIt(t *testing.T) {
	g, cs := gateBehind([]int{0}, []int{1})
	cs[0].Push(Item{Kind: Watermark, W: 10})
	cs[1].Push(Item{Kind: Watermark, W: 30})
	require.EqualValues(t, 10, next(t, g).W)
	cs[1].Push(Item{Kind: WentIdle})
	none(t, g)
	cs[0].Push(Item{Kind: WentIdle})
	require.EqualValues(t, 30, next(t, g).W)
	require.Equal(t, WentIdle, next(t, g).Kind)
	none(t, g)
	cs[0].Push(Item{Kind: WentActive})
	require.Equal(t, WentActive, next(t, g).Kind)
}

// BenchmarkGate hears watermarks: each input in turn is the one that holds event time back.
func BenchmarkGate(b *testing.B) {
	for _, n := range []int{2, 16, 256} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			g, cs := gateOf(false, n)
			b.ReportAllocs()
			for k := range b.N {
				cs[k%n].Push(Item{Kind: Watermark, W: types.Instant(k + 1)})
				g.Next(1)
			}
		})
	}
}
