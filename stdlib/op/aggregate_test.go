package op

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/agg"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// aggregateTest drives the stage and compares it with a naive evaluator.
type aggregateTest struct {
	in    types.Stream
	args  types.StageArgs
	rows  []testRow // in order of arrival
	width int       // of the partial aggregation; 0: none
	lag   int64

	out   []string // rows, after all changes
	late  []string
	stats *exec.Stats
	now   int64
	lists []int // how many values were in each batch of partial results
}

// testRow is an input row. mark is the watermark of its split when it was read.
type testRow struct {
	split  int
	time   int64
	mark   int64
	pos    uint64
	change vec.Change
	values []any
}

func aggNamed(name string) *spec.Agg {
	for _, a := range agg.All() {
		if a.Doc.Name == name {
			return a
		}
	}
	return nil
}

// call adds an aggregate call over columns of the input, with constants behind them.
func (a *aggregateTest) call(name string, cols []string, consts ...any) {
	def := aggNamed(name)
	c := types.AggCall{Sig: &def.AggSig, Name: name + "(" + strings.Join(cols, ", ") + ")"}
	for i, col := range cols {
		e := types.ColRef(a.in.Schema, a.in.Schema.Index(col))
		if k := def.Params[i].Kinds; k != nil && !slices.Contains(k, e.Type.Kind) {
			e = &types.Expr{Op: types.OpCast, Type: types.T(types.Float).OrNull(e.Type.Nullable), Args: []*types.Expr{e}}
		}
		c.Args = append(c.Args, e)
	}
	for _, v := range consts {
		k := types.Float
		if _, ok := v.(int64); ok {
			k = types.Int
		}
		c.Args = append(c.Args, types.Const(types.T(k), v))
	}
	t, err := def.Result(c.Args)
	if err != nil {
		panic(err)
	}
	c.Result = t
	a.args.Aggs = append(a.args.Aggs, c)
}

func (a *aggregateTest) by(cols ...string) {
	for _, c := range cols {
		a.args.By = append(a.args.By, types.Item{Name: c, Expr: types.ColRef(a.in.Schema, a.in.Schema.Index(c))})
	}
}

// finish fills in what the checker would.
func (a *aggregateTest) finish(t require.TestingT) types.Stream {
	head := len(a.args.By)
	if a.args.Window != nil {
		head++
	}
	a.args.Post = nil
	for i, c := range a.args.Aggs {
		a.args.Post = append(a.args.Post, types.Item{Name: fmt.Sprintf("r%d", i), Expr: &types.Expr{Op: types.OpCol, Type: c.Result, Col: head + i, Name: c.Name}})
	}
	out, err := aggregateOutput([]types.Stream{a.in}, &a.args)
	require.NoError(t, err)
	return out
}

type noLib struct{}

func (noLib) Kernel(string, *types.Sig) eval.Kernel { return nil }

func (a *aggregateTest) context(out types.Stream) *spec.StageContext {
	a.stats = &exec.Stats{}
	return &spec.StageContext{Args: &a.args, In: []types.Stream{a.in}, Out: out, Width: 1, Aggs: aggNamed, Lib: noLib{}, LatePort: 1,
		Env:  &exec.Env{Now: func() int64 { return a.now }, Stats: a.stats, Splits: &exec.Splits{}},
		Fail: func(_ *eval.Ctx, b *vec.Batch, _ *exec.Out) (*vec.Batch, error) { return b, nil }}
}

func (a *aggregateTest) batch(rows []testRow) *vec.Batch {
	values := make([][]any, len(rows))
	b := &vec.Batch{}
	behind := false
	for i, r := range rows {
		values[i] = r.values
		behind = behind || r.time < r.mark
	}
	b = vec.FromRows(a.in.Schema, values)
	for _, r := range rows {
		if a.in.Time {
			b.Time = append(b.Time, r.time)
		}
		b.Pos = append(b.Pos, r.pos)
		if behind && a.in.Time {
			b.Mark = append(b.Mark, r.mark)
		}
		if a.in.Updating {
			b.Change = append(b.Change, r.change)
		}
	}
	return b
}

// driver runs one operator as a task does.
type driver struct {
	op  exec.Operator
	out *exec.Out
	w   int64 // forwarded
}

func (d *driver) settle(t require.TestingT) {
	if dr, ok := d.op.(exec.Drainer); ok {
		for i := 0; ; i++ {
			more, err := dr.Drain(d.out)
			require.NoError(t, err)
			if !more {
				return
			}
			require.Less(t, i, 100_000, "Drain does not end")
		}
	}
}

func (d *driver) advance(t require.TestingT, w int64) {
	require.NoError(t, d.op.Advance(w, d.out))
	d.settle(t)
	d.w = w
	if h, ok := d.op.(exec.Holder); ok && w != types.MaxInstant {
		d.w = min(w, h.Hold(w))
	}
}

// run runs the rows through the operator in batches, with watermarks between them; choose draws numbers from 0 to n-1.
func (a *aggregateTest) run(t require.TestingT, choose func(n int) int) {
	out := a.finish(t)
	c := a.context(out)
	net := map[string]int{}
	a.late = nil
	var main *driver
	collect := func(port int, it exec.Item) {
		if it.Kind != exec.Rows {
			return
		}
		b := it.Batch
		require.LessOrEqual(t, b.Rows(), vec.MaxRows)
		for i := range b.Rows() {
			r := b.Row(i)
			text := rowText(b, r)
			if port == 1 {
				a.late = append(a.late, text)
				continue
			}
			if out.Time {
				require.GreaterOrEqual(t, b.Time[r], main.w, "a row that is late downstream: %s", text)
			}
			if b.Change == nil || !b.Change[r].Retracts() {
				net[text]++
				continue
			}
			require.True(t, out.Updating)
			require.Positive(t, net[text], "takes back what is not there: %s", text)
			if net[text]--; net[text] == 0 {
				delete(net, text)
			}
		}
	}
	var pre []*driver
	if a.width > 0 {
		for range a.width {
			var schema types.Schema
			var ok bool
			d := &driver{w: types.MinInstant}
			d.op, schema, ok = newPartial(c)
			require.True(t, ok)
			d.out = exec.NewTap(func(port int, it exec.Item) {
				if it.Kind != exec.Rows {
					return
				}
				if port > 0 {
					collect(port, it)
					return
				}
				require.Equal(t, len(schema.Fields), len(it.Batch.Cols))
				for _, c := range it.Batch.Cols {
					if c.Offs != nil {
						a.lists = append(a.lists, c.Kids[0].Len())
					}
				}
				require.NoError(t, main.op.Process(0, it.Batch, main.out))
			})
			pre = append(pre, d)
		}
	}
	fc := *c
	fc.Partial = a.width > 0
	op, err := newAggregate(&fc)
	require.NoError(t, err)
	main = &driver{op: op, out: exec.NewTap(collect), w: types.MinInstant}

	marks := map[int]int64{}
	for _, r := range a.rows {
		marks[r.split] = types.MinInstant
	}
	tops := map[int]int64{}
	told := int64(types.MinInstant)
	for left := a.rows; len(left) > 0; {
		n := min(1+choose(8), len(left))
		if choose(6) == 0 {
			n = len(left)
		}
		part := left[:n]
		left = left[n:]
		to := main
		if len(pre) > 0 {
			to = pre[choose(len(pre))]
		}
		b := a.batch(part)
		if choose(3) == 0 { // among rows that are not selected
			var double []testRow
			for _, r := range part {
				double = append(double, r, r)
			}
			b = a.batch(double)
			for i := range part {
				b.Sel = append(b.Sel, uint32(2*i))
			}
		}
		require.NoError(t, to.op.Process(0, b, to.out))
		if tk, ok := main.op.(exec.Ticker); ok && choose(4) == 0 {
			a.now++
			_, err := tk.Tick(a.now, main.out)
			require.NoError(t, err)
			main.settle(t)
		}
		for _, r := range part {
			if top, ok := tops[r.split]; !ok || r.time > top {
				tops[r.split] = r.time
				marks[r.split] = r.time - a.lag
			}
		}
		w := int64(types.MaxInstant)
		for _, m := range marks {
			w = min(w, m)
		}
		if a.in.Time && w > told && choose(2) == 0 {
			told = w
			for _, d := range pre {
				d.advance(t, w)
			}
			main.advance(t, w)
		}
	}
	for _, d := range append(pre, main) {
		d.advance(t, types.MaxInstant)
		require.NoError(t, d.op.Finish(d.out))
		d.settle(t)
	}
	requireNothingKept(t, main.op)
	a.out = nil
	for text, n := range net {
		for range n {
			a.out = append(a.out, text)
		}
	}
	sort.Strings(a.out)
	sort.Strings(a.late)
}

// requireNothingKept checks that an operator whose input has ended remembers nothing of windows, which have all closed.
func requireNothingKept(t require.TestingT, op exec.Operator) {
	switch s := op.(type) {
	case *sliced:
		require.Empty(t, s.open, "slices")
		if s.rev != nil {
			require.Empty(t, s.rev.windows, "windows")
		}
	case *session:
		require.Zero(t, s.keys.Len()+s.rows.Len(), "keys and sessions")
	case *ordered:
		require.Zero(t, s.keys.Len()+s.rows.Len(), "keys and windows")
	}
}

func rowText(b *vec.Batch, r int) string {
	parts := make([]string, len(b.Cols))
	for i, c := range b.Cols {
		parts[i] = valueText(c.Value(r))
	}
	return strings.Join(parts, "|")
}

func valueText(v any) string {
	switch x := v.(type) {
	case float64:
		if math.Abs(x) < 1e-12 {
			x = 0
		}
		return fmt.Sprintf("%.9g", x)
	case []any:
		parts := make([]string, len(x))
		for i, e := range x {
			parts[i] = valueText(e)
		}
		return "[" + strings.Join(parts, " ") + "]"
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		s := "{"
		for _, k := range keys {
			s += k + ":" + valueText(x[k]) + " "
		}
		return s + "}"
	}
	return fmt.Sprint(v)
}

func (a *aggregateTest) check(t require.TestingT, choose func(n int) int) {
	a.run(t, choose)
	out, late := a.expect()
	require.Equal(t, out, a.out)
	if a.args.Window != nil && !a.args.Window.Processing {
		require.Equal(t, late, a.late)
		require.Equal(t, int64(len(late)), a.stats.Late.Load())
	}
}

var testSchema = types.NewSchema(
	types.Field{Name: "k", Type: types.T(types.String).Null()},
	types.Field{Name: "i", Type: types.T(types.Int).Null()},
	types.Field{Name: "n", Type: types.T(types.Int)},
	types.Field{Name: "f", Type: types.T(types.Float)},
	types.Field{Name: "s", Type: types.T(types.String).Null()},
	types.Field{Name: "b", Type: types.T(types.Bool).Null()},
)

// even draws a number from 0 to n-1, each as likely as another: rapid's own draws lean to small ones.
func even(t *rapid.T, n int, label string) int {
	u := 0
	for range bits.Len(uint(n)) + 4 {
		u <<= 1
		if rapid.Bool().Draw(t, label) {
			u++
		}
	}
	return u % n
}

// often checks f with some hundred draws: they take a millisecond each.
func often(t *testing.T, f func(t *rapid.T)) {
	for range 5 {
		rapid.Check(t, f)
	}
}

// drawTest draws a stage and rows for it.
func drawTest(t *rapid.T, kinds []*types.Window) *aggregateTest {
	a := &aggregateTest{in: types.Stream{Schema: testSchema, Time: true, Bounded: true}, lag: rapid.Int64Range(0, 20).Draw(t, "lag")}
	a.args.Window = rapid.SampledFrom(kinds).Draw(t, "window")
	a.by(rapid.SampledFrom([][]string{nil, {"k"}, {"n"}, {"i"}, {"k", "n"}, {"f", "b"}}).Draw(t, "by")...)
	calls := []func(){
		func() { a.call("count", nil) },
		func() { a.call("count", []string{"i"}) },
		func() { a.call("sum", []string{"i"}) },
		func() { a.call("sum", []string{"f"}) },
		func() { a.call("avg", []string{"i"}) },
		func() { a.call("avg", []string{"f"}) },
		func() { a.call("min", []string{"i"}) },
		func() { a.call("max", []string{"s"}) },
		func() { a.call("max", []string{"f"}) },
		func() { a.call("min", []string{"b"}) },
		func() { a.call("first", []string{"s"}) },
		func() { a.call("last", []string{"i"}) },
		func() { a.call("arg_max", []string{"s", "n"}) },
		func() { a.call("arg_min", []string{"n", "s"}) },
		func() { a.call("count_if", []string{"b"}) },
		func() { a.call("sum_if", []string{"n", "b"}) },
		func() { a.call("distinct", []string{"s"}) },
		func() { a.call("distinct", []string{"i"}) },
		func() { a.call("approx_distinct", []string{"s"}) },
		func() { a.call("median", []string{"f"}) },
		func() { a.call("quantile", []string{"i"}, 0.9) },
		func() { a.call("stddev", []string{"f"}) },
		func() { a.call("variance", []string{"i"}) },
		func() { a.call("collect", []string{"s"}) },
		func() { a.call("collect", []string{"n"}, int64(2)) },
		func() { a.call("top_k", []string{"s"}, int64(2)) },
	}
	for _, k := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(calls)-1), 1, 4, rapid.ID[int]).Draw(t, "calls") {
		calls[k]()
	}
	splits := rapid.IntRange(1, 2).Draw(t, "splits")
	n := even(t, 61, "rows")
	tops := map[int]int64{}
	clock := rapid.Int64Range(-100, 0).Draw(t, "begin")
	steps := []int64{0, 1, 1, 2, 5, 30, 1000}
	if rapid.Bool().Draw(t, "dense") { // most rows meet others in their windows
		steps = []int64{0, 1, 2, 4, 9}
	}
	null := func(v any) any {
		if rapid.IntRange(0, 5).Draw(t, "null") == 0 {
			return nil
		}
		return v
	}
	for i := range n {
		clock += rapid.SampledFrom(steps).Draw(t, "step")
		r := testRow{split: rapid.IntRange(0, splits-1).Draw(t, "split"), time: clock - rapid.SampledFrom([]int64{0, 0, 1, 7, 20, 50}).Draw(t, "back"), pos: uint64(i)}
		if r.mark = types.MinInstant; len(tops) > 0 {
			if top, ok := tops[r.split]; ok {
				r.mark = top - a.lag
			}
		}
		if top, ok := tops[r.split]; !ok || r.time > top {
			tops[r.split] = r.time
		}
		long := strings.Repeat("x", 20)
		r.values = []any{
			null(rapid.SampledFrom([]string{"a", "b", "", long}).Draw(t, "k")),
			null(rapid.Int64Range(-5, 5).Draw(t, "i")),
			rapid.Int64Range(0, 3).Draw(t, "n"),
			rapid.SampledFrom([]float64{0, 1.5, -2, 3.25}).Draw(t, "f"),
			null(rapid.SampledFrom([]string{"p", "q", "", long + "1", long + "2"}).Draw(t, "s")),
			null(rapid.Bool().Draw(t, "b")),
		}
		a.rows = append(a.rows, r)
	}
	return a
}

// retractSome takes back some of the rows, each after it came: at once where there are windows, for which it may be late else.
func (a *aggregateTest) retractSome(t *rapid.T) {
	a.in.Updating = true
	for i := 0; i < len(a.rows); i++ {
		back := a.rows[i]
		if back.change.Retracts() || rapid.IntRange(0, 2).Draw(t, "retract") > 0 {
			continue
		}
		back.change = rapid.SampledFrom([]vec.Change{vec.Delete, vec.UpdateBefore}).Draw(t, "change")
		at := i + 1
		if a.args.Window == nil {
			at += even(t, len(a.rows)-i, "at")
		}
		a.rows = slices.Insert(a.rows, at, back)
	}
}

func chooser(t *rapid.T) func(n int) int {
	return func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }
}

var aligned = []*types.Window{
	{Kind: types.Tumbling, Size: 10},
	{Kind: types.Tumbling, Size: 7, Offset: 3},
	{Kind: types.Hopping, Size: 10, Step: 4},
	{Kind: types.Hopping, Size: 10, Step: 2},
	{Kind: types.Hopping, Size: 5, Step: 12},
	{Kind: types.Tumbling, Size: 7, Offset: -24},
	{Kind: types.Hopping, Size: 12, Step: 5, Offset: 1},
	{Kind: types.Hopping, Size: 12, Step: 5, Offset: -3},
	{Kind: types.Hopping, Size: 5, Step: 12, Offset: 29},
	{Kind: types.Cumulate, Size: 12, Step: 4},
	{Kind: types.Cumulate, Size: 10, Step: 3},
	{Kind: types.Cumulate, Size: 20, Step: 7, Offset: 5},
	{Kind: types.Cumulate, Size: 20, Step: 7, Offset: -47},
}

func TestAggregateWithoutWindow(t *testing.T) {
	often(t, func(t *rapid.T) {
		a := drawTest(t, []*types.Window{nil})
		switch rapid.IntRange(0, 3).Draw(t, "form") {
		case 0:
			a.args.Emit = types.Emit{Set: true, Changes: true}
		case 1:
			a.args.Emit = types.Emit{Set: true, Changes: true, Every: 5}
		}
		if rapid.Bool().Draw(t, "updating") {
			a.retractSome(t)
		}
		a.check(t, chooser(t))
	})
}

func TestAggregateInAlignedWindows(t *testing.T) {
	often(t, func(t *rapid.T) {
		a := drawTest(t, aligned)
		if rapid.IntRange(0, 3).Draw(t, "updating") == 0 {
			for i := range a.rows {
				a.rows[i].mark = types.MinInstant
			}
			a.lag = 100_000
			a.retractSome(t)
		}
		a.check(t, chooser(t))
	})
}

func TestAggregateRevisesWindows(t *testing.T) {
	often(t, func(t *rapid.T) {
		a := drawTest(t, aligned)
		switch rapid.IntRange(0, 2).Draw(t, "form") {
		case 0:
			a.args.Emit = types.Emit{Set: true, Changes: true}
		case 1:
			a.args.Late = types.Late{Set: true, Allow: 15}
		case 2:
			a.args.Emit = types.Emit{Set: true, Changes: true, Every: 5}
			a.args.Late = types.Late{Set: true, Allow: 40}
		}
		a.check(t, chooser(t))
	})
}

func TestAggregateInSessions(t *testing.T) {
	often(t, func(t *rapid.T) {
		a := drawTest(t, []*types.Window{{Kind: types.Session, Size: 5}, {Kind: types.Session, Size: 20}})
		switch even(t, 5, "form") {
		case 0:
			a.args.Emit = types.Emit{Set: true, Changes: true}
		case 1:
			a.args.Late = types.Late{Set: true, Allow: 15}
		case 2:
			a.args.Emit = types.Emit{Set: true, Changes: true, Every: 5}
			a.args.Late = types.Late{Set: true, Allow: 40}
		case 3:
			a.args.Emit = types.Emit{Set: true, Changes: true, Every: 1}
		}
		a.check(t, chooser(t))
	})
}

func TestAggregateInOrder(t *testing.T) {
	often(t, func(t *rapid.T) {
		a := drawTest(t, []*types.Window{{Kind: types.CountWindow, Size: 1}, {Kind: types.CountWindow, Size: 3}, {Kind: types.Session, Size: 5, Max: 6}, {Kind: types.Session, Size: 10, Max: 25}})
		a.check(t, chooser(t))
	})
}

func TestAggregateInTwoSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawTest(t, append([]*types.Window{nil}, aligned...))
		a.args.Aggs = slices.DeleteFunc(a.args.Aggs, func(c types.AggCall) bool {
			p, err := aggNamed(c.Sig.Name).New(&c)
			require.NoError(t, err)
			_, ok := p.(spec.Partialer)
			return !ok
		})
		a.width = rapid.IntRange(1, 3).Draw(t, "width")
		a.check(t, chooser(t))
	})
}
