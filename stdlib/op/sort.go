package op

import (
	"slices"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Stage{
	Doc: spec.Doc{Name: "sort", Group: "rows", Signature: "sort by EXPR [asc|desc], … [window W]",
		Text: "Order rows: all of a bounded input, or those of each window. Ascending by default; nulls come last either way, NaN is above all numbers, equal rows keep their order.",
		Examples: []spec.Example{{
			Code: `rows([{n: 2}, {n: nil}, {n: 3}]) |> sort by n desc`,
			Want: "{\"n\":3}\n{\"n\":2}\n{\"n\":null}"}}},
	StageSig: types.StageSig{Items: types.NoItems, Clauses: []string{"by", "window"}, Required: []string{"by"}, Sorts: "asc",
		Output: func(in []types.Stream, a *types.StageArgs) (types.Stream, error) {
			out := in[0]
			switch {
			case out.Updating:
				return out, &types.StageError{Code: "W410", Message: "`sort` cannot take an updating stream", Help: "sort what an `emit final` aggregate gives out"}
			case a.Window != nil && (a.Window.Kind != types.Tumbling || a.Window.Processing):
				return out, &types.StageError{Code: "W411", Clause: "window", Message: "`sort` takes a tumbling window in event time", Help: "write `window tumbling(SIZE)`"}
			case a.Window != nil && !out.Time:
				return out, &types.StageError{Code: "W401", Clause: "window", Message: "`sort … window` needs event time, and the rows have none", Help: "give the source a `time` clause"}
			case a.Window == nil && !out.Bounded && !out.Windowed:
				return out, &types.StageError{Code: "W412", Message: "`sort` of an input that never ends needs a window", Help: "add `window tumbling(1m)`, or sort after a windowed stage"}
			}
			for _, it := range a.By {
				if !it.Expr.Type.Ordered() {
					return out, &types.StageError{Code: "T201", Clause: "by", Message: "`sort` cannot order " + it.Expr.Type.String(), Help: "order by a field of it"}
				}
			}
			return out, nil
		}},
	Traits: func(in []types.Stream, a *types.StageArgs) spec.Traits {
		t := spec.Traits{Spread: spec.InOrder, Passes: true, Mark: a.Window != nil, State: "rows", Bound: "all rows of the input"}
		if a.Window != nil || in[0].Windowed && !in[0].Bounded {
			t.Bound = "rows of open windows"
		}
		return t
	},
	New: func(c *spec.StageContext) (exec.Operator, error) {
		s := &sorter{cols: columnTypes(c.In[0].Schema), ctx: &eval.Ctx{}, fail: c.Fail, now: c.Env.Now, env: c.Env, stage: c.Args.Name, fields: c.In[0].Schema.Fields, window: -1, w: types.MinInstant}
		if c.Args.Window != nil {
			s.size, s.offset = c.Args.Window.Size, c.Args.Window.Offset
		} else if c.In[0].Windowed && !c.In[0].Bounded {
			s.window = c.In[0].Schema.Index("window")
		}
		for _, it := range c.Args.By {
			p, err := eval.Compile(it.Expr, c.Lib)
			if err != nil {
				return nil, err
			}
			s.by, s.keys = append(s.by, p), append(s.keys, it.Expr.Type)
			s.desc = append(s.desc, it.Desc)
		}
		return s, nil
	},
})

// sorter keeps rows until their window closes, or the input ends.
type sorter struct {
	cols   []types.Type // of the rows
	keys   []types.Type
	by     []*eval.Prog
	desc   []bool
	ctx    *eval.Ctx
	fail   spec.Fail
	now    func() int64
	env    *exec.Env
	stage  string
	fields []types.Field
	size   int64 // of the window; 0: none
	offset int64
	window int             // column `window` of the input, -1: none
	open   map[int64]*runs // by the end of the window
	w      int64           // event time
	going  []*runs         // of windows that have closed, in order
	ready  []*vec.Batch    // the same, sorted by an earlier version
	given  int64           // rows given out so far
}

// sortedSource is the source of sorted rows, which no scan has.
const sortedSource = 0xff

// end returns where the window of a row ends; without windows everything is one that closes at the end of the input.
func (s *sorter) end(b *vec.Batch, r int) int64 {
	switch {
	case s.size > 0:
		t := b.Time[r] - s.offset
		start := t - ((t%s.size)+s.size)%s.size
		return start + s.offset + s.size
	case s.window >= 0:
		return b.Cols[s.window].Kids[1].Ints[r]
	}
	return types.MaxInstant
}

func (s *sorter) Process(_ int, b *vec.Batch, out *exec.Out) error {
	s.ctx.Reset(s.now())
	keys := make([]*vec.Column, len(s.by))
	for i, p := range s.by {
		keys[i] = p.Eval(s.ctx, b, b.Sel)
	}
	b, err := s.fail(s.ctx, b, out)
	if err != nil {
		return err
	}
	if s.open == nil {
		s.open = map[int64]*runs{}
	}
	keyed := b.With(append(slices.Clone(b.Cols), keys...))
	var rows []uint32
	flush := func(end int64) {
		if len(rows) == 0 {
			return
		}
		if s.open[end] == nil {
			s.open[end] = &runs{}
		}
		s.add(s.open[end], keyed, rows)
		rows = rows[:0]
	}
	last := int64(0)
	for i := range b.Rows() {
		r := b.Row(i)
		end := s.end(b, r)
		closed := s.w
		if b.Mark != nil {
			closed = max(closed, b.Mark[r])
		}
		if s.size > 0 && end <= closed {
			s.env.Stats.Late.Add(1)
			s.env.Stats.LateDropped.Add(1)
			sampleLate(s.env, s.stage, s.fields, b, []uint32{uint32(r)})
			continue
		}
		if end != last {
			flush(last)
			last = end
		}
		rows = append(rows, uint32(r))
	}
	flush(last)
	return nil
}

// Advance lets the windows go that have closed, in their order.
func (s *sorter) Advance(w types.Instant, _ *exec.Out) error {
	s.w = w
	var ends []int64
	for e := range s.open {
		if e <= w {
			ends = append(ends, e)
		}
	}
	slices.Sort(ends)
	for _, e := range ends {
		s.going = append(s.going, s.open[e])
		delete(s.open, e)
	}
	return nil
}

// Drain emits the next sorted batch.
func (s *sorter) Drain(out *exec.Out) (bool, error) {
	if len(s.ready) > 0 {
		out.Emit(s.ready[0])
		s.ready = s.ready[1:]
		return true, nil
	}
	for len(s.going) > 0 {
		b := s.take(s.going[0], vec.MaxRows)
		if b == nil {
			s.going = s.going[1:]
			continue
		}
		b = b.With(b.Cols[:len(s.cols)])
		// Sorted rows have an order of their own, which stages behind go by: it takes the place of where they were read.
		b.Pos = make([]uint64, b.N)
		for i := range b.Pos {
			b.Pos[i] = vec.Position(sortedSource, 0, s.given)
			s.given++
		}
		out.Emit(b)
		return true, nil
	}
	return false, nil
}

// Finish has nothing to add: Advance(MaxInstant) has closed everything.
func (s *sorter) Finish(*exec.Out) error { return nil }
