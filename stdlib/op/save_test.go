package op

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/exectest"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var (
	_ exec.Merger = (*groupAll)(nil)
	_ exec.Merger = (*sliced)(nil)
	_ exec.Merger = (*session)(nil)
	_ exec.Merger = (*ordered)(nil)
	_ exec.Merger = (*partial)(nil)
	_ exec.Saver  = (*limit)(nil)
	_ exec.Saver  = (*sample)(nil)
	_ exec.Saver  = (*sorter)(nil)
)

// mostStopped is how many rows there are at most in a script that is stopped everywhere: the time for that grows with their square.
const mostStopped = 16

// script is the first rows of a drawn test in batches, with watermarks between them.
func (a *aggregateTest) script(choose func(n int) int) []exectest.Input {
	a.rows = a.rows[:min(len(a.rows), mostStopped)]
	var script []exectest.Input
	tops, told := map[int]int64{}, int64(types.MinInstant)
	for _, r := range a.rows {
		tops[r.split] = types.MinInstant
	}
	for left := a.rows; len(left) > 0; {
		n := min(1+choose(12), len(left))
		script = append(script, exectest.Rows(a.batch(left[:n])))
		w := int64(types.MaxInstant)
		for _, r := range left[:n] {
			tops[r.split] = max(tops[r.split], r.time-a.lag)
		}
		for _, top := range tops {
			w = min(w, top)
		}
		if left = left[n:]; a.in.Time && w > told && choose(2) == 0 {
			told = w
			script = append(script, exectest.Watermark(w))
		}
		if choose(4) == 0 {
			script = append(script, exectest.Tick(int64(len(script))*3))
		}
	}
	return append(script, exectest.Finish())
}

// verify proves that the stage can be stopped anywhere.
func (a *aggregateTest) verify(t require.TestingT, script []exectest.Input) {
	out := a.finish(t)
	test := exectest.Test{Script: script, Clock: func(now int64) { a.now = now }, Make: func() exec.Operator {
		op, err := newAggregate(a.context(out))
		require.NoError(t, err)
		return op
	}}
	if len(a.args.By) > 0 {
		test.Keys = a.keys
	}
	exectest.Verify(t, test)
}

func (a *aggregateTest) keys(_ int, b *vec.Batch) []*vec.Column {
	var cols []*vec.Column
	for _, k := range a.args.By {
		cols = append(cols, b.Cols[k.Expr.Col])
	}
	return cols
}

// examples calls f for a few drawn values, always the same.
func examples(t *testing.T, n int, f func(t *rapid.T)) {
	for i := range n {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			rapid.Custom(func(rt *rapid.T) bool { f(rt); return true }).Example(i)
		})
	}
}

func TestAggregateIsSaved(t *testing.T) {
	changes, every := types.Emit{Set: true, Changes: true}, types.Emit{Set: true, Changes: true, Every: 5}
	for name, c := range map[string]struct {
		windows  []*types.Window
		emit     types.Emit
		late     types.Late
		retain   types.Retain
		retracts bool
	}{
		"final":                   {windows: []*types.Window{nil}},
		"final, retracted":        {windows: []*types.Window{nil}, retracts: true},
		"changes":                 {windows: []*types.Window{nil}, emit: changes},
		"changes now and then":    {windows: []*types.Window{nil}, emit: every, retracts: true},
		"retained":                {windows: []*types.Window{nil}, retain: types.Retain{Set: true, For: 20}},
		"aligned":                 {windows: aligned},
		"aligned, revised":        {windows: aligned, emit: changes, late: types.Late{Set: true, Allow: 15}},
		"aligned, late":           {windows: aligned, late: types.Late{Set: true, Allow: 15}},
		"aligned, now and then":   {windows: aligned, emit: every},
		"sessions":                {windows: []*types.Window{{Kind: types.Session, Size: 5}, {Kind: types.Session, Size: 20}}},
		"sessions, revised":       {windows: []*types.Window{{Kind: types.Session, Size: 20}}, emit: changes},
		"sessions, late":          {windows: []*types.Window{{Kind: types.Session, Size: 20}}, late: types.Late{Set: true, Allow: 15}},
		"sessions, now and then":  {windows: []*types.Window{{Kind: types.Session, Size: 5}}, emit: every, late: types.Late{Set: true, Allow: 40}},
		"counts":                  {windows: []*types.Window{{Kind: types.CountWindow, Size: 3}, {Kind: types.CountWindow, Size: 1}}},
		"sessions of some length": {windows: []*types.Window{{Kind: types.Session, Size: 5, Max: 6}, {Kind: types.Session, Size: 10, Max: 25}}},
	} {
		t.Run(name, func(t *testing.T) {
			examples(t, 3+len(c.windows)/6, func(rt *rapid.T) {
				a := drawTest(rt, c.windows)
				a.args.Emit, a.args.Late, a.args.Retain = c.emit, c.late, c.retain
				if c.retracts {
					a.retractSome(rt)
				}
				a.verify(t, a.script(chooser(rt)))
			})
		})
	}
}

// With more keys than go into a batch, what is owed comes out in several pieces.
func TestAggregateOfManyKeysIsSaved(t *testing.T) {
	hopping := &types.Window{Kind: types.Hopping, Size: 200, Step: 100}
	for name, w := range map[string]*types.Window{"no window": nil, "hopping": hopping, "in two steps": nil, "hopping in two steps": hopping} {
		t.Run(name, func(t *testing.T) {
			a := &aggregateTest{in: types.Stream{Schema: testSchema, Time: true, Bounded: true}}
			a.args.Window = w
			a.by("n")
			a.call("max", []string{"s"})
			var script []exectest.Input
			for from := 0; from < 5000; from += 2500 {
				rows := make([]testRow, 2500)
				for i := range rows {
					at := int64(from + i)
					rows[i] = testRow{time: at / 30, mark: types.MinInstant, pos: uint64(at), values: []any{nil, nil, at % 4500, 0.0, fmt.Sprint("a text of some length ", at), nil}}
				}
				script = append(script, exectest.Rows(a.batch(rows)))
			}
			script = append(script, exectest.Watermark(260), exectest.Finish())
			out := a.finish(t)
			exectest.Verify(t, exectest.Test{Script: script, Whole: true, Keys: a.keys, Make: func() exec.Operator {
				if strings.HasSuffix(name, "two steps") {
					return newTwoSteps(t, a.context(out))
				}
				op, err := newAggregate(a.context(out))
				require.NoError(t, err)
				return op
			}})
		})
	}
}

func TestAggregateWithoutEventTimeIsSaved(t *testing.T) {
	for _, w := range []*types.Window{{Kind: types.Tumbling, Size: 10, Processing: true}, {Kind: types.Hopping, Size: 10, Step: 5, Processing: true},
		{Kind: types.Session, Size: 10, Processing: true}, {Kind: types.CountWindow, Size: 3}} {
		examples(t, 3, func(rt *rapid.T) {
			a := drawTest(rt, []*types.Window{w})
			a.in.Time = false
			a.verify(t, a.script(chooser(rt)))
		})
	}
}

// twoSteps is a partial aggregation and the aggregate behind it, as one operator.
type twoSteps struct {
	first  *partial
	second exec.Operator
	behind []int64 // what the second is told once the first owes nothing: event time, or the end
}

const theEnd = types.MinInstant

func newTwoSteps(t *testing.T, c *spec.StageContext) *twoSteps {
	op, _, ok := newPartial(c)
	require.True(t, ok)
	c.Partial = true
	second, err := newAggregate(c)
	require.NoError(t, err)
	return &twoSteps{first: op.(*partial), second: second}
}

func (s *twoSteps) through(out *exec.Out) *exec.Out {
	return exec.NewTap(func(port int, it exec.Item) {
		if port > 0 {
			out.EmitTo(port, it.Batch)
		} else if err := s.second.Process(0, it.Batch, out); err != nil {
			panic(err)
		}
	})
}

func (s *twoSteps) Process(in int, b *vec.Batch, out *exec.Out) error {
	return s.first.Process(in, b, s.through(out))
}

func (s *twoSteps) Advance(w types.Instant, out *exec.Out) error {
	s.behind = append(s.behind, w)
	return s.first.Advance(w, s.through(out))
}

func (s *twoSteps) Finish(out *exec.Out) error {
	s.behind = append(s.behind, theEnd)
	return s.first.Finish(s.through(out))
}

func (s *twoSteps) Drain(out *exec.Out) (bool, error) {
	if len(s.first.sending) > 0 {
		_, err := s.first.Drain(s.through(out))
		return true, err
	}
	if len(s.behind) > 0 {
		w := s.behind[0]
		if s.behind = s.behind[1:]; w == theEnd {
			return true, s.second.Finish(out)
		}
		return true, s.second.Advance(w, out)
	}
	return s.second.(exec.Drainer).Drain(out)
}

func (s *twoSteps) Save(w *checkpoint.Writer) error {
	w.Uint(uint64(len(s.behind)))
	for _, at := range s.behind {
		w.Int(at)
	}
	if err := s.first.Save(w); err != nil {
		return err
	}
	return s.second.(exec.Saver).Save(w)
}

func (s *twoSteps) Load(r *checkpoint.Reader) error {
	for range r.Count(1) {
		s.behind = append(s.behind, r.Int())
	}
	if err := s.first.Load(r); err != nil {
		return err
	}
	return s.second.(exec.Saver).Load(r)
}

func (s *twoSteps) Merge(from exec.Operator, owns func(uint64) bool) error {
	o := from.(*twoSteps)
	s.behind = o.behind
	if err := s.first.Merge(o.first, owns); err != nil {
		return err
	}
	return s.second.(exec.Merger).Merge(o.second, owns)
}

func TestAggregateInTwoStepsIsSaved(t *testing.T) {
	examples(t, 6, func(rt *rapid.T) {
		a := drawTest(rt, append([]*types.Window{nil, nil, nil}, aligned...))
		a.args.Aggs = slices.DeleteFunc(a.args.Aggs, func(c types.AggCall) bool {
			p, err := aggNamed(c.Sig.Name).New(&c)
			require.NoError(t, err)
			_, ok := p.(spec.Partialer)
			return !ok
		})
		out := a.finish(t)
		test := exectest.Test{Script: a.script(chooser(rt)), Make: func() exec.Operator { return newTwoSteps(t, a.context(out)) }}
		if len(a.args.By) > 0 {
			test.Keys = a.keys
		}
		exectest.Verify(t, test)
	})
}

// stage makes a stage that keeps all columns.
func stageTest(t *testing.T, name string, in types.Stream, args *types.StageArgs, script []exectest.Input) exectest.Test {
	for _, s := range All() {
		if s.Doc.Name == name {
			return exectest.Test{Script: script, Make: func() exec.Operator {
				op, err := s.New(&spec.StageContext{Args: args, In: []types.Stream{in}, Out: in, Width: 1, Lib: noLib{},
					Env:  &exec.Env{Now: func() int64 { return 0 }, Stats: &exec.Stats{}, Splits: &exec.Splits{}},
					Fail: func(_ *eval.Ctx, b *vec.Batch, _ *exec.Out) (*vec.Batch, error) { return b, nil }})
				require.NoError(t, err)
				return op
			}}
		}
	}
	t.Fatal(name)
	return exectest.Test{}
}

// A window of more rows than a batch has is given out in pieces.
func TestSortOfManyRowsIsSaved(t *testing.T) {
	in := types.Stream{Schema: testSchema, Time: true, Bounded: true}
	by := types.Item{Expr: &types.Expr{Op: types.OpCol, Col: 2, Type: testSchema.Fields[2].Type}, Desc: true}
	a := &aggregateTest{in: in}
	for i := range int64(2*vec.MaxRows + 100) {
		a.rows = append(a.rows, testRow{time: i, mark: types.MinInstant, values: []any{nil, nil, i * 7919 % 5000, 0.0, nil, nil}})
	}
	script := []exectest.Input{exectest.Rows(a.batch(a.rows[:vec.MaxRows])), exectest.Rows(a.batch(a.rows[vec.MaxRows:])), exectest.Finish()}
	test := stageTest(t, "sort", in, &types.StageArgs{By: []types.Item{by}}, script)
	test.Whole = true
	exectest.Verify(t, test)
}

func TestStagesAreSaved(t *testing.T) {
	in := types.Stream{Schema: testSchema, Time: true, Bounded: true}
	by := func(col int, desc bool) types.Item {
		return types.Item{Expr: &types.Expr{Op: types.OpCol, Col: col, Type: testSchema.Fields[col].Type}, Desc: desc}
	}
	examples(t, 4, func(rt *rapid.T) {
		a := drawTest(rt, []*types.Window{nil})
		script := a.script(chooser(rt))
		exectest.Verify(t, stageTest(t, "limit", in, &types.StageArgs{Count: 7}, script))
		exectest.Verify(t, stageTest(t, "sample", in, &types.StageArgs{Fraction: 0.5}, script))
		exectest.Verify(t, stageTest(t, "sort", in, &types.StageArgs{By: []types.Item{by(1, true), by(0, false)}}, script))
		exectest.Verify(t, stageTest(t, "sort", in, &types.StageArgs{By: []types.Item{by(4, false)}, Window: &types.Window{Kind: types.Tumbling, Size: 10}}, script))
	})
}
