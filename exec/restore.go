package exec

import (
	"fmt"
	"math"
	"slices"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/ebb-lang/ebb/lang/types"
)

// Restore is a checkpoint that a job starts from. What it holds is put back before any task steps: the state of sources,
// operators and sinks, what tasks know of event time and ends, and the rows in flight, as ordinary content of channels.
// Where the number of tasks has changed, keyed state goes to the tasks that own its keys now, and what was in flight is
// taken by the gates before anything new; see gateGroup.old.
type Restore struct {
	Manifest *checkpoint.Manifest
	// Read returns the bytes of a block; Stream a reader of several that checks them only when they have been loaded.
	Read   func(checkpoint.Ref) ([]byte, error)
	Stream func(checkpoint.ID, []checkpoint.Ref) (*checkpoint.Reader, error)
	// Drop names stages whose state is not wanted.
	Drop map[string]bool
	// Secure makes durable what is read, before an output is changed in the knowledge of it; nil: it is.
	Secure func() error
	// NewOutputs says that the outputs are others: they begin empty, with the rows that were in flight to them.
	NewOutputs bool

	rows int64 // put back
}

// Rows returns how many rows in flight have been put back.
func (x *Restore) Rows() int64 { return x.rows }

// parts returns what a node has saved: one chain a task, in order.
func (x *Restore) parts(id string) (parts []checkpoint.Chain) {
	for _, t := range x.tasks(func(n *checkpoint.Node) bool { return n.ID == id }) {
		for _, n := range t.Nodes {
			if n.ID == id {
				parts = append(parts, n.Chain())
			}
		}
	}
	return parts
}

// open reads a part of a node.
func (x *Restore) open(id string, part checkpoint.Chain) (chain []*checkpoint.Reader, err error) {
	for _, blocks := range part {
		data, err := checkpoint.Join(x.Read, blocks)
		if err != nil {
			return nil, fmt.Errorf("reading the state of %s: %w", id, err)
		}
		chain = append(chain, checkpoint.NewReader(x.Manifest.ID, data))
	}
	return chain, nil
}

// load gives an operator or a sink a part back. That of an operator is read while it is loaded, so that memory is needed for what
// becomes of it only; a sink may touch the disk, and shall not in the belief of what is damaged.
func (x *Restore) load(n *node, sv Saver, part checkpoint.Chain) error {
	if n.sink {
		chain, err := x.open(n.id, part)
		if err == nil {
			err = load(sv, chain...)
		}
		return err
	}
	for _, blocks := range part {
		r, err := x.Stream(x.Manifest.ID, blocks)
		if err != nil {
			return fmt.Errorf("reading the state of %s: %w", n.id, err)
		}
		if err := load(sv, r); err != nil {
			return err
		}
	}
	return nil
}

// tasks returns the saved tasks that have a node of a kind, by their index.
func (x *Restore) tasks(has func(*checkpoint.Node) bool) []*checkpoint.Task {
	var out []*checkpoint.Task
	for i := range x.Manifest.Tasks {
		t := &x.Manifest.Tasks[i]
		for k := range t.Nodes {
			if has(&t.Nodes[k]) {
				out = append(out, t)
				break
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *checkpoint.Task) int { return a.Index - b.Index })
	return out
}

// source returns what the tasks of a source have saved; nil if the source is new.
func (x *Restore) source(group string) ([]*checkpoint.Reader, error) {
	if x == nil {
		return nil, nil
	}
	if x.dropped(sourceOf(group)) {
		return nil, nil
	}
	parts := x.parts(sourceOf(group))
	var out []*checkpoint.Reader
	for _, p := range parts {
		if len(p) != 1 {
			return nil, fmt.Errorf("%s: the state of a source is not one base", group)
		}
		chain, err := x.open(group, p)
		if err != nil {
			return nil, err
		}
		out = append(out, chain...)
	}
	return out, nil
}

// into puts everything but the sources back.
func (x *Restore) into(g *Graph, b *builder) error {
	r := &restoring{Restore: x, tasks: map[string][]*taskData{}, nodes: map[string][]nodeData{}, flights: map[flightKey]*landed{}, loads: newLoads()}
	err := r.read()
	if err == nil {
		err = r.graph(g, b)
		r.drain(b)
	}
	if failed := r.loads.wait(); failed != nil && err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	all := int64(0)
	for _, k := range r.order {
		if f := r.flights[k]; !f.landed && f.rows > 0 && !x.dropped(k.edge) {
			return fmt.Errorf("%d rows in flight in %s were not put back", f.rows, k.edge)
		}
		all += r.flights[k].rows
	}
	if len(x.Drop) == 0 && all != x.rows {
		return fmt.Errorf("%d rows were in flight, %d have been put back", all, x.rows)
	}
	return nil
}

// drain goes on with a drain that the checkpoint was taken amid: some tasks of the sources had ended their input early,
// and the others would wait for what those have not read.
func (r *restoring) drain(b *builder) {
	for _, old := range r.tasks {
		if slices.ContainsFunc(old, func(d *taskData) bool { return d.drained }) {
			for _, tasks := range b.tasks {
				for _, t := range tasks {
					t.drain.Store(true)
				}
			}
			return
		}
	}
}

// graph puts tasks and channels back, and begins to load the operators.
func (r *restoring) graph(g *Graph, b *builder) error {
	for _, gr := range g.Groups {
		for _, t := range b.tasks[gr] {
			for _, n := range t.nodes {
				if err := r.node(n, t); err != nil {
					return err
				}
			}
			r.task(t)
			if t.gate != nil {
				r.gate(t)
				if t.ended { // it may have had enough before its inputs ended: what they still send must not wait for it
					t.gate.close()
				}
			}
		}
		if gr.Source != nil {
			r.feeds(gr, b.tasks[gr])
		}
	}
	return nil
}

// restoring is a checkpoint on its way into a graph.
type restoring struct {
	*Restore
	tasks   map[string][]*taskData // by group, in order of the tasks
	nodes   map[string][]nodeData  // by node, in order of the tasks
	flights map[flightKey]*landed
	order   []flightKey
	loads   *loads
}

// flightKey names a channel of the earlier run.
type flightKey struct {
	edge                string
	from, to, fromWidth int
	old                 bool
	nth                 int
}

// landed is what was in flight in a channel, read.
type landed struct {
	first  uint64
	items  []Item
	ports  []int
	rows   int64
	landed bool // somebody has taken it over
}

func (r *restoring) read() error {
	m := r.Manifest
	for i := range m.Tasks {
		t := &m.Tasks[i]
		d := &taskData{}
		if err := d.load(checkpoint.NewReader(m.ID, t.Data)); err != nil {
			return fmt.Errorf("reading task %s[%d]: %w", t.Group, t.Index, err)
		}
		if t.Index != len(r.tasks[t.Group]) {
			return fmt.Errorf("task %s[%d] is not in its place", t.Group, t.Index)
		}
		r.tasks[t.Group] = append(r.tasks[t.Group], d)
		for _, n := range d.nodes {
			r.nodes[n.id] = append(r.nodes[n.id], n)
		}
	}
	for i := range m.Channels {
		c := &m.Channels[i]
		f := &landed{first: c.First}
		for _, ref := range c.Blocks {
			data, err := r.Read(ref)
			if err != nil {
				return fmt.Errorf("reading the rows in flight of %s: %w", c.Edge, err)
			}
			its, ports, err := DecodeItems(data)
			if err != nil {
				return fmt.Errorf("reading the rows in flight of %s: %w", c.Edge, err)
			}
			f.items, f.ports = append(f.items, its...), append(f.ports, ports...)
		}
		f.rows = int64((&Flight{Items: f.items}).Rows())
		k := flightKey{c.Edge, c.From, c.To, c.FromWidth, c.Old, c.Nth}
		r.flights[k] = f
		r.order = append(r.order, k)
	}
	return nil
}

// node gives an operator its state back, and what it was told: that of the same task, or at another width its part of all.
func (x *restoring) node(n *node, t *Task) error {
	if x.dropped(n.id) {
		return nil
	}
	parts := x.saved(n.id)
	switch {
	case len(parts) == 0, n.sink && x.NewOutputs:
	case len(parts) == t.width:
		if parts[t.index].chain == nil { // it had nothing to save
			break
		}
		sv, ok := n.op.(Saver)
		if !ok {
			return fmt.Errorf("%s: cannot be restored", n.name)
		}
		bring := func() error {
			if err := x.load(n, sv, parts[t.index].chain); err != nil {
				return fmt.Errorf("restoring %s: %w", n.name, err)
			}
			return nil
		}
		if !n.sink {
			x.loads.begin(bring)
			break
		}
		if err := bring(); err != nil { // it may touch the disk
			return err
		}
	default:
		if err := x.merge(n, t, parts); err != nil {
			return fmt.Errorf("restoring %s at parallelism %d instead of %d: %w", n.name, t.width, len(parts), err)
		}
	}
	x.told(n, t, x.nodes[n.id])
	return nil
}

// part is what one task of an earlier run has saved of a node.
type part struct {
	chain checkpoint.Chain // nil: there was nothing to save
	chunk int64            // that the task was at
}

// saved returns what was saved of a node, by the tasks it was in; nil if there was nothing.
func (r *restoring) saved(id string) []part {
	var parts []part
	for _, t := range r.Restore.tasks(func(n *checkpoint.Node) bool { return n.ID == id }) {
		for _, n := range t.Nodes {
			if n.ID == id {
				if parts == nil {
					parts = make([]part, len(r.tasks[t.Group]))
				}
				parts[t.Index] = part{n.Chain(), r.tasks[t.Group][t.Index].chunk}
			}
		}
	}
	return parts
}

// told gives a node back what it had been told. At another width it may have to tell those behind it again.
func (x *restoring) told(n *node, t *Task, old []nodeData) {
	switch len(old) {
	case 0:
		return
	case t.width:
		d := old[t.index]
		n.w, n.owes, n.done, n.queue, n.after = d.w, d.owes && !fault.On("forget-owed"), d.done, d.queue, d.after
		if fault.On("forget-signals") {
			n.queue, n.after = nil, nil
		}
		if fault.On("forget-node-watermark") {
			n.w = types.MinInstant
		}
		t.setTick(n, d.tick, d.off)
		return
	}
	n.w = types.MaxInstant
	ended, tick, off := true, types.Instant(math.MaxInt64), true
	for _, d := range old {
		n.w = min(n.w, d.w)
		ended = ended && (d.w == types.MaxInstant || slices.ContainsFunc(d.queue, func(it Item) bool { return it.Kind == End && it.N == 0 }))
		off = off && d.off
		if !d.off {
			tick = min(tick, d.tick)
		}
	}
	t.setTick(n, tick, off)
	// What is owed, and then what the operators behind may not have been told yet.
	n.owes = true
	if n.w > types.MinInstant && n.w < types.MaxInstant {
		n.after = []Item{{Kind: Watermark, W: n.w}}
	}
	if ended {
		n.after = append(n.after, Item{Kind: End})
	}
}

func (t *Task) setTick(n *node, at types.Instant, off bool) {
	for i := range t.tickers {
		if t.tickers[i].n == n {
			t.tickers[i].next, t.tickers[i].off = at, off
		}
	}
}

func load(sv Saver, chain ...*checkpoint.Reader) error {
	for _, r := range chain {
		err := sv.Load(r)
		if err == nil {
			err = r.Done()
		}
		if err = r.Check(err); err != nil {
			return err
		}
	}
	return nil
}

// merge loads the old tasks' operators beside the new one and takes what it owns over.
func (x *restoring) merge(n *node, t *Task, parts []part) error {
	for i, p := range parts {
		if i > 0 && fault.On("merge-first-only") {
			break
		}
		if p.chain == nil {
			continue
		}
		from, err := n.spec.New(i)
		if err != nil {
			return err
		}
		sv, ok := from.(Saver)
		if !ok {
			return fmt.Errorf("it cannot be loaded")
		}
		if err := x.load(n, sv, p.chain); err != nil {
			return err
		}
		switch op := n.op.(type) {
		case Burster:
			op.Later(from, p.chunk, t.owns)
		case Merger:
			err = op.Merge(from, func(hash uint64) bool { return Owner(hash, t.width) == off1(t.index, t.width, "keys-off-by-one") })
		default:
			err = fmt.Errorf("its state is not kept by key")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// owns reports whether what is left of a chunk is the task's: the rows of a source go by chunks, others are dealt by them.
func (t *Task) owns(chunk int64) bool {
	if t.source != nil {
		return int(chunk)%t.parts == t.index
	}
	return int(chunk)%t.width == t.index
}
