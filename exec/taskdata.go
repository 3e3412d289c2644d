package exec

import (
	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/ebb-lang/ebb/lang/types"
)

// taskData is what a task itself has to remember, besides the state of its source and operators.
type taskData struct {
	ended  bool // the source or the gate has given its end
	over   bool // and everything is through
	chunk  int64
	inputs []inputData
	groups []groupData
	gate   gateData
	nodes  []nodeData
	next   []int64 // of each writer: whose turn it is
	read   int64   // rows that its source has emitted, see feed.read; -1: not known
	// drained tells that the source was ended by Drain, before its input ended.
	drained bool
}

// inputData is what a gate knows of one channel.
type inputData struct {
	edge               string
	from, fromWidth    int
	old                bool
	nth                int // of the old ones
	w                  types.Instant
	idle, ended, short bool
}

type groupData struct {
	edge  string
	turn  int64
	chunk int64
	cut   bool
}

type gateData struct {
	w                   types.Instant
	idle, ended, halted bool
}

// nodeData is what is known of an operator: what it was told and what waits for it.
type nodeData struct {
	id           string
	w            types.Instant
	owes, done   bool
	queue, after []Item // signals
	tick         types.Instant
	off          bool
}

func (d *taskData) save(w *checkpoint.Writer) {
	w.Bool(d.ended)
	w.Bool(d.over)
	w.Int(d.chunk)
	w.Uint(uint64(len(d.inputs)))
	for _, x := range d.inputs {
		w.String(x.edge)
		w.Uint(uint64(x.from))
		w.Uint(uint64(x.fromWidth))
		w.Bool(x.old)
		w.Uint(uint64(x.nth))
		w.Int(x.w)
		w.Bool(x.idle)
		w.Bool(x.ended)
		w.Bool(x.short)
	}
	w.Uint(uint64(len(d.groups)))
	for _, x := range d.groups {
		w.String(x.edge)
		w.Int(x.turn)
		w.Int(x.chunk)
		w.Bool(x.cut)
	}
	w.Int(d.gate.w)
	w.Bool(d.gate.idle)
	w.Bool(d.gate.ended)
	w.Bool(d.gate.halted)
	w.Uint(uint64(len(d.nodes)))
	for _, x := range d.nodes {
		w.String(x.id)
		w.Int(x.w)
		w.Bool(x.owes)
		w.Bool(x.done)
		saveSignals(w, x.queue)
		saveSignals(w, x.after)
		w.Int(x.tick)
		w.Bool(x.off)
	}
	w.Uint(uint64(len(d.next)))
	for _, n := range d.next {
		w.Int(n)
	}
	w.Int(d.read)
	w.Bool(d.drained && !fault.On("forget-drain"))
}

func (d *taskData) load(r *checkpoint.Reader) error {
	d.ended = r.Bool()
	d.over = r.Bool()
	d.chunk = r.Int()
	d.inputs = make([]inputData, r.Count(8))
	for i := range d.inputs {
		d.inputs[i] = inputData{r.String(), int(r.Uint()), int(r.Uint()), r.Bool(), int(r.Uint()), r.Int(), r.Bool(), r.Bool(), r.Bool()}
	}
	d.groups = make([]groupData, r.Count(4))
	for i := range d.groups {
		d.groups[i] = groupData{r.String(), r.Int(), r.Int(), r.Bool()}
	}
	d.gate = gateData{r.Int(), r.Bool(), r.Bool(), r.Bool()}
	d.nodes = make([]nodeData, r.Count(8))
	for i := range d.nodes {
		d.nodes[i] = nodeData{r.String(), r.Int(), r.Bool(), r.Bool(), loadSignals(r), loadSignals(r), r.Int(), r.Bool()}
	}
	d.next = make([]int64, r.Count(1))
	for i := range d.next {
		d.next[i] = r.Int()
	}
	if d.read = -1; r.Left() > 0 { // checkpoints did not always tell
		d.read = r.Int()
	}
	d.drained = r.Left() > 0 && r.Bool()
	return r.Done()
}

func saveSignals(w *checkpoint.Writer, its []Item) {
	w.Uint(uint64(len(its)))
	for _, it := range its {
		w.Uint(uint64(it.Kind))
		w.Int(it.W)
		w.Int(it.N)
	}
}

func loadSignals(r *checkpoint.Reader) []Item {
	its := make([]Item, r.Count(3))
	for i := range its {
		its[i] = Item{Kind: ItemKind(r.Uint()), W: r.Int(), N: r.Int()}
		if k := its[i].Kind; k == Rows || k > End {
			r.Fail("a signal of kind %d", k)
		}
	}
	return its
}

// data returns what the task has to remember at this moment.
func (t *Task) data() taskData {
	d := taskData{ended: t.ended, over: t.over, chunk: t.chunk, drained: t.drained}
	if g := t.gate; g != nil {
		d.gate = gateData{g.w, g.idle, g.ended, g.halted}
		for i, p := range g.inputs {
			if p.gone {
				continue
			}
			in := t.inputs[i]
			d.inputs = append(d.inputs, inputData{in.edge.ID, in.from, in.fromWidth, in.old, in.nth, p.w, p.idle, p.ended, p.short})
		}
		for _, gr := range g.groups {
			d.groups = append(d.groups, groupData{t.inputs[gr.first].edge.ID, int64(gr.turn), gr.chunk, gr.cut})
		}
	}
	for _, n := range t.nodes {
		x := nodeData{id: n.id, w: n.w, owes: n.owes, done: n.done, queue: append([]Item(nil), n.queue...), after: append([]Item(nil), n.after...)}
		for _, k := range t.tickers {
			if k.n == n {
				x.tick, x.off = k.next, k.off
			}
		}
		d.nodes = append(d.nodes, x)
	}
	for _, w := range t.writers {
		d.next = append(d.next, int64(w.next))
	}
	if t.feed != nil {
		d.read = t.feed.read
	}
	return d
}
