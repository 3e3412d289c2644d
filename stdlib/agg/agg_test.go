package agg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// bench runs one aggregate call over rows, in every way in which it can be run.
type bench struct {
	t     *testing.T
	def   *spec.Agg
	call  *types.AggCall
	types []types.Type // of the columns
}

func newBench(t *testing.T, name string, ts []types.Type, consts ...any) *bench {
	for _, d := range all {
		if d.Doc.Name != name {
			continue
		}
		c := &types.AggCall{Sig: &d.AggSig}
		for i, ty := range ts {
			c.Args = append(c.Args, &types.Expr{Op: types.OpCol, Col: i, Type: ty})
		}
		for _, v := range consts {
			k := types.Int
			if _, ok := v.(float64); ok {
				k = types.Float
			}
			c.Args = append(c.Args, types.Const(types.T(k), v))
		}
		r, err := d.Result(c.Args)
		require.NoError(t, err)
		c.Result = r
		return &bench{t, d, c, ts}
	}
	t.Fatalf("no aggregate %s", name)
	return nil
}

func (b *bench) new() spec.Aggregate {
	a, err := b.def.New(b.call)
	require.NoError(b.t, err)
	return a
}

// input makes rows that stand at the times 0, 1, 2, …
func (b *bench) input(rows [][]any) *spec.Input {
	s := types.Schema{}
	for i, t := range b.types {
		s.Fields = append(s.Fields, types.Field{Name: fmt.Sprint(i), Type: t})
	}
	bt := vec.FromRows(s, rows)
	in := &spec.Input{N: len(rows), Args: bt.Cols}
	for i := range rows {
		in.Rows = append(in.Rows, uint32(i))
		in.Time = append(in.Time, int64(i))
		in.Pos = append(in.Pos, uint64(i))
	}
	return in
}

func groups(rows *state.Rows, n int) spec.Groups {
	g := spec.Groups{Rows: rows}
	for range n {
		g.IDs = append(g.IDs, rows.Add())
	}
	return g
}

// repeat returns the group n times.
func repeat(g spec.Groups, i, n int) spec.Groups {
	out := spec.Groups{Rows: g.Rows, Off: g.Off}
	for range n {
		out.IDs = append(out.IDs, g.IDs[i])
	}
	return out
}

// moved computes the result where the aggregate is saved and loaded half way, and where another one takes the group over.
func (b *bench) moved(out map[string]any, of string, make func() spec.Aggregate, in *spec.Input) {
	half := len(in.Rows) / 2
	first, second := *in, *in
	first.Rows, second.Rows = in.Rows[:half], in.Rows[half:]
	a := make()
	g := groups(state.NewRows(a.Words()), 3)
	a.Add(repeat(g, 0, half), &first) // not of our group
	a.Add(repeat(g, 1, half), &first)
	a.Add(repeat(g, 2, half), &first)
	a.Free(spec.Groups{Rows: g.Rows, IDs: g.IDs[2:]})

	w := checkpoint.NewWriter(1, 0)
	a.Save(w)
	g.Rows.Save(w)
	for w.Continue() {
	}
	data, _, _ := w.Output()
	r := checkpoint.NewReader(1, data)
	loaded, rows := make(), state.NewRows(a.Words())
	require.NoError(b.t, loaded.Load(r))
	require.NoError(b.t, rows.Load(r))
	require.NoError(b.t, r.Done())
	ours := spec.Groups{Rows: rows, IDs: g.IDs}
	loaded.Add(repeat(ours, 1, len(second.Rows)), &second)
	out["saved"+of] = loaded.Result(ours).Value(1)

	other := make()
	to := groups(state.NewRows(a.Words()), 2)
	other.Add(repeat(to, 0, len(in.Rows)), in)
	copy(to.Rows.At(1), g.Rows.At(1))
	other.Adopt(spec.Groups{Rows: to.Rows, IDs: to.IDs[1:]}, a)
	a.Free(spec.Groups{Rows: g.Rows, IDs: g.IDs[:2]})
	a.Add(repeat(groups(g.Rows, 1), 0, len(in.Rows)), in) // takes memory that was freed
	other.Add(repeat(to, 1, len(second.Rows)), &second)
	out["adopted"+of] = other.Result(to).Value(1)
}

// results computes the result in each way: all at once, merged from parts, shipped as partial results, with other rows
// added and taken back.
func (b *bench) results(rows, others [][]any) map[string]any {
	out := map[string]any{}
	in := b.input(rows)
	rng := rand.New(rand.NewPCG(7, uint64(len(rows))))
	order := rng.Perm(len(rows))
	shuffled := *in
	for i, k := range order {
		shuffled.Rows = append(shuffled.Rows[:i:i], uint32(k))
	}

	a := b.new()
	g := groups(state.NewRows(a.Words()), 1)
	a.Add(repeat(g, 0, len(rows)), in)
	out["at once"] = a.Result(g).Value(0)
	a.Free(g)

	b.moved(out, "", b.new, in)
	if b.def.Doc.Name != "any" {
		b.moved(out, " of a multiset", func() spec.Aggregate { return spec.Multiset(b.new(), b.types, b.def.Ordered) }, in)
		a = b.new()
		g = groups(state.NewRows(a.Words()), 4)
		part := spec.Groups{Rows: g.Rows}
		for range rows {
			part.IDs = append(part.IDs, g.IDs[rng.IntN(3)])
		}
		a.Add(part, &shuffled)
		for _, k := range rng.Perm(3) {
			a.Merge(spec.Groups{Rows: g.Rows, IDs: g.IDs[3:]}, spec.Groups{Rows: g.Rows, IDs: g.IDs[k : k+1]})
		}
		before := a.Result(g)
		out["merged"] = before.Value(3)
		a.Free(g)

		if p, ok := b.new().(spec.Partialer); ok {
			q := b.new().(spec.Partialer)
			g := groups(state.NewRows(p.Words()), 3)
			part.Rows, part.IDs = g.Rows, part.IDs[:0]
			for range rows {
				part.IDs = append(part.IDs, g.IDs[rng.IntN(3)])
			}
			p.Add(part, &shuffled)
			cols := p.Partial(g)
			require.Len(b.t, cols, len(p.PartialTypes()))
			for i, ty := range p.PartialTypes() {
				require.Equal(b.t, ty.String(), cols[i].Type.String())
				require.Equal(b.t, 3, cols[i].Len())
			}
			to := groups(state.NewRows(q.Words()), 1)
			q.AddPartial(repeat(to, 0, 3), &spec.Input{N: 3, Rows: []uint32{2, 0, 1}, Args: cols})
			out["in two steps"] = q.Result(to).Value(0)
		}
	}
	retract := func(name string, r spec.Retractor) {
		g := groups(state.NewRows(r.Words()), 1)
		more := b.input(others)
		r.Add(repeat(g, 0, len(others)), more)
		r.Add(repeat(g, 0, len(rows)), in)
		r.Retract(repeat(g, 0, len(others)), more)
		out[name] = r.Result(g).Value(0)
	}
	if b.def.Doc.Name != "any" {
		if r, ok := b.new().(spec.Retractor); ok {
			retract("with rows taken back", r)
		}
		retract("from a multiset", spec.Multiset(b.new(), b.types, b.def.Ordered))
	}
	return out
}

func TestAggregates(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	i, f, s := types.T(types.Int).Null(), types.T(types.Float).Null(), types.T(types.String).Null()
	d, tm, bo := types.T(types.Duration), types.T(types.Time), types.T(types.Bool).Null()
	list := types.ListOf(types.T(types.Int))
	long := strings.Repeat("long ", 20)
	one := func(vs ...any) (rows [][]any) {
		for _, v := range vs {
			rows = append(rows, []any{v})
		}
		return rows
	}
	n := func(v int) any { return int64(v) }
	cases := []struct {
		name   string
		types  []types.Type
		consts []any
		rows   [][]any
		want   any
	}{
		{"count", []types.Type{i}, nil, one(n(1), nil, n(3)), n(2)},
		{"count", []types.Type{i}, nil, nil, n(0)},
		{"count_if", []types.Type{bo}, nil, one(true, nil, false, true), n(2)},
		{"count_if", []types.Type{bo}, nil, nil, n(0)},
		{"sum", []types.Type{i}, nil, one(n(1), nil, n(3)), n(4)},
		{"sum", []types.Type{i}, nil, one(nil, nil), nil},
		{"sum", []types.Type{i}, nil, one(int64(math.MaxInt64), n(1)), int64(math.MinInt64)},
		{"sum", []types.Type{f}, nil, one(0.1, 0.2, nil, 1e100, -1e100), 0.30000000000000004},
		{"sum", []types.Type{f}, nil, one(1.0, inf), inf},
		{"sum", []types.Type{f}, nil, one(inf, -inf), nan},
		{"sum", []types.Type{f}, nil, one(1.0, nan), nan},
		{"sum", []types.Type{d}, nil, one(n(5), n(7)), n(12)},
		{"sum", []types.Type{f}, nil, nil, nil},
		{"sum_if", []types.Type{i, bo}, nil, [][]any{{n(1), true}, {n(2), false}, {n(4), nil}, {nil, true}, {n(8), true}}, n(9)},
		{"sum_if", []types.Type{f, bo}, nil, [][]any{{1.5, false}}, nil},
		{"avg", []types.Type{i}, nil, one(n(1), n(2), nil), 1.5},
		{"avg", []types.Type{i}, nil, one(int64(math.MaxInt64), int64(math.MaxInt64)), 9223372036854775807.0},
		{"avg", []types.Type{i}, nil, one(int64(math.MinInt64), int64(math.MinInt64), n(0)), -6148914691236517205.33},
		{"avg", []types.Type{f}, nil, one(1.0, 4.0), 2.5},
		{"avg", []types.Type{d}, nil, one(n(10), n(21)), n(15)},
		{"avg", []types.Type{d}, nil, one(n(-10), n(-21)), n(-15)},
		{"avg", []types.Type{i}, nil, nil, nil},
		{"min", []types.Type{i}, nil, one(n(3), nil, n(-2)), n(-2)},
		{"min", []types.Type{f}, nil, one(nan, 2.0), 2.0},
		{"min", []types.Type{s}, nil, one("pear", "apple", long), "apple"},
		{"min", []types.Type{bo}, nil, one(true, false), false},
		{"min", []types.Type{tm}, nil, one(n(30), n(20)), n(20)},
		{"min", []types.Type{tm}, nil, nil, nil},
		{"max", []types.Type{i}, nil, one(n(-3), nil, n(-2)), n(-2)},
		{"max", []types.Type{f}, nil, one(nan, 2.0), nan},
		{"max", []types.Type{s}, nil, one("pear", long, long+"x", "apple", nil), "pear"},
		{"max", []types.Type{s}, nil, one(long, long+"x", ""), long + "x"},
		{"max", []types.Type{d}, nil, one(n(30), n(20)), n(30)},
		{"first", []types.Type{s}, nil, one(nil, "b", "a"), "b"},
		{"first", []types.Type{list}, nil, one([]any{n(1), n(2)}, []any{}), []any{n(1), n(2)}},
		{"last", []types.Type{s}, nil, one("b", long, nil), long},
		{"last", []types.Type{f}, nil, one(nil), nil},
		{"any", []types.Type{s}, nil, one(nil, "b", "a"), "b"},
		{"arg_max", []types.Type{s, i}, nil, [][]any{{"a", n(1)}, {"b", n(7)}, {"c", n(7)}, {nil, n(9)}, {"d", nil}}, "b"},
		{"arg_min", []types.Type{i, s}, nil, [][]any{{n(1), long}, {n(2), "zz"}, {n(3), long}}, n(1)},
		{"arg_min", []types.Type{i, s}, nil, nil, nil},
		{"distinct", []types.Type{s}, nil, one("a", "b", "a", nil, long, long), n(3)},
		{"distinct", []types.Type{f}, nil, one(0.0, math.Copysign(0, -1), nan, nan), n(2)},
		{"distinct", []types.Type{i}, nil, nil, n(0)},
		{"approx_distinct", []types.Type{s}, nil, one("a", "b", "a", nil), n(2)},
		{"median", []types.Type{f}, nil, one(4.0, 1.0, 3.0, nil, 2.0), 2.5},
		{"median", []types.Type{d}, nil, one(n(1), n(4)), n(3)},
		{"quantile", []types.Type{f}, []any{0.0}, one(4.0, 1.0), 1.0},
		{"quantile", []types.Type{f}, []any{1.0}, one(4.0, 1.0), 4.0},
		{"quantile", []types.Type{f}, []any{0.25}, one(0.0, 1.0, 2.0), 0.5},
		{"quantile", []types.Type{f}, []any{0.5}, one(inf, inf, 1.0), inf},
		{"quantile", []types.Type{f}, []any{1.0}, one(nan, 1.0), nan},
		{"quantile", []types.Type{f}, []any{0.5}, nil, nil},
		{"stddev", []types.Type{f}, nil, one(1.0, 3.0, 5.0, nil), 2.0},
		{"stddev", []types.Type{f}, nil, one(0.1, 0.1, 0.1), 0.0},
		{"stddev", []types.Type{f}, nil, one(1e9+0.125, 1e9+0.25, 1e9+0.375), 0.125},
		{"stddev", []types.Type{f}, nil, one(1.0), nil},
		{"variance", []types.Type{f}, nil, one(1.0, 3.0, 5.0), 4.0},
		{"variance", []types.Type{f}, nil, one(1.0, inf), nan},
		{"variance", []types.Type{f}, nil, one(1e200, -1e200), inf},
		{"collect", []types.Type{s}, nil, one("b", nil, "a", long), []any{"b", "a", long}},
		{"collect", []types.Type{i}, []any{int64(2)}, one(n(5), n(4), n(3)), []any{n(5), n(4)}},
		{"collect", []types.Type{i}, nil, nil, nil},
		{"top_k", []types.Type{s}, []any{int64(2)}, one("a", "c", "b", "b", nil, "c"),
			[]any{map[string]any{"value": "b", "count": n(2)}, map[string]any{"value": "c", "count": n(2)}}},
		{"top_k", []types.Type{i}, []any{int64(3)}, one(nil), nil},
		{"approx_quantile", []types.Type{f}, []any{1.0}, one(nan, 1.0), nan},
		{"approx_quantile", []types.Type{f}, []any{0.0}, one(-inf, 1.0), -inf},
		{"approx_quantile", []types.Type{f}, []any{0.5}, nil, nil},
	}
	covered := map[string]bool{}
	for _, c := range cases {
		covered[c.name] = true
		b := newBench(t, c.name, c.types, c.consts...)
		for way, got := range b.results(c.rows, c.rows[:len(c.rows)/2]) {
			equal(t, c.want, got, fmt.Sprintf("%s over %v, %s", c.name, c.rows, way))
		}
	}
	for _, d := range all {
		require.True(t, covered[d.Doc.Name], "no case for %s", d.Doc.Name)
		require.NotEmpty(t, d.Text)
		require.NotEmpty(t, d.Examples)
		require.NotEmpty(t, d.Signature)
	}
}

func equal(t *testing.T, want, got any, what string) {
	w, ok := want.(float64)
	g, ok2 := got.(float64)
	switch {
	case !ok || !ok2:
		require.Equal(t, want, got, what)
	case w-w != 0:
		require.Equal(t, fmt.Sprint(w), fmt.Sprint(g), what)
	default:
		require.InDelta(t, w, g, 1e-7*math.Abs(w)+1e-12, what)
	}
}

func TestFloatSumTakesLargeRowsBack(t *testing.T) {
	b := newBench(t, "sum", []types.Type{types.T(types.Float)})
	for way, got := range b.results([][]any{{1.0}, {2.5}}, [][]any{{1e17}, {math.Inf(1)}, {math.NaN()}, {-3e17}}) {
		require.Equal(t, 3.5, got, way)
	}
}

func TestSketchesDoNotDependOnOrder(t *testing.T) {
	for _, n := range []int{500, 1500, 20_000} {
		var rows [][]any
		distinct := map[int64]bool{}
		rng := rand.New(rand.NewPCG(1, uint64(n)))
		for range n {
			v := rng.Int64N(int64(n))
			distinct[v] = true
			rows = append(rows, []any{v})
		}
		b := newBench(t, "approx_distinct", []types.Type{types.T(types.Int)})
		got := b.results(rows, nil)
		require.InEpsilon(t, float64(len(distinct)), float64(got["at once"].(int64)), 0.03)
		for way, v := range got {
			require.Equal(t, got["at once"], v, way)
		}
		for i := range rows {
			rows[i][0] = float64(rows[i][0].(int64)) - 100
		}
		b = newBench(t, "approx_quantile", []types.Type{types.T(types.Float)}, 0.9)
		q := newBench(t, "quantile", []types.Type{types.T(types.Float)}, 0.9).results(rows, nil)["at once"].(float64)
		got = b.results(rows, nil)
		require.InEpsilon(t, q, got["at once"].(float64), 0.011)
		for way, v := range got {
			require.Equal(t, got["at once"], v, way)
		}
	}
}

func TestNothingIsKeptAfterFree(t *testing.T) {
	for _, d := range all {
		ts := []types.Type{}
		var consts []any
		for _, p := range d.Params {
			switch {
			case p.Constant && p.Optional:
			case p.Constant && p.Kinds[0] == types.Float:
				consts = append(consts, 0.5)
			case p.Constant:
				consts = append(consts, int64(3))
			case len(p.Kinds) > 0 && p.Kinds[0] == types.Bool && len(p.Kinds) == 1:
				ts = append(ts, types.T(types.Bool))
			case len(p.Kinds) > 0 && p.Kinds[0] != types.Bool:
				ts = append(ts, types.T(types.Float))
			default:
				ts = append(ts, types.T(types.String))
			}
		}
		b := newBench(t, d.Doc.Name, ts, consts...)
		a := b.new()
		rows := state.NewRows(a.Words())
		for round := range 200 {
			var in [][]any
			for k := range 50 {
				var row []any
				for _, ty := range ts {
					switch ty.Kind {
					case types.Bool:
						row = append(row, k%2 == 0)
					case types.Float:
						row = append(row, float64(k*round))
					default:
						row = append(row, fmt.Sprintf("a value of some length %d %d", k, round))
					}
				}
				in = append(in, row)
			}
			g := groups(rows, 5)
			five := spec.Groups{Rows: rows}
			for k := range in {
				five.IDs = append(five.IDs, g.IDs[k%5])
			}
			a.Add(five, b.input(in))
			a.Result(g)
			a.Free(g)
			for _, id := range g.IDs {
				rows.Delete(id)
			}
		}
		switch x := a.(type) {
		case *distinct:
			require.Less(t, x.sets.Bytes(), 200_000, d.Doc.Name)
		case *topK:
			require.Less(t, x.sets.Bytes(), 200_000, d.Doc.Name)
		case *quantile:
			require.Less(t, x.lists.Bytes(), 100_000, d.Doc.Name)
		case *collect:
			require.Less(t, x.lists.Bytes()+x.arena.Bytes(), 200_000, d.Doc.Name)
		case *chosen:
			require.Less(t, x.arena.Bytes(), 100_000, d.Doc.Name)
		case *extreme:
			require.Less(t, x.arena.Bytes(), 100_000, d.Doc.Name)
		case *approxDistinct:
			require.LessOrEqual(t, len(x.held.held), 5)
		case *approxQuantile:
			require.LessOrEqual(t, len(x.held.held), 5)
		}
	}
}

func TestBadConstantsAreRefused(t *testing.T) {
	for name, v := range map[string]any{"quantile": 1.5, "approx_quantile": -0.1, "top_k": int64(0), "collect": int64(0)} {
		for _, d := range all {
			if d.Doc.Name == name {
				_, err := d.Result([]*types.Expr{{Op: types.OpCol, Type: types.T(types.Float)}, types.Const(types.T(types.Float), v)})
				require.Error(t, err, name)
			}
		}
	}
}

// A list that is too large keeps no more than what its result needs to be known as such.
func TestCollectIsBounded(t *testing.T) {
	b := newBench(t, "collect", []types.Type{types.T(types.Int)})
	a, rows := b.new(), state.NewRows(b.new().Words())
	g := groups(rows, 1)
	one := make([][]any, vec.MaxRows)
	for i := range one {
		one[i] = []any{int64(i)}
	}
	in := b.input(one)
	g.IDs = slices.Repeat(g.IDs, len(one))
	for n := 0; n < mostElements+3*len(one); n += len(one) {
		a.Add(g, in)
	}
	require.Equal(t, mostElements+1, a.(*collect).lists.Len(g.Words(0)))
}
