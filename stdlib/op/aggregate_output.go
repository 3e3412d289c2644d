package op

import (
	"bytes"
	"fmt"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// outputs makes the output rows of an aggregate: keys, window, and the items over the calls' results.
type outputs struct {
	prog     *eval.Prog
	ctx      eval.Ctx
	fail     spec.Fail
	env      *exec.Env
	schema   types.Schema
	aggs     []types.AggCall
	keys     int
	windowed bool  // there is a column `window`
	timed    bool  // rows have an event time
	back     int64 // of the event time before the window's end: 1, of sessions 0

	// For changelogs.
	sent   state.Arena // what was given out for each group: all but the keys
	encode []byte
	old    []byte
}

func newOutputs(c *spec.StageContext) (*outputs, error) {
	o := &outputs{fail: c.Fail, env: c.Env, schema: c.Out.Schema, aggs: c.Args.Aggs, keys: len(c.Args.By), windowed: c.Args.Window != nil, timed: c.Out.Time, back: 1}
	if w := c.Args.Window; w != nil && w.Kind == types.Session {
		o.back = 0
	}
	if c.FailOf != nil { // a failing row is shown as what the items see: keys, window and the calls' results
		seen := append([]types.Field(nil), c.Out.Schema.Fields[:len(c.Out.Schema.Fields)-len(c.Args.Post)]...)
		for _, call := range c.Args.Aggs {
			seen = append(seen, types.Field{Name: call.Name, Type: call.Result})
		}
		o.fail = c.FailOf(types.Schema{Fields: seen})
	}
	exprs := make([]*types.Expr, len(c.Args.Post))
	for i, it := range c.Args.Post {
		exprs[i] = it.Expr
	}
	var err error
	o.prog, err = eval.CompileAll(exprs, c.Lib)
	return o, err
}

// group is what output rows are made of.
type results struct {
	n          int
	keys       []*vec.Column
	start, end []int64 // of the windows
	calls      []*vec.Column
}

// rows makes output rows. Rows whose items fail are dealt with and not selected.
func (o *outputs) rows(r *results, out *exec.Out) (*vec.Batch, error) {
	cols := append(make([]*vec.Column, 0, len(r.keys)+1+len(r.calls)), r.keys...)
	if o.windowed {
		cols = append(cols, o.window(r))
	}
	given := make([]*vec.Column, len(o.schema.Fields))
	items := given[copy(given, cols):]
	b := &vec.Batch{N: r.n, Cols: append(cols, r.calls...)}
	if o.timed {
		b.Time = o.times(r.end)
	}
	o.ctx.Reset(o.env.Now())
	o.prog.EvalAll(&o.ctx, b, nil, items)
	o.tooLarge(r)
	b, err := o.fail(&o.ctx, b, out)
	if err != nil {
		return nil, err
	}
	return b.With(given), nil
}

// tooLarge fails the rows in which a call gives a list that is larger than a value may be.
func (o *outputs) tooLarge(r *results) {
	for k, c := range r.calls {
		if c.Type.Kind != types.List {
			continue
		}
		for i := range r.n {
			n := c.Size(i)
			if n <= vec.MaxValue {
				continue
			}
			err := vec.TooLarge("list", n)
			if sig := o.aggs[k].Sig; sig.Cap != "" {
				err = fmt.Errorf("%w; `%s(…, %s: 1_000)` takes fewer values", err, sig.Name, sig.Cap)
			}
			o.ctx.Fails = append(o.ctx.Fails, eval.Fail{Row: i, Err: err})
			if c.Valid == nil {
				c.Valid = vec.FullBitmap(r.n)
			}
			c.Valid.Clear(i) // what is shown of the row is to be readable
		}
	}
}

func (o *outputs) window(r *results) *vec.Column {
	t := o.schema.Fields[o.keys].Type
	if r.end == nil {
		return vec.NewNull(t, r.n)
	}
	return &vec.Column{Type: t, Kids: []*vec.Column{{Type: t.Fields[0].Type, Ints: r.start}, {Type: t.Fields[1].Type, Ints: r.end}}}
}

func (o *outputs) times(ends []int64) []int64 {
	if o.back == 0 {
		return ends
	}
	ts := make([]int64, len(ends))
	for i, e := range ends {
		ts[i] = satSub(e, o.back)
	}
	return ts
}

// emit gives out final rows.
func (o *outputs) emit(r *results, out *exec.Out) error {
	b, err := o.rows(r, out)
	if err == nil {
		out.Emit(b)
	}
	return err
}

// revise gives out what has changed: for each row of r, which stands for a group, what was given out before is in two
// words of memory, and lives says whether the group still is. The words are brought up to date.
func (o *outputs) revise(r *results, words func(i int) []uint64, lives func(i int) bool, out *exec.Out) error {
	b, err := o.rows(r, out)
	if err != nil {
		return err
	}
	ok := vec.Bitmap(nil)
	if b.Sel != nil {
		ok = vec.NewBitmap(b.N)
		for _, i := range b.Sel {
			ok.Set(int(i))
		}
	}
	l := o.log()
	for i := range r.n {
		w := words(i)
		now := lives(i) && (ok == nil || ok.Get(i))
		if now {
			o.encode = o.encode[:0]
			for _, c := range b.Cols[o.keys:] {
				o.encode = state.AppendValue(o.encode, c, i)
			}
		}
		had := w[0] != 0
		if had {
			o.old = state.AppendText(o.old[:0], w, &o.sent)
		}
		switch {
		case had && now && bytes.Equal(o.old, o.encode), !had && !now:
			continue
		case had && now:
			l.add(i, vec.UpdateBefore, o.old)
			l.add(i, vec.UpdateAfter, o.encode)
		case had:
			l.add(i, vec.Delete, o.old)
		default:
			l.add(i, vec.Insert, o.encode)
		}
		state.FreeText(w, &o.sent)
		if now {
			state.SetText(w, &o.sent, o.encode)
		}
	}
	l.emit(b.Cols[:o.keys], out)
	return nil
}

// retract takes back what was given out for groups that are no more.
func (o *outputs) retract(keys []*vec.Column, n int, words func(i int) []uint64, out *exec.Out) {
	l := o.log()
	for i := range n {
		if w := words(i); w[0] != 0 {
			o.old = state.AppendText(o.old[:0], w, &o.sent)
			l.add(i, vec.Delete, o.old)
			state.FreeText(w, &o.sent)
		}
	}
	l.emit(keys, out)
}

// changelog collects changes.
type changelog struct {
	o      *outputs
	rows   []uint32
	change []vec.Change
	cols   []*state.Buf
}

func (o *outputs) log() *changelog {
	l := &changelog{o: o}
	for _, f := range o.schema.Fields[o.keys:] {
		l.cols = append(l.cols, state.NewBuf(f.Type))
	}
	return l
}

func (l *changelog) add(i int, c vec.Change, encoded []byte) {
	l.rows = append(l.rows, uint32(i))
	l.change = append(l.change, c)
	for _, b := range l.cols {
		encoded = b.Decode(encoded)
	}
}

// emit gives out the changes in batches; an update is never torn apart.
func (l *changelog) emit(keys []*vec.Column, out *exec.Out) {
	if len(l.rows) == 0 {
		return
	}
	b := &vec.Batch{N: len(l.rows), Change: l.change}
	for _, k := range keys {
		b.Cols = append(b.Cols, k.Gather(l.rows))
	}
	for _, c := range l.cols {
		b.Cols = append(b.Cols, c.Column())
	}
	if l.o.timed {
		b.Time = l.o.times(b.Cols[l.o.keys].Kids[1].Ints)
	}
	for from := 0; from < b.N; {
		to := min(from+vec.MaxRows, b.N)
		if to < b.N && l.change[to] == vec.UpdateAfter {
			to--
		}
		out.Emit(b.Slice(from, to).Dense())
		from = to
	}
}
