package op

import (
	"fmt"
	"strings"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// partialShape is what an aggregate emits that works before the exchange: keys; the slice of time and the end of the
// first window that it counts in, if there are windows; then the partial results of the calls.
type partialShape struct {
	schema types.Schema
	sliced bool
	ok     bool
}

// shapeOf returns the shape of partial results; ok is false where the stage cannot work in two steps.
func shapeOf(c *spec.StageContext) partialShape {
	a := c.Args
	s := partialShape{ok: !c.In[0].Updating && !c.Out.Updating && a.Late.Target == "" && a.Retain.For == 0}
	if w := a.Window; w != nil {
		s.sliced = true
		if w.Processing || w.Kind == types.Session || w.Kind == types.CountWindow {
			s.ok = false
		}
	}
	for _, k := range a.By {
		s.schema.Fields = append(s.schema.Fields, types.Field{Name: k.Name, Type: k.Expr.Type})
	}
	add := func(name string, t types.Type) {
		s.schema.Fields = append(s.schema.Fields, types.Field{Name: name, Type: t})
	}
	if s.sliced {
		add("@slice", types.T(types.Int))
		add("@open", types.T(types.Int))
	}
	for i := range a.Aggs {
		def := c.Aggs(a.Aggs[i].Sig.Name)
		if def == nil {
			s.ok = false
			return s
		}
		agg, err := def.New(&a.Aggs[i])
		p, ok := agg.(spec.Partialer)
		if err != nil || !ok {
			s.ok = false
			return s
		}
		for k, t := range p.PartialTypes() {
			add(fmt.Sprintf("@%d.%d", i, k), t)
		}
	}
	return s
}

const (
	// partialGroups is how many groups are kept before the exchange: they should stay in the processor's cache.
	partialGroups = 16 << 10
	// partialValues is how many values, for example of sets, groups keep before the exchange, for the same reason. Where they
	// hardly repeat among so many, it becomes up to mostValues: what is sent of one group has an end.
	partialValues = 16 << 10
	mostValues    = 1 << 20
	// bypassBatches is for how many batches grouping is left out after it has not paid.
	bypassBatches = 64
)

// partial aggregates before the exchange: it keeps the groups of open slices and sends their partial results when a
// window that needs them is about to fire, when there are too many, and at the end. Where keys hardly repeat, it passes
// each row on as a partial result by itself.
type partial struct {
	in    *inputs
	calls *calls
	shape partialShape
	deal
	whole *pane // without windows
	alone *state.Rows

	groups, rows int // since the last time that all were sent
	look         int // rows at which values are counted next
	keep         int // how many values are kept
	bypass       int
	sending      []*pane
	next         uint32
}

func newPartial(c *spec.StageContext) (exec.Operator, types.Schema, bool) {
	shape := shapeOf(c)
	if !shape.ok {
		return nil, types.Schema{}, false
	}
	cs, args, err := newCalls(c)
	if err != nil {
		return nil, types.Schema{}, false
	}
	in, err := newInputs(c, args)
	if err != nil {
		return nil, types.Schema{}, false
	}
	in.reuse = true // what is kept and sent are copies
	p := &partial{in: in, calls: cs, shape: shape, alone: state.NewRows(cs.words), keep: partialValues}
	if shape.sliced {
		p.deal = newDeal(c, cs, p)
	} else {
		p.passing = newPassing(c, p)
		p.whole = &pane{paneMemory: paneMemory{table: state.NewTable(keyTypes(c.Args), cs.words)}}
	}
	return p, shape.schema, true
}

func (p *partial) Process(_ int, b *vec.Batch, out *exec.Out) error {
	if err := p.finishOwed(out); err != nil {
		return err
	}
	r, err := p.in.take(b, out)
	if err != nil {
		return err
	}
	if p.whole != nil {
		p.whole.rows, p.whole.hashes = r.rows, r.hashes
		p.batch = append(p.batch[:0], p.whole)
	} else {
		p.divide(r)
		p.late.send(r.b, out)
	}
	for _, n := range p.batch {
		if p.bypass > 0 {
			p.direct(n, r, out)
			continue
		}
		before := n.table.Len()
		p.calls.one = p.in.keys == 0
		n.ids = room(n.ids, len(n.rows))
		n.table.Lookup(r.keys, n.rows, n.hashes, n.ids, true)
		p.calls.apply(n.table.Rows(), n.table.Off(), n.ids, r, n.rows)
		p.groups += n.table.Len() - before
		p.rows += len(n.rows)
	}
	if p.whole != nil {
		p.whole.rows, p.whole.hashes = nil, nil
		p.batch = p.batch[:0]
	}
	p.dealt()
	if p.bypass > 0 {
		p.bypass--
	}
	if p.groups >= partialGroups {
		if p.rows < 2*p.groups {
			p.bypass = bypassBatches
		}
		p.sendAll()
		return p.finishOwed(out)
	}
	if p.calls.grow > 0 && p.rows >= p.look {
		if n := p.values(); n >= p.keep {
			if p.rows*p.calls.grow < 2*n {
				p.keep = min(2*p.keep, mostValues)
			}
			p.sendAll()
			return p.finishOwed(out)
		}
		p.look = p.rows + max(p.groups, vec.MaxRows) // to look at all groups costs less than the rows did
	}
	return nil
}

// values returns how many values the groups keep.
func (p *partial) values() int {
	if p.whole != nil {
		return p.calls.values(p.whole.table)
	}
	n := 0
	for _, x := range p.panes.open {
		n += p.calls.values(x.table)
	}
	return n
}

// direct sends each row of the pane as a partial result of its own.
func (p *partial) direct(n *pane, r *rowsIn, out *exec.Out) {
	p.alone.Reset()
	ids := room(n.ids, len(n.rows))
	for i := range ids {
		ids[i] = p.alone.Add()
	}
	n.ids = ids
	p.calls.one = false
	p.calls.apply(p.alone, 0, ids, r, n.rows)
	keys := make([]*vec.Column, len(r.keys))
	for k, c := range r.keys {
		keys[k] = c.Gather(n.rows)
		ownStrings(keys[k])
	}
	p.send(n, keys, p.alone, 0, ids, out)
	p.calls.free(p.alone, 0, ids)
}

// ownStrings copies the strings of a column that is our own: the source may use the memory of its rows again.
func ownStrings(c *vec.Column) {
	size := 0
	for _, s := range c.Strs {
		size += len(s)
	}
	if size > 0 {
		var block strings.Builder
		block.Grow(size)
		for i, s := range c.Strs {
			at := block.Len()
			block.WriteString(s)
			c.Strs[i] = block.String()[at:]
		}
	}
	for _, k := range c.Kids {
		ownStrings(k)
	}
}

func (p *partial) send(n *pane, keys []*vec.Column, rows *state.Rows, off int, ids []uint32, out *exec.Out) {
	if len(ids) == 0 {
		return
	}
	b := &vec.Batch{N: len(ids), Cols: append(make([]*vec.Column, 0, len(p.shape.schema.Fields)), keys...)}
	if p.shape.sliced {
		t := types.T(types.Int)
		b.Cols = append(b.Cols, &vec.Column{Type: t, Ints: filled(n.start, b.N)}, &vec.Column{Type: t, Ints: filled(n.open, b.N)})
	}
	for k, a := range p.calls.aggs {
		b.Cols = append(b.Cols, a.(spec.Partialer).Partial(p.calls.groups(k, rows, off, ids))...)
	}
	out.Emit(b)
}

// sendAll makes all groups owed.
func (p *partial) sendAll() {
	if p.whole != nil {
		p.sending = append(p.sending, p.whole)
	} else {
		p.sending = append(p.sending, p.panes.all()...)
		p.due = p.due[:0]
	}
	p.groups, p.rows, p.look = 0, 0, 0
}

// Advance makes the groups owed that a window needs which fires now.
func (p *partial) Advance(w types.Instant, out *exec.Out) error {
	if err := p.advance(w, out); err != nil || p.whole != nil {
		return err
	}
	for len(p.due) > 0 && p.due[0].next <= w {
		n := p.pop()
		p.sending = append(p.sending, n)
		p.groups -= n.table.Len()
	}
	p.groups = max(p.groups, 0)
	if len(p.due) == 0 {
		p.groups, p.rows, p.look = 0, 0, 0
	}
	return nil
}

// Idle makes all groups owed: their windows may fire before event time goes on here.
func (p *partial) Idle() {
	if p.whole == nil {
		p.sendAll()
	}
}

// Drain sends a piece of what is owed.
func (p *partial) Drain(out *exec.Out) (bool, error) {
	if len(p.sending) == 0 {
		return false, nil
	}
	n := p.sending[0]
	t := n.table
	ids, next := t.All(p.next, vec.MaxRows, room(n.ids, 0))
	p.send(n, t.Keys(ids), t.Rows(), t.Off(), ids, out)
	if p.next = next; next < t.Rows().End() {
		return true, nil
	}
	p.calls.clear(t, t.Off())
	if n != p.whole {
		p.panes.close(n)
		p.recycle(n)
	}
	p.sending, p.next = p.sending[1:], 0
	return len(p.sending) > 0, nil
}

// Finish sends what is left.
func (p *partial) Finish(*exec.Out) error {
	if p.whole != nil {
		p.sendAll()
	}
	return nil
}
