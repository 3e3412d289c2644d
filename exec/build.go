package exec

import (
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/ebb-lang/ebb/lang/types"
)

func stack() []byte { return debug.Stack() }

// Setup says how a run begins and what it keeps.
type Setup struct {
	From        *Restore     // nil: afresh
	Checkpoints *Checkpoints // nil: none
	Paused      bool         // until Resume
	// Until says how far the tasks of a source read, by the stable name of their group; they then stand still. nil, or nil
	// returned: as far as there is something. See Restore.ReadTo.
	Until func(group string, task int) *Until
}

// Build makes the tasks, channels and operators of a graph, for a scheduler to step. The run is returned with an error,
// too: it must be closed.
func Build(g *Graph, env *Env, o Setup) (*Run, error) {
	if env.Pauses == nil {
		env.Pauses = &Pauses{}
	}
	r := &Run{env: env, done: make(chan struct{})}
	b := &builder{env: env, tasks: map[*Group][]*Task{}, from: o.From, run: r}
	if err := b.build(g); err != nil {
		return r, err
	}
	if o.From != nil {
		env.Stats.goOn(o.From.Manifest.Stats)
	}
	for _, t := range r.tasks {
		if t.feed != nil && o.Until != nil {
			t.feed.until = o.Until(t.group, t.index)
		}
	}
	if o.Checkpoints != nil {
		r.keeper = newKeeper(r, o.Checkpoints)
		if o.From != nil {
			r.keeper.storage.goOn(o.From)
		}
	} else if o.From != nil {
		if err := r.resume(o.From); err != nil {
			return r, err
		}
	}
	if o.Paused {
		r.Pause()
	}
	return r, nil
}

func (b *builder) build(g *Graph) error {
	if b.from != nil {
		if list := b.from.Misfits(g); len(list) > 0 {
			return &MisfitsError{b.from.Manifest.ID, list}
		}
	}
	for _, gr := range g.Groups {
		for i := range gr.Width {
			number := len(b.run.tasks)
			t := &Task{actor: newActor(fmt.Sprintf("%s[%d]", gr.Name, i)), group: gr.ID, fit: gr.Fit, kind: gr.Kind, index: i, width: gr.Width, env: b.env, paused: &b.run.paused, finished: func() { b.run.taskEnded(number) }}
			b.tasks[gr] = append(b.tasks[gr], t)
			b.run.tasks = append(b.run.tasks, t)
		}
	}
	b.channels(g)
	for _, gr := range g.Groups {
		if err := b.group(gr); err != nil {
			return err
		}
	}
	for _, t := range b.run.tasks {
		t.mayEnd = b.satisfier
	}
	if b.from == nil {
		return nil
	}
	if err := b.from.into(g, b); err != nil {
		return err
	}
	for _, t := range b.run.tasks {
		t.stands(b.from.Manifest.ID, true)
	}
	return nil
}

type builder struct {
	env     *Env
	from    *Restore
	tasks   map[*Group][]*Task
	writers map[*Edge][]*writer // one a producer
	run     *Run
	// satisfier tells that the graph has a Satisfier: only then do tasks ask whether their rows are still wanted.
	satisfier bool
}

// channels makes the channels of every edge, and the gates of their consumers.
func (b *builder) channels(g *Graph) {
	b.writers = map[*Edge][]*writer{}
	sources := sourcesBefore(g)
	for _, e := range g.Edges {
		from, to := b.tasks[e.From], b.tasks[e.To]
		limits := e.limits(channelsTo(e, len(from), len(to)))
		ws := make([]*writer, len(from))
		into := make([][]*Channel, len(to))
		for i, p := range from {
			ws[i] = &writer{spread: e.Spread, keys: e.Keys, keep: e.Keep, chunk: &p.chunk}
			for k, c := range to {
				if pairwise(e, len(from), len(to)) && i != k {
					continue
				}
				ch := NewChannel(limits, c.Wake, p.Wake)
				ws[i].chans = append(ws[i].chans, ch)
				into[k] = append(into[k], ch)
				c.watched(ch, e.ID, i, len(from), 0)
				c.inputs = append(c.inputs, inputOf{edge: e, from: i, fromWidth: len(from), ch: ch})
			}
		}
		b.writers[e] = ws
		for k, c := range to {
			if c.gate == nil {
				c.gate = NewGate()
				c.gate.now = b.env.Now
			}
			c.gate.Add(e.In, into[k], e.InOrder, sources[e.From])
		}
	}
}

// sourcesBefore returns the numbers of the sources that lie before the edges from each group, ascending.
func sourcesBefore(g *Graph) map[*Group][]int {
	into := map[*Group][]*Group{}
	for _, e := range g.Edges {
		into[e.To] = append(into[e.To], e.From)
	}
	of := map[*Group][]int{}
	var find func(gr *Group) []int
	find = func(gr *Group) []int {
		if list, ok := of[gr]; ok {
			return list
		}
		var list []int
		if gr.Source != nil {
			list = []int{slices.Index(g.Groups, gr)}
		}
		for _, from := range into[gr] {
			list = append(list, find(from)...)
		}
		slices.Sort(list)
		of[gr] = slices.Compact(list)
		return of[gr]
	}
	for _, gr := range g.Groups {
		find(gr)
	}
	return of
}

// pairwise reports whether task i leads to task i only.
func pairwise(e *Edge, from, to int) bool { return e.Spread == Rebalance && from == to }

// channelsTo returns how many channels of an edge lead to each task.
func channelsTo(e *Edge, from, to int) int {
	if pairwise(e, from, to) {
		return 1
	}
	return from
}

func (b *builder) group(gr *Group) error {
	tasks := b.tasks[gr]
	if gr.Source != nil {
		hosts := make([]*Host, len(tasks))
		for i, t := range tasks {
			hosts[i] = &Host{Env: b.env, Wake: t.Wake}
		}
		restore, err := b.from.source(gr.ID)
		if err != nil {
			return err
		}
		sources, err := gr.Source(hosts, restore)
		if err != nil {
			return err
		}
		if len(sources) == 0 || len(sources) > len(tasks) {
			return fmt.Errorf("%s: source made %d parts for %d tasks", gr.Name, len(sources), len(tasks))
		}
		for i, t := range tasks {
			t.source, t.parts, t.schema = noSource{}, len(sources), gr.Schema
			if i < len(sources) {
				t.source = sources[i]
				b.run.closers = append(b.run.closers, sources[i].Close)
			}
		}
	}
	for i, t := range tasks {
		made := map[*Node]*node{}
		ports, err := b.ports(gr.Ports, t, i, made)
		if err != nil {
			return err
		}
		if gr.Source != nil {
			t.feed = &feed{watch: b.env.Watch, line: &Line{Edge: gr.ID, From: i, To: i, FromWidth: len(tasks), Source: true}}
			t.root = &Out{feed: t.feed, fail: &t.fail}
			t.heads = &Out{ports: ports, fail: &t.fail}
			continue
		}
		t.head = ports[0][0].node
	}
	return nil
}

func (b *builder) ports(links [][]Link, t *Task, i int, made map[*Node]*node) ([][]target, error) {
	ports := make([][]target, len(links))
	for p, ls := range links {
		for _, l := range ls {
			if l.Edge != nil {
				w := b.writers[l.Edge][i]
				t.addWriter(w)
				ports[p] = append(ports[p], target{edge: w})
				continue
			}
			n, err := b.node(l.Node, t, i, made)
			if err != nil {
				return nil, err
			}
			ports[p] = append(ports[p], target{node: n})
		}
	}
	return ports, nil
}

func (b *builder) node(spec *Node, t *Task, i int, made map[*Node]*node) (*node, error) {
	if made[spec] != nil {
		return nil, fmt.Errorf("%s: two inputs inside one task", spec.Name) // would break the minimum of watermarks
	}
	op, err := spec.New(i)
	if err != nil {
		return nil, err
	}
	if c, ok := op.(interface{ Close() error }); ok {
		b.run.closers = append(b.run.closers, c.Close)
	}
	if s, ok := op.(*SinkOperator); ok {
		if c, ok := s.Sink.(Committer); ok {
			b.run.committers = append(b.run.committers, c)
		}
	}
	n := &node{id: spec.ID, fit: spec.Fit, name: spec.Name, spec: spec, op: op, w: types.MinInstant, sink: spec.Sink}
	made[spec] = n
	ports, err := b.ports(spec.Ports, t, i, made)
	if err != nil {
		return nil, err
	}
	n.out = &Out{ports: ports, fail: &t.fail}
	t.nodes = append(t.nodes, n)
	if _, ok := op.(Satisfier); ok {
		b.satisfier = true
	}
	if _, ok := op.(Burster); ok {
		t.bursts = append(t.bursts, n)
	}
	if k, ok := op.(Ticker); ok {
		t.tickers = append(t.tickers, tickNode{n: n, t: k})
	}
	return n, nil
}

func (t *Task) addWriter(w *writer) {
	for _, x := range t.writers {
		if x == w {
			return
		}
	}
	t.writers = append(t.writers, w)
}

// noSource is the source of a task for which the input had no part.
type noSource struct{}

func (noSource) Poll(*Out) (Status, error) { return Done, nil }
func (noSource) Close() error              { return nil }
